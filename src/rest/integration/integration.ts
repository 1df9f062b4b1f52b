import { z } from 'zod';
import { readWithin } from '../../domain/declared-read.ts';
import {
  createIntegration,
  deleteIntegration,
  getNamedIntegration,
  integrationFilters,
  integrationIdOrName,
  integrationResource,
  listIntegrations,
} from '../../domain/integration/integration.ts';
import { upsertIntegrations } from '../../domain/integration/integration-upsert.ts';
import { projectIdOrName } from '../../domain/names.ts';
import { getOwnProject } from '../../domain/project/project.ts';
import { byId, type Row } from '../../domain/scope.ts';
import { type RestRequest, setLocation } from '../endpoint/endpoint.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { deleteEndpoint, mutationEndpoint } from '../endpoint/mutation-endpoint.ts';
import type { Place } from '../endpoint/places.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { sendWarnings } from '../endpoint/warnings.ts';
import { responseOf, showResource } from '../openapi/shown-resource.ts';
import { impacts } from '../plan/plan.ts';
import { WARNED, withoutIgnored } from './ignored-members.ts';
import { contentsOfManifest, manifestShape } from './manifest.ts';
import { revision, showRevision } from './revision.ts';

const tag = 'Integrations';
const path = '/projects/{projectIdOrName}/integrations';
const places: Record<'integrationIdOrName', Place> = {
  integrationIdOrName: { in: 'path', name: 'integrationId' },
};

const integration = responseOf(integrationResource, (shape) => ({
  ...shape,
  latestRevision: revision,
}));

async function showIntegration(row: Row<'Integration'>, request: RestRequest) {
  const latest = await request.get(byId('Revision'), row.latestRevisionId);
  return {
    ...showResource(integrationResource, row, request),
    latestRevision: showRevision(latest, request),
  };
}

export const integrationEndpoints = [
  listEndpoint({
    id: 'listIntegrations',
    path,
    tag,
    input: z.object({ projectIdOrName, ...integrationFilters.shape }),
    item: integration,
    list: readWithin(getOwnProject, listIntegrations),
    show: showIntegration,
  }),
  mutationEndpoint({
    id: 'createIntegration',
    method: 'POST',
    path,
    tag,
    description: `The Location header has the path of the integration. ${WARNED}`,
    mutation: createIntegration,
    rewrite: (parts, request) => withoutIgnored(parts, ['latestRevision', 'content'], request),
    status: 201,
    output: null,
    show({ integration: { id }, warnings }, request) {
      sendWarnings(request, warnings);
      setLocation(request, id);
    },
  }),
  mutationEndpoint({
    id: 'upsertIntegrations',
    method: 'PUT',
    path: `${path}:batch`,
    tag,
    description: WARNED,
    mutation: upsertIntegrations,
    extraInput: manifestShape,
    rewrite: contentsOfManifest,
    places: {
      destructive: { in: 'query', name: 'destructive' },
      specVersion: { in: 'body', name: 'specVersion', isOptional: true },
      integrations: { in: 'body', name: 'integrations', isOptional: true },
    },
    status: 200,
    output: z
      .array(integration.extend({ impacts: impacts.optional() }))
      .describe('The integrations, in the order of the manifest.'),
    show({ integrations, warnings, impacts: found }, request) {
      sendWarnings(request, warnings);
      const impactsOf = Map.groupBy(found, ({ integrationName }) => integrationName);
      return Promise.all(
        integrations.map(async (row) => ({
          ...(await showIntegration(row, request)),
          impacts: impactsOf.get(row.name),
        })),
      );
    },
  }),
  readEndpoint({
    id: 'getIntegration',
    path: `${path}/{integrationId}`,
    tag,
    input: z.object({ projectIdOrName, integrationIdOrName }),
    places,
    read: getNamedIntegration,
    output: integration,
    show: showIntegration,
  }),
  deleteEndpoint({
    id: 'deleteIntegration',
    path: `${path}/{integrationId}`,
    tag,
    mutation: deleteIntegration,
    places,
  }),
];
