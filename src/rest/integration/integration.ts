import { z } from 'zod';
import {
  createIntegration,
  createIntegrationInput,
  deleteIntegration,
  deleteIntegrationInput,
  getNamedIntegration,
  integrationIdOrName,
  listIntegrations,
} from '../../domain/integration/integration.ts';
import { projectIdOrName } from '../../domain/names.ts';
import { getOwnProject } from '../../domain/project/project.ts';
import { within } from '../../domain/declared-read.ts';
import type { Relations } from '../../domain/relations.ts';
import { byId, type Row } from '../../domain/scope.ts';
import { endpoint, uncheckedEndpoint } from '../endpoint/endpoint.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { tellLocation } from '../endpoint/location.ts';
import type { Place } from '../endpoint/places.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { createdShape, resource, updateTimeShape } from '../openapi/schemas.ts';
import { revision, showRevision } from './revision.ts';

const tag = 'Integrations';
const path = '/projects/{projectIdOrName}/integrations';
const places: Record<'integrationIdOrName', Place> = {
  integrationIdOrName: { in: 'path', name: 'integrationId' },
};

const integration = resource('Integration', 'What is read and written at a provider.', {
  ...createdShape,
  name: z.string().describe('Its name, unique in the project.'),
  provider: z.string().describe('The provider, by name.'),
  latestRevision: revision,
  ...updateTimeShape,
});

async function showIntegration(row: Row<'Integration'>, { get }: Relations) {
  const latest = await get(byId('Revision'), row.latestRevisionId);
  return { ...row, latestRevision: showRevision(latest), updateTime: row.updateTime ?? undefined };
}

export const integrationEndpoints = [
  listEndpoint({
    id: 'listIntegrations',
    path,
    tag,
    summary: 'Lists integrations, newest first.',
    input: z.object({
      projectIdOrName,
      provider: z.string().max(64).optional().describe('Only those of this provider.'),
    }),
    item: integration,
    list: within(getOwnProject, listIntegrations),
    show: showIntegration,
  }),
  uncheckedEndpoint({
    id: 'createIntegration',
    method: 'POST',
    path,
    tag,
    summary: 'Makes an integration with its first revision.',
    description: 'The Location header tells where it is.',
    needs: 'integrations:write',
    input: createIntegrationInput,
    status: 201,
    output: null,
    async run(request, input) {
      const made = await createIntegration(request.call, input);
      tellLocation(request, made.id);
    },
  }),
  readEndpoint({
    id: 'getIntegration',
    path: `${path}/{integrationId}`,
    tag,
    summary: 'Gives an integration by id or name.',
    input: z.object({ projectIdOrName, integrationIdOrName }),
    places,
    read: getNamedIntegration,
    output: integration,
    show: showIntegration,
  }),
  endpoint({
    id: 'deleteIntegration',
    method: 'DELETE',
    path: `${path}/{integrationId}`,
    tag,
    summary: 'Deletes an integration, by id or name, with its revisions and installations.',
    needs: 'integrations:write',
    input: deleteIntegrationInput,
    places,
    status: 204,
    output: null,
    run: ({ call }, input) => deleteIntegration(call, input),
  }),
];
