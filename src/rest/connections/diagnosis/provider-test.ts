import {
  providerTestResource,
  testProvider,
} from '../../../domain/connections/diagnosis/provider-test.ts';
import { mutationEndpoint } from '../../endpoint/resource-endpoints.ts';

export const providerTestEndpoints = [
  mutationEndpoint({
    id: 'testProvider',
    method: 'POST',
    path: '/projects/{projectIdOrName}/connections/{connectionId}:test',
    tag: 'Connections',
    mutation: testProvider,
    status: 200,
    resource: providerTestResource,
  }),
];
