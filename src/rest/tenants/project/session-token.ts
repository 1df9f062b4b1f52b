import {
  createSessionToken,
  sessionTokenResource,
} from '../../../domain/tenants/project/session-token.ts';
import { mutationEndpoint } from '../../endpoint/resource-endpoints.ts';

export const sessionTokenEndpoints = [
  mutationEndpoint({
    id: 'createSessionToken',
    method: 'POST',
    path: '/projects/{projectIdOrName}/session-tokens',
    tag: 'End users',
    mutation: createSessionToken,
    status: 201,
    resource: sessionTokenResource,
  }),
];
