import { z } from 'zod';
import { readWithin } from '../../../domain/access/declared-read.ts';
import { projectIdOrName } from '../../../domain/base/names.ts';
import { impactResource } from '../../../domain/integrations/installation/check/impacts.ts';
import {
  createIntegration,
  getRequestedIntegration,
  integrationFilters,
  integrationIdOrName,
  integrationResource,
  listIntegrations,
} from '../../../domain/integrations/integration/integration.ts';
import { deleteIntegration } from '../../../domain/integrations/integration/integration-deletion.ts';
import { upsertIntegrations } from '../../../domain/integrations/integration/integration-upsert.ts';
import { getRequestedProject } from '../../../domain/tenants/project/project.ts';
import { setLocation } from '../../endpoint/endpoint.ts';
import { integrationInPath } from '../../endpoint/request-form.ts';
import {
  deleteEndpoint,
  listEndpoint,
  mutationEndpoint,
  readEndpoint,
} from '../../endpoint/resource-endpoints.ts';
import { extendResource } from '../../openapi/response-form.ts';
import { dropIgnoredMembers, sendWarnings, WARNING_HEADER_REMARK } from './ignored-members.ts';
import { manifestShape, rewriteIntegrations } from './manifest.ts';
import { latestRevision } from './revision.ts';

const tag = 'Integrations';
const path = '/projects/{projectIdOrName}/integrations';

const integration = extendResource(integrationResource, { latestRevision });
const upsertedIntegration = z.object({
  ...integrationResource.shape,
  latestRevision,
  impacts: z
    .array(impactResource)
    .nullable()
    .describe('The installations that the change breaks, by integration and reason.'),
});

export const integrationEndpoints = [
  listEndpoint({
    id: 'listIntegrations',
    path,
    tag,
    input: z.object({ projectIdOrName, ...integrationFilters.shape }),
    list: readWithin(getRequestedProject, listIntegrations),
    resource: integration,
  }),
  mutationEndpoint({
    id: 'createIntegration',
    method: 'POST',
    path,
    tag,
    description: `The Location header has the path of the integration. ${WARNING_HEADER_REMARK}`,
    mutation: createIntegration,
    rewrite: (parts, request) => dropIgnoredMembers(parts, ['latestRevision', 'content'], request),
    status: 201,
    resource: null,
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
    description: WARNING_HEADER_REMARK,
    mutation: upsertIntegrations,
    extraInput: manifestShape,
    rewrite: rewriteIntegrations,
    locations: {
      destructive: { in: 'query', name: 'destructive' },
      specVersion: { in: 'body', name: 'specVersion', isOptional: true },
      integrations: { in: 'body', name: 'integrations', isOptional: true },
    },
    status: 200,
    resource: z
      .array(upsertedIntegration)
      .describe('The integrations, in the order of the manifest.'),
    show({ integrations, warnings, impacts }, request) {
      sendWarnings(request, warnings);
      const impactsByName = Map.groupBy(impacts, ({ integrationName }) => integrationName);
      return integrations.map((row) => ({ ...row, impacts: impactsByName.get(row.name) }));
    },
  }),
  readEndpoint({
    id: 'getIntegration',
    path: `${path}/{integrationId}`,
    tag,
    input: z.object({ projectIdOrName, integrationIdOrName }),
    locations: integrationInPath,
    read: getRequestedIntegration,
    resource: integration,
  }),
  deleteEndpoint({
    id: 'deleteIntegration',
    path: `${path}/{integrationId}`,
    tag,
    mutation: deleteIntegration,
    locations: integrationInPath,
  }),
];
