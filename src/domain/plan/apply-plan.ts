/** Applies a stored plan: all of its changes in one transaction, with the functions that the mutations use. */

import { z } from 'zod';
import { inTransaction, type Transaction } from '../../database/transactions/transaction.ts';
import { conflict } from '../../kernel/errors.ts';
import { joinTexts, text } from '../../kernel/text.ts';
import type { RowCall } from '../access/call.ts';
import { projectMutation } from '../access/declared-mutation.ts';
import type { PlanTransaction } from '../access/item-change.ts';
import { lockRow } from '../access/row-changes.ts';
import { getProjectRow } from '../access/scope.ts';
import { authorize } from '../access/viewer/needs.ts';
import { orElse } from '../base/input-schemas.ts';
import { createInputIssue, requireNoIssues } from '../base/issues.ts';
import { projectIdOrName } from '../base/names.ts';
import { readNewDocuments } from '../integrations/custom-provider/custom-provider-document.ts';
import { authorizeActiveKey } from '../tenants/project/jwt-key.ts';
import { formatPaths, hashValue } from './items.ts';
import { hashItems, type Plan, planId, readPlanLists } from './plan.ts';
import type { PlanChange } from './plan-changes.ts';
import { listChangedPaths } from './plan-report.ts';
import { applyChanges, NEEDS_BY_KIND } from './plan-run.ts';
import { lockProject, type ProjectState, readProjectState } from './project-state.ts';

/**
 * The time limit of the transaction. It is far longer than the 9 s that revisions of 500 integrations with 10,000
 * installations took on two shared cores.
 */
const APPLY_MS_MAX = 25_000;
const SECRETS_MAX = 1_000;
/** The maximum number of changed items that an error names. */
const NAMED_ITEMS_MAX = 20;

const applyPlanInput = z
  .object({
    projectIdOrName,
    planId,
    secrets: orElse(
      z
        .array(
          z
            .object({
              path: z
                .string()
                .min(1)
                .max(1_024)
                .describe(
                  'A path of `requiredSecrets`, like `destinations.records.headers.authorization`.',
                ),
              value: z
                .string()
                .max(8_192)
                .describe('The value of the header, or the whole URL. It is stored encrypted.'),
            })
            .meta({
              id: 'PlanSecretInput',
              description: 'A value that a destination needs and that no document contains.',
            }),
        )
        .max(SECRETS_MAX),
      [],
    ).describe('Values for `requiredSecrets` of the plan, at most 1000. Default: none.'),
  })
  .meta({ id: 'ApplyPlanInput', description: 'The plan to apply.' });

/**
 * Applies a plan. Returns an applied plan unchanged. Throws CONFLICT if the project has changed since the plan was
 * computed, if the plan has expired, or if the plan has an error.
 */
export const applyPlan = projectMutation({
  description:
    'Applies all changes of a plan or none. It is refused if the project has changed since the plan was computed. An applied plan is returned unchanged. Requires the scope of each change.',
  needs: 'read',
  input: applyPlanInput,
  async run(call, { planId: id, secrets }, { id: projectId }): Promise<Plan> {
    const requestedPlan = await getProjectRow(call, 'Plan', { projectId, id, noun: 'Plan' });
    authorizeChanges(call, readPlanLists(requestedPlan).changes);
    if (requestedPlan.applyTime !== null) return requestedPlan;
    const secretsByPath = new Map(secrets.map(({ path, value }) => [path, value]));
    refuseMissingSecrets(requestedPlan, secretsByPath);
    const providerChanges = readPlanLists(requestedPlan).changes.filter(
      ({ kind }) => kind === 'CUSTOM_PROVIDER',
    );
    const providerDocuments = await readNewDocuments(call, projectId, providerChanges);
    const apply = async (tx: Transaction) => {
      const plan = await lockRow(tx, 'Plan', { projectId, id, noun: 'Plan' });
      if (plan.applyTime !== null) return { appliedPlan: plan, afterCommit: [] };
      if (plan.expireTime <= call.now()) {
        throw conflict('The plan has expired. Plan the document again.');
      }
      refuseErrors(plan);
      await lockProject(tx, projectId);
      const state = await readProjectState(tx, projectId);
      refuseChangedProject(plan, state);
      const planTransaction: PlanTransaction = {
        call,
        tx,
        projectId,
        allowDeletions: plan.allowDeletions,
        secrets: secretsByPath,
        providerDocuments,
        ids: state.ids,
        afterCommit: [],
        recordEvents: [],
      };
      await applyChanges(planTransaction, readPlanLists(plan).changes);
      const where = { projectId_id: { projectId, id } };
      const appliedPlan = await tx.plan.update({ where, data: { applyTime: call.now() } });
      for (const recordEvents of planTransaction.recordEvents) await recordEvents();
      return { appliedPlan, afterCommit: planTransaction.afterCommit };
    };
    const { appliedPlan, afterCommit } = await inTransaction(call.database, apply, {
      timeout: APPLY_MS_MAX,
    });
    for (const work of afterCommit) await work();
    return appliedPlan;
  },
});

/** Throws FORBIDDEN if the viewer may not call the mutation for one of the changes. */
function authorizeChanges({ viewer }: RowCall, changes: readonly PlanChange[]): void {
  for (const { kind, action, before, after } of changes) {
    authorize(viewer, NEEDS_BY_KIND[kind][action]);
    const isActivated = after?.active !== false && (before === null || before.active === false);
    if (kind === 'JWT_KEY' && after && isActivated) authorizeActiveKey(viewer);
  }
}

function refuseMissingSecrets(
  { requiredSecrets }: Plan,
  secretsByPath: ReadonlyMap<string, string>,
): void {
  const missingPaths = requiredSecrets.filter((path) => !secretsByPath.has(path));
  const surplusPaths = [...secretsByPath.keys()].filter((path) => !requiredSecrets.includes(path));
  const createIssue = (detail: string) => createInputIssue(['secrets'], detail);
  requireNoIssues([
    ...missingPaths.map((path) => createIssue(`must have a value for ${path}.`)),
    ...surplusPaths.map((path) =>
      createIssue(`must not have ${path}, which the plan does not need.`),
    ),
  ]);
}

function refuseErrors(plan: Plan): void {
  const errors = readPlanLists(plan).findings.filter(({ severity }) => severity === 'ERROR');
  if (errors.length === 0) return;
  const messages = errors.map(({ path, message }) => text`${path}: ${message}`);
  throw conflict(text`The plan has errors. ${joinTexts(messages, ' ')}`);
}

function refuseChangedProject(plan: Plan, state: ProjectState): void {
  if (hashValue(state.document) === plan.baseHash) return;
  const changedPaths = listChangedPaths(plan.base as Record<string, string>, hashItems(state));
  // Provider apps are not items, so a change of an app has no path.
  const changes = formatPaths(changedPaths, NAMED_ITEMS_MAX) || 'providerApps';
  throw conflict(`The project has changed since the plan was computed: ${changes}. Plan again.`);
}
