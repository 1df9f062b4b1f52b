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
import type { Relations } from '../../domain/relations.ts';
import { byId, getProject, type Row } from '../../domain/scope.ts';
import { endpoint, uncheckedEndpoint } from '../endpoint/endpoint.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { tellLocation } from '../endpoint/location.ts';
import type { Place } from '../endpoint/places.ts';
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
    needs: 'read',
    input: z.object({
      projectIdOrName,
      provider: z.string().max(64).optional().describe('Only those of this provider.'),
    }),
    item: integration,
    async list({ call }, { projectIdOrName: project, ...args }) {
      return listIntegrations(call, await getProject(call, project, 'read'), args);
    },
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
    async run(asked, input) {
      const made = await createIntegration(asked.call, input);
      tellLocation(asked, made.id);
    },
  }),
  endpoint({
    id: 'getIntegration',
    method: 'GET',
    path: `${path}/{integrationId}`,
    tag,
    summary: 'Gives an integration by id or name.',
    needs: 'read',
    input: z.object({ projectIdOrName, integrationIdOrName }),
    places,
    status: 200,
    output: integration,
    async run(asked, input) {
      return showIntegration(await getNamedIntegration(asked.call, input, 'read'), asked);
    },
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
