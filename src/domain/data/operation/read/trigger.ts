/** Starts reads of a time window at the request of a caller, even if the schedule is paused. */
import { z } from 'zod';
import type { Row } from '../../../../database/statements/tables.ts';
import { inTransaction } from '../../../../database/transactions/transaction.ts';
import {
  DomainError,
  type Issue,
  invalidInput,
  notFound,
  rateLimited,
  unprocessable,
} from '../../../../kernel/errors.ts';
import { member, text } from '../../../../kernel/text.ts';
import type { ProjectCall } from '../../../access/call.ts';
import { projectMutation } from '../../../access/declared-mutation.ts';
import { listVisibleRows } from '../../../access/scope.ts';
import { orEndUser } from '../../../access/viewer/needs.ts';
import { orNull } from '../../../base/input-schemas.ts';
import { checkRules, createInputIssue, createRuleIssue } from '../../../base/issues.ts';
import { projectIdOrName, ref } from '../../../base/names.ts';
import { isConsentPending } from '../../../connections/connection/token/pending-consent.ts';
import { AWAITS_CONSENT } from '../../../connections/connection/token/token.ts';
import { refuseIfBacklogged } from '../../../events/delivery-backlog.ts';
import {
  getIntegration,
  integrationIdOrName,
} from '../../../integrations/integration/integration.ts';
import { readIntegrationContent } from '../../../integrations/integration/integration-content.ts';
import { contentText } from '../../../integrations/integration/integration-content-input.ts';
import { loadLatestRevisions } from '../../../integrations/integration/revision.ts';
import { findGroupByRef } from '../../../tenants/project/parties.ts';
import { continueRead, reads } from './continue-read.ts';
import { describeUnmappedNames, findProviderName } from './read-plan.ts';
import { startRun } from './read-run.ts';
import { getReadSource } from './read-source.ts';

/** The maximum number of running triggered reads in a project. More reads would only wait for each other. */
const TRIGGERED_RUNS_MAX = 1_000;
const TRIGGER_WAIT_SECONDS = 30;

const triggerReadInput = z
  .object({
    projectIdOrName,
    integrationIdOrName,
    objectName: contentText.describe("The object's mapped name, or its name at the provider."),
    groupRef: ref.describe('The ref of the group whose account is read.'),
    sinceTime: orNull(z.date()).describe(
      'Only records that changed at this time or later. Default: all records.',
    ),
    untilTime: orNull(z.date()).describe(
      'Only records that changed at this time or earlier. Default: now.',
    ),
  })
  .superRefine(
    checkRules(function* ({ sinceTime, untilTime }) {
      if (!sinceTime || !untilTime || sinceTime < untilTime) return;
      const detail = text`must be after ${member('sinceTime')}.`;
      yield createRuleIssue(['untilTime'], detail, { showsValue: true });
    }),
  )
  .meta({
    id: 'TriggerReadInput',
    description: 'The object to read, and the group whose account is read.',
  });

type TriggerRead = z.output<typeof triggerReadInput>;

/**
 * Starts a read and returns its operation. Throws RATE_LIMITED if the project has too many triggered reads or pending
 * deliveries.
 */
export const triggerRead = projectMutation({
  description:
    'Starts a read of an object in addition to its schedule. The response does not wait for the end of the read.',
  needs: orEndUser('reads:control', 'READ'),
  input: triggerReadInput,
  async run(call, input, project): Promise<Row<'Operation'>> {
    const { installation, objectName } = await getObjectToRead(call, project, input);
    const { sinceTime: since, untilTime: until } = input;
    const { readPlan, connection } = await getReadSource(call, installation, objectName);
    if (readPlan.unmappedNames.length > 0) throw unprocessable(describeUnmappedNames(readPlan));
    if (await isConsentPending(call, connection)) throw unprocessable(AWAITS_CONSENT);
    await refuseIfBacklogged(call, project.id);
    const { processes } = call.database;
    using slot = call.workers.takeSlot(reads, { projectId: project.id, share: project.id });
    const started = await inTransaction(call.database, async (tx) => {
      const runningCount = await tx.readRun.count({
        where: { projectId: project.id, readType: 'TRIGGERED' },
        take: TRIGGERED_RUNS_MAX,
      });
      if (runningCount === TRIGGERED_RUNS_MAX) throw createTooManyRunsError();
      const window = { readType: 'TRIGGERED', since, until, nextReadUntil: null } as const;
      const options = { processes, isHeld: slot !== null };
      return startRun(tx, { installation, objectName, ...window }, options);
    });
    slot?.start(started.run, continueRead);
    return started.operation;
  },
});

/**
 * Returns the installation and the provider's name of the object. Throws BAD_USER_INPUT for an unknown group or object,
 * and NOT_FOUND without an installation.
 */
async function getObjectToRead(
  call: ProjectCall,
  { id: projectId }: Row<'Project'>,
  { integrationIdOrName, groupRef, ...input }: TriggerRead,
): Promise<{ installation: Row<'Installation'>; objectName: string }> {
  const integration = await getIntegration(call, projectId, integrationIdOrName);
  const [revision] = await loadLatestRevisions(call, [integration.id]);
  if (!revision) throw notFound('Integration', integrationIdOrName);
  const objectName = findProviderName(call, readIntegrationContent(revision), input.objectName);
  const group = await findGroupByRef(call, { projectId, groupRef });
  const issues: Issue[] = [];
  if (!group) {
    const detail = 'is not a group of the project.';
    issues.push(createInputIssue(['groupRef'], detail, groupRef));
  }
  if (objectName === null) {
    const detail = 'is not an object that the integration reads.';
    issues.push(createInputIssue(['objectName'], detail, input.objectName));
  }
  if (!group || objectName === null) throw invalidInput(issues);
  const key = { projectId, integrationId: integration.id, groupId: group.id };
  const [installation] = await listVisibleRows(call, 'Installation', key);
  if (installation) return { installation, objectName };
  const detail = `The group ${groupRef} has not installed ${integration.name}.`;
  throw new DomainError('NOT_FOUND', detail);
}

function createTooManyRunsError(): DomainError {
  const detail = `The project has ${TRIGGERED_RUNS_MAX} running triggered reads, which is the limit. Retry when some have ended.`;
  return rateLimited(detail, TRIGGER_WAIT_SECONDS);
}
