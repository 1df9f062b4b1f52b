import { z } from 'zod';
import { readWithin } from '../../../domain/access/declared-read.ts';
import { projectIdOrName } from '../../../domain/base/names.ts';
import {
  createProvider,
  customProviderResource,
  deleteProvider,
  getCustomProvider,
  listCustomProviders,
  updateProvider,
} from '../../../domain/integrations/custom-provider/custom-provider.ts';
import { getRequestedProject } from '../../../domain/tenants/project/project.ts';
import { id } from '../../../kernel/ids.ts';
import {
  deleteEndpoint,
  listEndpoint,
  mutationEndpoint,
  readEndpoint,
} from '../../endpoint/resource-endpoints.ts';

import { sendWarnings, WARNING_HEADER_REMARK } from '../integration/ignored-members.ts';
import { describeImpact } from '../integration/revision.ts';

const tag = 'Custom providers';
const path = '/projects/{projectIdOrName}/custom-providers';

export const customProviderEndpoints = [
  listEndpoint({
    id: 'listCustomProviders',
    path,
    tag,
    input: z.object({ projectIdOrName }),
    list: readWithin(getRequestedProject, listCustomProviders),
    resource: customProviderResource,
  }),
  readEndpoint({
    id: 'getCustomProvider',
    path: `${path}/{customProviderId}`,
    tag,
    input: z.object({
      projectIdOrName,
      customProviderId: id.describe('The id of the custom provider.'),
    }),
    read: getCustomProvider,
    resource: customProviderResource,
  }),
  mutationEndpoint({
    id: 'createProvider',
    method: 'POST',
    path,
    tag,
    mutation: createProvider,
    status: 201,
    resource: customProviderResource,
  }),
  mutationEndpoint({
    id: 'updateProvider',
    method: 'PUT',
    path: `${path}/{customProviderId}`,
    tag,
    description: WARNING_HEADER_REMARK,
    mutation: updateProvider,
    locations: { destructive: { in: 'query', name: 'destructive' } },
    status: 200,
    resource: customProviderResource,
    show({ customProvider, impacts }, request) {
      sendWarnings(request, impacts.map(describeImpact));
      return customProvider;
    },
  }),
  deleteEndpoint({
    id: 'deleteProvider',
    path: `${path}/{customProviderId}`,
    tag,
    mutation: deleteProvider,
  }),
];
