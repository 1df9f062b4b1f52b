import { z } from 'zod';
import { within } from '../../domain/declared-read.ts';
import { getNamedIntegration, integrationIdOrName } from '../../domain/integration/integration.ts';
import {
  contentOf,
  type IntegrationContent,
} from '../../domain/integration/integration-content.ts';
import { integrationContentInput } from '../../domain/integration/integration-content-input.ts';
import { createRevision, getRevision, listRevisions } from '../../domain/integration/revision.ts';
import { projectIdOrName } from '../../domain/names.ts';
import type { Row } from '../../domain/scope.ts';
import { id } from '../../ids.ts';
import { setLocation } from '../endpoint/endpoint.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { mutationEndpoint } from '../endpoint/mutation-endpoint.ts';
import type { Place } from '../endpoint/places.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { sendWarnings } from '../endpoint/warnings.ts';
import { responseObject, withoutNulls } from '../openapi/response-schema.ts';
import { createdShape, resource } from '../openapi/schemas.ts';
import { impactText } from '../plan/plan.ts';
import { WARNED } from './ignored-members.ts';
import { manifestShape, revisionOfManifest } from './manifest.ts';

const tag = 'Integrations';
const path = '/projects/{projectIdOrName}/integrations/{integrationId}/revisions';
const places: Record<'integrationIdOrName', Place> = {
  integrationIdOrName: { in: 'path', name: 'integrationId' },
};

export const content = resource(
  'IntegrationContent',
  'What an integration reads, writes, proxies and subscribes to.',
  responseObject(integrationContentInput, {
    schedule: z
      .string()
      .describe('A cron expression of five fields, in UTC; empty if there is none.'),
  }).shape,
);

export const revision = resource(
  'Revision',
  "The revision: a version of an integration's content. It never changes.",
  {
    id: createdShape.id,
    specVersion: z.string().describe('The version of the format of the content: 1.0.0.'),
    content,
    createTime: createdShape.createTime,
  },
);

export function showRevision(row: Row<'Revision'>) {
  return { ...row, content: showContent(contentOf(row)) };
}

function showContent(content: IntegrationContent): Record<string, unknown> {
  const { read, watchSchema } = content;
  return withoutNulls({
    ...content,
    read: read && { objects: read.objects.map(showScheduled) },
    watchSchema: watchSchema && showScheduled(watchSchema),
  }) as Record<string, unknown>;
}

const showScheduled = <T extends { schedule: string | null }>(one: T) => ({
  ...one,
  schedule: one.schedule ?? '',
});

export const revisionEndpoints = [
  listEndpoint({
    id: 'listRevisions',
    path,
    tag,
    input: z.object({ projectIdOrName, integrationIdOrName }),
    places,
    item: revision,
    list: within(getNamedIntegration, listRevisions),
    show: showRevision,
  }),
  mutationEndpoint({
    id: 'createRevision',
    method: 'POST',
    path,
    tag,
    description: `${WARNED} It also names each reason for which the revision breaks installations, with their number. A plan names the installations.`,
    mutation: createRevision,
    beside: manifestShape,
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
