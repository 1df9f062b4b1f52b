/** Runs writes: attempts each claimed write, and stores the outcome. No network call happens inside a transaction. */

import { setTimeout as wait } from 'node:timers/promises';
import { LeaseLost } from '../../../../database/leases/lease.ts';
import {
  findWriteTarget,
  type WriteTarget,
} from '../../../../database/statements/hot/write-target.ts';
import { listColumns } from '../../../../database/statements/tables.ts';
import { leasedWork } from '../../../../jobs/leased-work.ts';
import { DAY_MS, MINUTE_MS } from '../../../../work/durations.ts';
import type { ProviderServices, RowServices } from '../../../access/call.ts';
import { OperationRequests } from '../../../connections/diagnosis/operation-requests.ts';
import { findLatestContent } from '../../../integrations/integration/content-cache.ts';
import {
  attemptWrite,
  createPermanentFailure,
  type StoppingFailure,
  supportsKey,
} from './attempt.ts';
import { createFailedOutcome, createUnknownOutcome, createUnsentOutcome } from './outcome.ts';
import { type AttemptFailure, decideRetry, getKeyExpireTime, isRepeatable } from './retry.ts';
import { type EndedWrite, endWrite, failWrite, postponeWrite } from './write-end.ts';
import {
  type ClaimedWrite,
  listEntries,
  WRITE_LEASES,
  type WriteClaim,
  type WriteEntry,
  type WriteTask,
} from './write-task.ts';

/** Writes that are due, and writes that this process has just accepted. Synchronous writes run in their call. */
export const writes = leasedWork({
  kind: 'write',
  leases: WRITE_LEASES,
  columns: listColumns('WriteTask'),
  perProcess: 32,
  shareColumn: 'installationId',
  perShare: 24,
  run: runWrite,
});

/**
 * The attempts after which an unexpected error fails a write. Such an error is retried each minute, so this takes a day.
 * Failures at the provider are retried less often, and not after the deadline of the write.
 */
const ATTEMPTS_MAX = DAY_MS / MINUTE_MS + 6;

/** Runs one attempt of a claimed write. */
async function runWrite(
  services: ProviderServices,
  { wasUncertain, ...task }: ClaimedWrite,
): Promise<AttemptResult> {
  try {
    return await runAttempt(services, { task, wasUncertain });
  } catch (error) {
    if (error instanceof LeaseLost || task.attempts < ATTEMPTS_MAX) throw error;
    await failWrite(services, task, error);
    return { endedWrite: null };
  }
}

/**
 * The next attempt, or the ended write. `endedWrite` is null if the write collects the records of several calls, or had
 * already ended.
 */
type AttemptResult = { next: NextAttempt } | { endedWrite: EndedWrite | null };

interface NextAttempt {
  time: Date;
  /** True if the outcome of an attempt is unknown. */
  isUncertain: boolean;
}

/** Runs one attempt of a claimed write. Throws LeaseLost if another process has taken over the write. */
export async function runAttempt(
  services: ProviderServices,
  claim: WriteClaim,
): Promise<AttemptResult> {
  const { id: operationId, attempts } = claim.task;
  using requests = new OperationRequests(services, { operationId, isContinued: attempts > 1 });
  return await attemptAndRecord(requests.services, claim);
}

async function attemptAndRecord(
  services: ProviderServices,
  claim: WriteClaim,
): Promise<AttemptResult> {
  const entries = claim.entries ?? (await listEntries(services.database.prisma, claim.task));
  const isOpen = entries.some(({ outcome }) => outcome === null);
  const retry = isOpen ? await attemptOnce(services, claim, entries) : null;
  if (!retry) return { endedWrite: await endWrite(services, claim, entries) };
  await postponeWrite(services, claim, { ...retry, entries });
  const isUncertain = retry.failure.isOutcomeUnknown || claim.wasUncertain;
  return { next: { time: retry.time, isUncertain } };
}

/**
 * Holds the write and runs its attempts until it ends, for a caller that waits. Returns null if it ends in another
 * process.
 */
export async function runToEnd(
  services: ProviderServices,
  firstClaim: Omit<WriteClaim, 'isAwaited'>,
): Promise<EndedWrite | null> {
  using _lease = WRITE_LEASES.keepRenewing(services, firstClaim.task);
  let claim: WriteClaim = { ...firstClaim, isAwaited: true };
  try {
    for (;;) {
      const result = await runAttempt(services, claim);
      if ('endedWrite' in result) return result.endedWrite;
      await wait(Math.max(0, result.next.time.getTime() - services.now().getTime()));
      claim = await beginNextAttempt(services, claim.task, result.next);
    }
  } catch (error) {
    if (error instanceof LeaseLost) return null;
    throw error;
  }
}

/** Counts the next attempt of a write that this process still holds. Throws LeaseLost. */
async function beginNextAttempt(
  { database, now }: RowServices,
  task: WriteTask,
  { time, isUncertain }: NextAttempt,
): Promise<WriteClaim> {
  const lastAttemptTime = new Date(Math.max(time.getTime(), now().getTime()));
  const change = {
    attempts: task.attempts + 1,
    lastAttemptTime,
    isUncertain: true,
    uncertainSince: isUncertain ? (task.uncertainSince ?? task.createTime) : lastAttemptTime,
  };
  await WRITE_LEASES.updateClaimed(database.prisma.writeTask, task, change);
  return { task: { ...task, ...change }, wasUncertain: isUncertain, isAwaited: true };
}

interface Retry {
  time: Date;
  failure: AttemptFailure;
}

/** Attempts the write once. Returns null if all entries have an outcome now, including failures that are not retried. */
async function attemptOnce(
  services: ProviderServices,
  claim: WriteClaim,
  entries: readonly WriteEntry[],
): Promise<Retry | null> {
  const { task, wasUncertain } = claim;
  claim.target ??= await findWriteTarget(services.database.run, task);
  const provider = claim.target && (await findProvider(services, claim.target));
  const hasKey = provider !== null && supportsKey(provider, { task, entries });
  const keyUntil = hasKey
    ? getKeyExpireTime(provider, task.uncertainSince ?? task.createTime)
    : null;
  const mustStop = wasUncertain && !isRepeatable({ ...task, keyUntil }, services.now());
  // The claim has counted an attempt, but none is made.
  if (mustStop) task.attempts -= 1;
  const failure: StoppingFailure | null = mustStop
    ? createUnrepeatableFailure({ task, entries, keyUntil })
    : await attemptWrite(services, { claim, provider, entries });
  if (!failure) return null;
  const timing = { now: services.now(), random: services.random };
  const decision = decideRetry({ ...task, wasUncertain, keyUntil }, failure, timing);
  if (decision.kind === 'retry') return { time: decision.time, failure };
  setFailedOutcomes(entries, { task, failure, isUnknown: decision.kind === 'unknown' });
  return null;
}

interface FinalFailure {
  task: WriteTask;
  failure: StoppingFailure;
  /** True if the provider may have executed the requests that were sent. */
  isUnknown: boolean;
}

/** Sets the outcomes of the entries that have none, after a failure that is not retried. */
function setFailedOutcomes(
  entries: readonly WriteEntry[],
  { task, failure: { message, unsentEntries }, isUnknown }: FinalFailure,
): void {
  const createSentOutcome = isUnknown ? createUnknownOutcome : createFailedOutcome;
  const unsent = new Set(unsentEntries);
  for (const entry of entries) {
    const createOutcome = unsent.has(entry) ? createUnsentOutcome : createSentOutcome;
    const recordId = task.type === 'CREATE' ? null : String(entry.record.id);
    entry.outcome ??= createOutcome(recordId, message);
  }
}

async function findProvider(
  { database, catalogs }: ProviderServices,
  { connection, integration }: WriteTarget,
) {
  const content = await findLatestContent(database, integration);
  const catalog = await catalogs.getOfProject(connection.projectId);
  return catalog.findWithModule(connection.provider, content?.module ?? null);
}

interface UncertainWrite {
  task: WriteTask;
  entries: readonly WriteEntry[];
  keyUntil: Date | null;
}

/** Creates the failure of an uncertain creation that can't be repeated. */
function createUnrepeatableFailure(write: UncertainWrite): AttemptFailure {
  return createPermanentFailure(describeUnrepeatableWrite(write), { isOutcomeUnknown: true });
}

function describeUnrepeatableWrite({ task, entries, keyUntil }: UncertainWrite): string {
  if (entries.length < task.recordCount) {
    return 'The write is not retried, because other records of its request have been erased.';
  }
  return keyUntil
    ? 'The write is not retried, because the provider would no longer recognize a repeated request.'
    : "The server stopped before it stored the provider's response. The write is not retried, because it could create a duplicate.";
}
