import { z } from 'zod';
import { readWithin } from '../../../domain/access/declared-read.ts';
import { projectIdOrName } from '../../../domain/base/names.ts';
import {
  createProviderApp,
  deleteProviderApp,
  listProviderApps,
  providerAppFilters,
  providerAppResource,
  updateProviderApp,
} from '../../../domain/connections/provider/provider-app.ts';
import { getRequestedProject } from '../../../domain/tenants/project/project.ts';
import {
  deleteEndpoint,
  listEndpoint,
  mutationEndpoint,
} from '../../endpoint/resource-endpoints.ts';

const tag = 'Provider apps';
const path = '/projects/{projectIdOrName}/provider-apps';

export const providerAppEndpoints = [
  listEndpoint({
    id: 'listProviderApps',
    path,
    tag,
    input: z.object({ projectIdOrName, ...providerAppFilters.shape }),
    list: readWithin(getRequestedProject, listProviderApps),
    resource: providerAppResource,
  }),
  mutationEndpoint({
    id: 'createProviderApp',
    method: 'POST',
    path,
    tag,
    mutation: createProviderApp,
    status: 200,
    resource: providerAppResource,
  }),
  mutationEndpoint({
    id: 'updateProviderApp',
    method: 'PATCH',
    path: `${path}/{providerAppId}`,
    tag,
    mutation: updateProviderApp,
    status: 200,
    resource: providerAppResource,
  }),
  deleteEndpoint({
    id: 'deleteProviderApp',
    path: `${path}/{providerAppId}`,
    tag,
    mutation: deleteProviderApp,
  }),
];
