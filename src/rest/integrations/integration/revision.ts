import { z } from 'zod';
import { readWithin } from '../../../domain/access/declared-read.ts';
import { loaded } from '../../../domain/access/relations.ts';
import { byId, type Row } from '../../../domain/access/scope.ts';
import { projectIdOrName } from '../../../domain/base/names.ts';
import { computed } from '../../../domain/base/resource.ts';
import type { Impact } from '../../../domain/integrations/installation/check/impacts.ts';
import {
  getRequestedIntegration,
  integrationIdOrName,
} from '../../../domain/integrations/integration/integration.ts';
import {
  readObjectResource,
  watchSchemaResource,
} from '../../../domain/integrations/integration/integration-content.ts';
import {
  createRevision,
  getRevision,
  listRevisions,
  revisionResource,
} from '../../../domain/integrations/integration/revision.ts';
import { id } from '../../../kernel/ids.ts';
import { type Text, text } from '../../../kernel/text.ts';
import { setLocation } from '../../endpoint/endpoint.ts';
import { integrationInPath } from '../../endpoint/request-form.ts';
import { listEndpoint, mutationEndpoint, readEndpoint } from '../../endpoint/resource-endpoints.ts';
import { extendResource } from '../../openapi/response-form.ts';
import { sendWarnings, WARNING_HEADER_REMARK } from './ignored-members.ts';
import { manifestShape, rewriteRevision } from './manifest.ts';

const tag = 'Integrations';
const path = '/projects/{projectIdOrName}/integrations/{integrationId}/revisions';

/** The schedule of an object that is read, or of a watched schema. */
export const schedule = computed(
  z.string().describe('A cron expression of five fields, in UTC. Empty if there is none.'),
  (spec: { schedule: string | null }) => spec.schedule ?? '',
);
extendResource(readObjectResource, { schedule });
extendResource(watchSchemaResource, { schedule });

export const latestRevision = loaded(
  revisionResource,
  byId('Revision'),
  ({ latestRevisionId }: Row<'Integration'>) => latestRevisionId,
);

export const revisionEndpoints = [
  listEndpoint({
    id: 'listRevisions',
    path,
    tag,
    input: z.object({ projectIdOrName, integrationIdOrName }),
    locations: integrationInPath,
    list: readWithin(getRequestedIntegration, listRevisions),
    resource: revisionResource,
  }),
  mutationEndpoint({
    id: 'createRevision',
    method: 'POST',
    path,
    tag,
    description: `${WARNING_HEADER_REMARK} Warnings also list each reason why the revision breaks installations, with the number of installations affected. A plan names the installations.`,
    mutation: createRevision,
    extraInput: manifestShape,
    rewrite: rewriteRevision,
    locations: {
      ...integrationInPath,
      destructive: { in: 'query', name: 'destructive' },
      revision: { in: 'body', name: 'revision', isOptional: true },
    },
    status: 201,
    resource: null,
    show({ revision: { id }, warnings, impacts }, request) {
      sendWarnings(request, [...warnings, ...impacts.map(describeImpact)]);
      setLocation(request, id);
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
    locations: integrationInPath,
    read: getRevision,
    resource: revisionResource,
  }),
];

export function describeImpact({ path, reason, installationTotal, installations }: Impact): Text {
  const noun = installationTotal === 1 ? 'installation' : 'installations';
  const count = `(${installations.length} of ${installationTotal} ${noun})`;
  return text`${path === '' ? '' : text`${path}: `}${reason} ${count}`;
}
