/** Runs a write: claims it, attempts it, and stores the outcome. No network call happens inside a transaction. */
import { setTimeout as wait } from 'node:timers/promises';
import { findWriteTarget, type WriteTarget } from '../../../database/hot/write-target.ts';
import { LeaseLost } from '../../../work/lease.ts';
import type { Services } from '../../call.ts';
import { OperationRequests } from '../../diagnosis/request-recorder.ts';
import { findLatestContent } from '../../integration/content-cache.ts';
import { attemptWrite, createPermanentFailure, supportsKey } from './attempt.ts';
import { createFailedOutcome, createUnknownOutcome } from './outcome.ts';
import { type AttemptFailure, decideRetry, getKeyExpireTime, isRepeatable } from './retry.ts';
import { type EndedWrite, endWrite, postponeWrite } from './write-end.ts';
import {
  type Claim,
  claimWrite,
  listEntries,
  TASKS,
  type WriteEntry,
  type WriteTask,
} from './write-task.ts';

/**
 * The time of the next attempt, or the ended write. Null if the write had already ended, was not due, or was held by
 * another process. `endedWrite` is null if the write collects the records of several calls, or had already ended.
 */
type AttemptResult = { nextTime: Date } | { endedWrite: EndedWrite | null } | null;

/**
 * Runs one attempt of a write. It may be called at any time and repeatedly. `entries` are the records that the caller has
 * just stored. If they are all records of the write, the first attempt does not read them again.
 */
export async function runWrite(
  services: Services,
  { entries, ...key }: { projectId: string; id: string; entries?: WriteEntry[] },
  now = services.now(),
): Promise<AttemptResult> {
  const claim = await claimWrite(services.database, key, now);
  if (!claim) return null;
  const { attempts, recordCount } = claim.task;
  const hasAllEntries = attempts === 1 && entries?.length === recordCount;
  return runClaim(services, hasAllEntries ? { ...claim, entries } : claim);
}

/** Runs one attempt of a claimed write. Also returns null if another process has taken over the write. */
export async function runClaim(services: Services, claim: Claim): Promise<AttemptResult> {
  using _lease = TASKS.keepRenewing(services, claim.task, {
    notRenewed: 'write.lease_not_renewed',
  });
  const { id: operationId, attempts } = claim.task;
  using requests = new OperationRequests(services, { operationId, isContinued: attempts > 1 });
  try {
    return await attemptAndRecord(requests.services, claim);
  } catch (error) {
    if (error instanceof LeaseLost) return null;
    throw error;
  }
}

async function attemptAndRecord(services: Services, claim: Claim): Promise<AttemptResult> {
  const entries = claim.entries ?? (await listEntries(services.database.prisma, claim.task));
  const isOpen = entries.some(({ outcome }) => outcome === null);
  const retry = isOpen ? await attemptOnce(services, claim, entries) : null;
  if (!retry) return { endedWrite: await endWrite(services, claim, entries) };
  await postponeWrite(services, claim, { ...retry, entries });
  return { nextTime: retry.time };
}

/** Runs attempts until the write ends, for a caller that waits. Returns null if it ends in another process. */
export async function runToEnd(services: Services, claim: Claim): Promise<EndedWrite | null> {
  let result = await runClaim(services, claim);
  while (result && 'nextTime' in result) {
    const { nextTime } = result;
    await wait(Math.max(0, nextTime.getTime() - services.now().getTime()));
    result = await runWrite(services, claim.task, nextTime);
  }
  return result?.endedWrite ?? null;
}

/**
 * Begins an accepted asynchronous write, unless it collects further records. `recoverWrites` begins a write that
 * collects records when it is due.
 */
export async function beginWrite(
  services: Services,
  { id, projectId, installationId: group, openGroup }: WriteTask,
  entries: WriteEntry[],
): Promise<void> {
  if (openGroup !== null) return;
  const run = () => runWrite(services, { projectId, id, entries });
  const options = { singletonKey: id, group, run };
  await services.queue.begin('run-write', { projectId, taskId: id }, options);
}

interface Retry {
  time: Date;
  failure: AttemptFailure;
}

/** Attempts the write once. Returns null if all entries have an outcome now, including failures that are not retried. */
async function attemptOnce(
  services: Services,
  claim: Claim,
  entries: readonly WriteEntry[],
): Promise<Retry | null> {
  const { task, wasUncertain } = claim;
  claim.target ??= await findWriteTarget(services.database.rows, task);
  const provider = claim.target && (await findProvider(services, claim.target));
  const hasKey = provider !== null && supportsKey(provider, { task, entries });
  const keyUntil = hasKey
    ? getKeyExpireTime(provider, task.uncertainSince ?? task.createTime)
    : null;
  const mustStop = wasUncertain && !isRepeatable({ ...task, keyUntil }, services.now());
  // The claim has counted an attempt, but none is made.
  if (mustStop) task.attempts -= 1;
  const failure = mustStop
    ? createUnrepeatableFailure({ task, entries, keyUntil })
    : await attemptWrite(services, { claim, provider, entries });
  if (!failure) return null;
  const timing = { now: services.now(), random: services.random };
  const decision = decideRetry({ ...task, wasUncertain, keyUntil }, failure, timing);
  if (decision.kind === 'retry') return { time: decision.time, failure };
  const createOutcome = decision.kind === 'unknown' ? createUnknownOutcome : createFailedOutcome;
  for (const entry of entries) {
    const recordId = task.type === 'CREATE' ? null : String(entry.record.id);
    entry.outcome ??= createOutcome(recordId, failure.message);
  }
  return null;
}

async function findProvider(
  { database, catalog }: Services,
  { connection, integration }: WriteTarget,
) {
  const content = await findLatestContent(database, integration);
  return catalog.findWithModule(connection.provider, content?.module ?? null);
}

interface UncertainWrite {
  task: WriteTask;
  entries: readonly WriteEntry[];
  keyUntil: Date | null;
}

/** Creates the failure of an uncertain creation that can't be repeated. */
function createUnrepeatableFailure(write: UncertainWrite): AttemptFailure {
  return createPermanentFailure(describeUnrepeatableWrite(write), { outcomeUnknown: true });
}

function describeUnrepeatableWrite({ task, entries, keyUntil }: UncertainWrite): string {
  if (entries.length < task.recordCount) {
    return 'The write is not retried, because other records of its request have been erased.';
  }
  return keyUntil
    ? 'The write is not retried, because the provider would no longer recognize a repeated request.'
    : "The server stopped before it stored the provider's response. The write is not retried, because it could create a duplicate.";
}
