/** Runs a write: claims it, attempts it, and records the outcome. No network call is inside a transaction. */
import { setTimeout as wait } from 'node:timers/promises';
import { findInstalledAccount } from '../../../database/hot/write-target.ts';
import { inTransaction } from '../../../database/transaction.ts';
import type { Provider, ProviderSession } from '../../../providers/contract.ts';
import { LeaseLost } from '../../../work/lease.ts';
import type { Services } from '../../call.ts';
import { openSession } from '../../connection/connection-session.ts';
import { findLatestContent } from '../../integration/content-cache.ts';
import { attemptWrite, failureOf, supportsKey } from './attempt.ts';
import { failedOutcome, unknownOutcome } from './outcome.ts';
import { type AttemptFailure, type Decision, decide, isRepeatable, keyUntilOf } from './retry.ts';
import type { StartedWrite } from './start.ts';
import {
  type Claim,
  claimWrite,
  listEntries,
  saveOutcomes,
  TASKS,
  type WriteEntry,
  type WriteTo,
} from './task.ts';
import { type EndedWrite, endWithOutcomes, postponeWrite } from './write-end.ts';

/**
 * The time of the next attempt, or the ended write. Null if the write has already ended, is not due, or is held by
 * another process.
 */
export type AttemptResult = { next: Date } | { ended: EndedWrite | null } | null;

/** Runs one attempt of a write. Safe to call at any time and repeatedly. */
export async function runWrite(
  services: Services,
  key: { projectId: string; id: string },
  now = services.now(),
): Promise<AttemptResult> {
  const claim = await claimWrite(services.database, key, now);
  return claim && runClaimed(services, claim);
}

/** Runs one attempt of a write that the claim holds. Null also if another process has taken over the write. */
export async function runClaimed(services: Services, claim: Claim): Promise<AttemptResult> {
  using _lease = TASKS.hold(services, claim.task, { notRenewed: 'write.lease_not_renewed' });
  try {
    return await attemptAndRecord(services, claim);
  } catch (error) {
    if (error instanceof LeaseLost) return null;
    throw error;
  }
}

async function attemptAndRecord(services: Services, claim: Claim): Promise<AttemptResult> {
  const entries = claim.entries ?? (await listEntries(services.database.prisma, claim.task));
  const isOpen = entries.some(({ outcome }) => outcome === null);
  const decision = isOpen ? await attempt(services, claim, entries) : null;
  if (decision?.kind === 'retry') {
    await postponeWrite(services, claim, { ...decision, entries });
    return { next: decision.time };
  }
  return { ended: await endWithOutcomes(services, claim, entries) };
}

/** Runs attempts until the write ends, for a caller that waits. Null if it ends in another process. */
export async function runToEnd(services: Services, claim: Claim): Promise<EndedWrite | null> {
  let result = await runClaimed(services, claim);
  while (result && 'next' in result) {
    const { next } = result;
    await wait(Math.max(0, next.getTime() - services.now().getTime()));
    result = await runWrite(services, claim.task, next);
  }
  return result?.ended ?? null;
}

/** Starts an asynchronous write that was just accepted. */
export async function beginWrite(services: Services, started: StartedWrite): Promise<void> {
  const { id: taskId, projectId, installationId: group } = started.operation;
  const run = () => runAccepted(services, started);
  const options = { singletonKey: taskId, group, run };
  await services.queue.begin('run-write', { projectId, taskId }, options);
}

/**
 * Claims the write and attempts it. Does nothing if another process took over the write while it waited in this queue.
 */
async function runAccepted(
  services: Services,
  { operation, entries }: StartedWrite,
): Promise<void> {
  const claim = await claimWrite(services.database, operation, services.now());
  if (!claim) return;
  const isFirst = claim.task.attempts === 1;
  await runClaimed(services, { ...claim, ...(isFirst && { entries }) });
}

type Decided = Decision & { failure: AttemptFailure };

/**
 * Attempts the write once. Null if all entries have an outcome now. On a failure without a retry, all entries get an
 * outcome too.
 */
async function attempt(
  services: Services,
  claim: Claim,
  entries: readonly WriteEntry[],
): Promise<Decided | null> {
  const { task, wasUncertain } = claim;
  const route = await findRoute(services, claim);
  const { provider } = route;
  const hasKey = provider !== null && supportsKey(provider, { task, entries });
  const keyUntil = hasKey ? keyUntilOf(provider, task.uncertainSince ?? task.createTime) : null;
  const mustStop = wasUncertain && !isRepeatable({ ...task, keyUntil }, services.now());
  // The claim counted an attempt that does not happen.
  if (mustStop) task.attempts -= 1;
  const failure = mustStop
    ? notRepeated({ task, entries, keyUntil })
    : await attemptBy(services, route, { claim, entries });
  if (!failure) return null;
  const chance = { now: services.now(), random: services.random };
  const decision = decide({ ...task, wasUncertain, keyUntil }, failure, chance);
  if (decision.kind === 'retry') return { ...decision, failure };
  const outcome = decision.kind === 'unknown' ? unknownOutcome : failedOutcome;
  for (const entry of entries) {
    const recordId = task.type === 'CREATE' ? null : String(entry.record.id);
    entry.outcome ??= outcome(recordId, failure.message);
  }
  return { ...decision, failure };
}

interface InDoubt {
  task: Claim['task'];
  entries: readonly WriteEntry[];
  keyUntil: Date | null;
}

/** The failure of an uncertain creation that can't be repeated. */
function notRepeated({ task, entries, keyUntil }: InDoubt): AttemptFailure {
  const final = { isTemporary: false, outcomeUnknown: true, retryAfterMs: null };
  if (entries.length < task.recordCount) {
    const message =
      'Other records of the same request have been erased since, so it is not repeated.';
    return { message, ...final };
  }
  const message = keyUntil
    ? 'The provider would no longer recognize a repeated request.'
    : 'The server stopped while it waited for the response.';
  return { message, ...final };
}

type Route =
  | { provider: Provider; session: ProviderSession }
  | { provider: Provider | null; session: null; failure: AttemptFailure };

/** Finds the provider and opens a session with the installation's current connection. */
async function findRoute(services: Services, claim: Claim): Promise<Route> {
  const target = claim.target ?? (await findTarget(services, claim));
  if (!target) return noRoute('The installation has been deleted.');
  claim.target = target;
  const { account, module } = target;
  const provider = account && services.catalogue.findAt(account.provider, module);
  if (!account || !provider) return noRoute('The provider is no longer supported.');
  try {
    return { provider, session: openSession(services, account, provider) };
  } catch (error) {
    return { provider, session: null, failure: failureOf(services, error) };
  }
}

async function findTarget({ database }: Services, { task }: Claim): Promise<WriteTo | null> {
  const installed = await findInstalledAccount(database.rows, task);
  if (!installed) return null;
  const { account, integration } = installed;
  const content = await findLatestContent(database, integration);
  return { account, module: content?.module ?? null, installed };
}

function noRoute(message: string): Route {
  const failure = { message, isTemporary: false, outcomeUnknown: false, retryAfterMs: null };
  return { provider: null, session: null, failure };
}

async function attemptBy(
  services: Services,
  route: Route,
  { claim, entries }: { claim: Claim; entries: readonly WriteEntry[] },
): Promise<AttemptFailure | null> {
  if (route.session === null) return route.failure;
  return attemptWrite(services, {
    ...route,
    claim,
    entries,
    onProgress: () =>
      inTransaction(services.database, async (tx) => {
        await TASKS.renew(tx, claim.task);
        await saveOutcomes(tx, claim.task, entries);
      }),
  });
}
