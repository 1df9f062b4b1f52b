import { z } from 'zod';
import type { Impact } from '../../domain/installation/check/revision-impacts.ts';
import { projectIdOrName } from '../../domain/names.ts';
import { applyPlan } from '../../domain/plan/apply-plan.ts';
import {
  exportProject,
  exportProjectInput,
  getPlan,
  type Plan,
  partsOf,
  planId,
  planProject,
} from '../../domain/plan/plan.ts';
import { mutationEndpoint } from '../endpoint/mutation-endpoint.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { wordOf, words } from '../endpoint/words.ts';
import { createdShape, resource } from '../openapi/schemas.ts';

const tag = 'Plans';
const path = '/projects/{projectIdOrName}/plans';

export const impact = resource(
  'Impact',
  'A reason for which a change breaks installations: their config is valid for the revision in force and not for the new one, or their account lacks a field that becomes required.',
  {
    integrationName: z.string().describe('The name of the integration.'),
    path: z
      .string()
      .describe(
        'The part of the config, like `read.contacts.fieldMappings`. Empty for the whole installation.',
      ),
    reason: z.string().describe('The reason, for people.'),
    installationTotal: z.int().describe('The number of installations of the integration.'),
    installations: z
      .array(
        z.object({
          installationId: z.string().describe('The id of the installation.'),
          groupId: z.string().describe('The id of the group that installed it.'),
        }),
      )
      .describe('The installations that break for this reason, at most 10,000.'),
  },
);

export const impacts = z
  .array(impact)
  .describe('The installations that the change breaks, by integration and reason.');

/** A sentence about an impact, with the number of installations. */
export function impactText({ path, reason, installationTotal, installations }: Impact): string {
  return `${path}: ${reason} (${installations.length} of ${installationTotal} installations)`;
}

const item = z.record(z.string(), z.unknown()).optional();
const ITEM_KINDS = [
  'ALLOWED_ORIGIN',
  'JWT_KEY',
  'DESTINATION',
  'TOPIC',
  'EVENT_TOPIC_ROUTE',
  'TOPIC_DESTINATION_ROUTE',
  'INTEGRATION',
];

const plan = resource('Plan', 'The plan: the changes that a document makes to a project.', {
  ...createdShape,
  hash: z.string().describe('Hash of the base and the changes: equal for plans that do the same.'),
  baseHash: z.string().describe('Hash of the project when the plan was computed.'),
  allowDeletions: z
    .boolean()
    .describe('Whether the plan deletes items that the document does not have.'),
  changes: z
    .array(
      z.object({
        action: words('ChangeAction', ['CREATE', 'UPDATE', 'DELETE']).describe(
          'What happens to the item.',
        ),
        kind: words('ItemKind', ITEM_KINDS).describe('The kind of the item.'),
        path: z
          .string()
          .describe('Identifies the item in the project, like `integrations.contact-sync`.'),
        before: item.describe('The item in the project, as in a document. Absent for a creation.'),
        after: item.describe(
          'The item once the plan is applied, as in a document. Absent for a deletion.',
        ),
      }),
    )
    .describe('The changes, sorted by path.'),
  impacts,
  findings: z
    .array(
      z.object({
        severity: words('FindingSeverity', ['ERROR', 'WARNING']).describe(
          'Whether the finding prevents the plan from being applied.',
        ),
        path: z.string().describe('The item that the finding concerns. Empty for the whole plan.'),
        message: z.string().describe('The finding, for people.'),
      }),
    )
    .describe('What prevents the plan from being applied, or needs attention.'),
  requiredSecrets: z
    .array(z.string())
    .describe('Paths of the values that applying the plan needs in `secrets`.'),
  expireTime: z.date().describe('When the plan is removed: 24 hours after it was computed.'),
  applyTime: z.date().optional().describe('When the plan was applied. Absent if it was not.'),
});

function showPlan({ applyTime, ...row }: Plan) {
  const { changes, findings, impacts: found } = partsOf(row as Plan);
  return {
    ...row,
    changes: changes.map(({ before, after, ...change }) => ({
      ...change,
      action: wordOf('ChangeAction', change.action),
      kind: wordOf('ItemKind', change.kind),
      before: before ?? undefined,
      after: after ?? undefined,
    })),
    impacts: found satisfies Impact[],
    findings: findings.map((finding) => ({
      ...finding,
      severity: wordOf('FindingSeverity', finding.severity),
    })),
    applyTime: applyTime ?? undefined,
  };
}

export const planEndpoints = [
  readEndpoint({
    id: 'exportProject',
    path: '/projects/{projectIdOrName}:export',
    tag,
    input: exportProjectInput,
    read: exportProject,
    mediaType: 'text/plain',
    output: z.string().describe('The document.'),
    show: ({ document }) => document,
  }),
  mutationEndpoint({
    id: 'planProject',
    method: 'POST',
    path,
    tag,
    mutation: planProject,
    status: 201,
    output: plan,
    show: showPlan,
  }),
  readEndpoint({
    id: 'getPlan',
    path: `${path}/{planId}`,
    tag,
    input: z.object({ projectIdOrName, planId }),
    read: getPlan,
    output: plan,
    show: showPlan,
  }),
  mutationEndpoint({
    id: 'applyPlan',
    method: 'POST',
    path: `${path}/{planId}:apply`,
    tag,
    mutation: applyPlan,
    status: 200,
    output: plan,
    show: showPlan,
  }),
];
