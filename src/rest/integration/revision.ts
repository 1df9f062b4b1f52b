import { z } from 'zod';
import { readWithin } from '../../domain/declared-read.ts';
import { getNamedIntegration, integrationIdOrName } from '../../domain/integration/integration.ts';
import {
  type IntegrationContent,
  integrationContentResource,
  type ReadObject,
  readIntegrationContent,
  readObjectResource,
  watchSchemaResource,
} from '../../domain/integration/integration-content.ts';
import {
  createRevision,
  getRevision,
  listRevisions,
  revisionResource,
} from '../../domain/integration/revision.ts';
import { projectIdOrName } from '../../domain/names.ts';
import type { Row } from '../../domain/scope.ts';
import { id } from '../../ids.ts';
import { type RestRequest, setLocation } from '../endpoint/endpoint.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { mutationEndpoint } from '../endpoint/mutation-endpoint.ts';
import type { Place } from '../endpoint/places.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { sendWarnings } from '../endpoint/warnings.ts';
import { responseOf, showResource } from '../openapi/shown-resource.ts';
import { impactText } from '../plan/plan.ts';
import { WARNED } from './ignored-members.ts';
import { manifestShape, revisionOfManifest } from './manifest.ts';

const tag = 'Integrations';
const path = '/projects/{projectIdOrName}/integrations/{integrationId}/revisions';
const places: Record<'integrationIdOrName', Place> = {
  integrationIdOrName: { in: 'path', name: 'integrationId' },
};

const withSchedule = (shape: Record<string, z.ZodType>) => ({
  ...shape,
  schedule: z
    .string()
    .describe('A cron expression of five fields, in UTC. Empty if there is none.'),
});

// Must precede the schema of the content, which contains them.
export const readObject = responseOf(readObjectResource, withSchedule);
responseOf(watchSchemaResource, withSchedule);

export const content = responseOf(integrationContentResource);
export const revision = responseOf(revisionResource);

export function showRevision(row: Row<'Revision'>, request: RestRequest) {
  return { ...row, content: showContent(readIntegrationContent(row), request) };
}

function showContent(stored: IntegrationContent, request: RestRequest) {
  const { read, watchSchema } = stored;
  return {
    ...showResource(integrationContentResource, stored, request),
    read: read ? { objects: read.objects.map((spec) => showReadObject(spec, request)) } : undefined,
    watchSchema: watchSchema
      ? {
          ...showResource(watchSchemaResource, watchSchema, request),
          schedule: watchSchema.schedule ?? '',
        }
      : undefined,
  };
}

export function showReadObject(spec: ReadObject, request: RestRequest) {
  return { ...showResource(readObjectResource, spec, request), schedule: spec.schedule ?? '' };
}

export const revisionEndpoints = [
  listEndpoint({
    id: 'listRevisions',
    path,
    tag,
    input: z.object({ projectIdOrName, integrationIdOrName }),
    places,
    item: revision,
    list: readWithin(getNamedIntegration, listRevisions),
    show: showRevision,
  }),
  mutationEndpoint({
    id: 'createRevision',
    method: 'POST',
    path,
    tag,
    description: `${WARNED} It also names each reason for which the revision breaks installations, with their number. A plan names the installations.`,
    mutation: createRevision,
    extraInput: manifestShape,
    rewrite: revisionOfManifest,
    places: {
      ...places,
      destructive: { in: 'query', name: 'destructive' },
      revision: { in: 'body', name: 'revision', isOptional: true },
    },
    status: 201,
    output: null,
    show({ revision: { id: revisionId }, warnings, impacts }, request) {
      // The reference API's response has no body.
      sendWarnings(request, [...warnings, ...impacts.map(impactText)]);
      setLocation(request, revisionId);
    },
  }),
  readEndpoint({
    id: 'getRevision',
    path: `${path}/{revisionId}`,
    tag,
    input: z.object({
      projectIdOrName,
      integrationIdOrName,
      revisionId: id.describe('The id of the revision.'),
    }),
    places,
    read: getRevision,
    output: revision,
    show: showRevision,
  }),
];
