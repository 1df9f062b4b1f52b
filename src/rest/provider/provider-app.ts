import { z } from 'zod';
import { redirectUrlOf } from '../../domain/connection/oauth-connect.ts';
import { within } from '../../domain/declared-read.ts';
import { projectIdOrName } from '../../domain/names.ts';
import { getOwnProject } from '../../domain/project/project.ts';
import {
  createProviderApp,
  deleteProviderApp,
  listProviderApps,
  providerAppFilters,
  updateProviderApp,
} from '../../domain/provider/provider-app.ts';
import type { Row } from '../../domain/scope.ts';
import type { RestRequest } from '../endpoint/endpoint.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { mutationEndpoint, noBody } from '../endpoint/mutation-endpoint.ts';
import { shownJson } from '../openapi/response-schema.ts';
import { createdShape, resource, updateTimeShape } from '../openapi/schemas.ts';

const tag = 'Provider apps';
const path = '/projects/{projectIdOrName}/provider-apps';

export const providerApp = resource(
  'ProviderApp',
  'The provider app: an OAuth client that the builder has registered at a provider. No answer shows its secret.',
  {
    ...createdShape,
    provider: z.string().describe('The name of the provider.'),
    clientId: z.string().describe('The OAuth client id that the provider gave.'),
    externalRef: z.string().optional().describe("The provider's own id of the app."),
    scopes: z.array(z.string()).describe('The OAuth scopes to request when a customer connects.'),
    metadata: z
      .record(z.string(), z.unknown())
      .optional()
      .describe(
        '`authQueryParams` (query parameters of the authorize URL) and `providerParams` (`packageInstallURL`, `gcpProjectId`, `gcpPubSubTopicName`).',
      ),
    redirectURL: z
      .string()
      .optional()
      .describe(
        'The OAuth redirect URL to register at the provider; left out if customers do not consent there in a browser.',
      ),
    ...updateTimeShape,
  },
);

export function showProviderApp(row: Row<'ProviderApp'>, { call }: Pick<RestRequest, 'call'>) {
  return {
    ...row,
    externalRef: row.externalRef ?? undefined,
    metadata: shownJson(row.metadata),
    redirectURL: redirectUrlOf(call, row) ?? undefined,
    updateTime: row.updateTime ?? undefined,
  };
}

export const providerAppEndpoints = [
  listEndpoint({
    id: 'listProviderApps',
    path,
    tag,
    summary: 'Lists provider apps, newest first.',
    input: z.object({ projectIdOrName, ...providerAppFilters.shape }),
    item: providerApp,
    list: within(getOwnProject, listProviderApps),
    show: showProviderApp,
  }),
  mutationEndpoint({
    id: 'createProviderApp',
    method: 'POST',
    path,
    tag,
    summary:
      'Registers an OAuth client of the builder, by which customers connect to its provider.',
    mutation: createProviderApp,
    status: 200,
    output: providerApp,
    show: showProviderApp,
  }),
  mutationEndpoint({
    id: 'updateProviderApp',
    method: 'PATCH',
    path: `${path}/{providerAppId}`,
    tag,
    summary: 'Changes the fields of a provider app that updateMask names.',
    mutation: updateProviderApp,
    status: 200,
    output: providerApp,
    show: showProviderApp,
  }),
  mutationEndpoint({
    id: 'deleteProviderApp',
    method: 'DELETE',
    path: `${path}/{providerAppId}`,
    tag,
    summary: 'Deletes a provider app that no connection uses.',
    mutation: deleteProviderApp,
    status: 204,
    output: null,
    show: noBody,
  }),
];
