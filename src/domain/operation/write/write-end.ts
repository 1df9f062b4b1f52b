/** The end of a write, and the time until its next attempt: for its operations, and as events. */
import { inTransaction, type Transaction } from '../../../database/transaction.ts';
import { recordEvent } from '../../../events/record.ts';
import { subjectOf } from '../../../events/subject.ts';
import { withTries } from '../../../work/backoff.ts';
import { LeaseLost } from '../../../work/lease.ts';
import { Outage } from '../../../work/outage.ts';
import type { Services } from '../../call.ts';
import {
  type InstallationFields,
  listInstallationFields,
} from '../../installation/installation-events.ts';
import { finishOperation, type LogLine, logOperation, noteOperation } from '../operation-work.ts';
import { type StoredOutcome, summarize, type WriteSummary, writeMetadata } from './outcome.ts';
import type { AttemptFailure } from './retry.ts';
import {
  type Claim,
  endWrite,
  releaseWrite,
  saveOutcomes,
  settleWrite,
  type WriteEntry,
} from './task.ts';

/** Operations that one transaction ends: it records an event for each, and other events wait for it. */
const ENDED_AT_ONCE = 10;
/** A short outage of the database must not lose what a provider has done. */
const RECORDING = { backoff: { firstMs: 100, maxMs: 10_000 }, triesMax: 10 };
const LOGGED_ERRORS_MAX = 20;

/** Records the outcomes, which all entries have by now, and ends their operations. */
export async function endWithOutcomes(
  services: Services,
  claim: Claim,
  entries: readonly WriteEntry[],
): Promise<void> {
  const operations = [...Map.groupBy(entries, ({ operationId }) => operationId)];
  if (operations.length === 1) {
    await persistently(services, async (tx) => {
      await endWrite(tx, claim, services.now());
      await saveOutcomes(tx, claim.task.id, entries);
      await endOperations(services, tx, { claim, operations });
    });
    return;
  }
  await persistently(services, async (tx) => {
    await settleWrite(tx, claim);
    await saveOutcomes(tx, claim.task.id, entries);
  });
  for (let at = 0; at < operations.length; at += ENDED_AT_ONCE) {
    const some = operations.slice(at, at + ENDED_AT_ONCE);
    await persistently(services, (tx) => endOperations(services, tx, { claim, operations: some }));
  }
  await persistently(services, (tx) => endWrite(tx, claim, services.now()));
}

/** Those that have ended before, by another claim, are left as they are. */
async function endOperations(
  services: Services,
  tx: Transaction,
  { claim, operations }: { claim: Claim; operations: [string, WriteEntry[]][] },
): Promise<void> {
  const { task } = claim;
  const { projectId, objectName, attempts, lastAttempt } = task;
  const retry = attempts > 1 && lastAttempt ? { attempts, lastAttempt } : undefined;
  const ended: [string, WriteSummary][] = [];
  for (const [id, own] of operations) {
    const outcomes = own.map(({ outcome }) => outcome as StoredOutcome);
    const summary = summarize(task, outcomes);
    const { status, result, successfulRecordIds } = summary;
    const metadata = writeMetadata({ objectName, successfulRecordIds, retry });
    const end = { status, result, metadata, now: services.now() };
    if (!(await finishOperation(tx, { id, projectId }, end))) continue;
    await logOperation(tx, { id, projectId }, lastLine(summary));
    ended.push([id, summary]);
  }
  if (task.mode !== 'ASYNCHRONOUS') return;
  const [fields] = await listInstallationFields(tx, [task.installationId]);
  // Nothing is recorded for an installation that is gone.
  if (!fields) return;
  for (const [id, summary] of ended) await recordDone(tx, { id, objectName, fields, summary });
}

function lastLine({ status, result, failureCount, errors }: WriteSummary): LogLine {
  const severity = status === 'FAILURE' ? 'ERROR' : failureCount > 0 ? 'WARNING' : 'INFO';
  const details = errors.length > 0 && { details: { errors: errors.slice(0, LOGGED_ERRORS_MAX) } };
  return { severity, message: result, ...details };
}

async function recordDone(
  tx: Transaction,
  {
    id: operationId,
    objectName,
    fields,
    summary: { failureCount, successfulRecordIds, errors },
  }: { id: string; objectName: string; fields: InstallationFields; summary: WriteSummary },
): Promise<void> {
  const { projectId, installationId, connectionId } = fields;
  const success = failureCount === 0;
  await recordEvent(tx, {
    projectId,
    eventType: 'WRITE_ASYNC_DONE',
    data: { ...fields, operationId, objectName, success, successfulRecordIds, errors },
    connectionId,
    installationId,
    operationId,
    subject: subjectOf(fields),
  });
}

/** Releases the write until its next attempt, and logs that. */
export async function postponeWrite(
  services: Services,
  claim: Claim,
  next: { time: Date; failure: AttemptFailure; entries: readonly WriteEntry[] },
): Promise<void> {
  const { task, wasUncertain } = claim;
  const { id: taskId, projectId, objectName, attempts, installationId: group } = task;
  const { time, failure, entries } = next;
  const isUncertain = failure.outcomeUnknown || wasUncertain;
  const now = services.now();
  const retry = { attempts, lastAttempt: task.lastAttempt ?? now };
  const metadata = writeMetadata({ objectName, retry });
  const message = `Attempt ${attempts} failed, the next one is at ${time.toISOString()}: ${failure.message}`;
  await persistently(services, async (tx) => {
    await releaseWrite(tx, claim, { dueTime: time, isUncertain });
    await saveOutcomes(tx, taskId, entries);
    for (const id of new Set(entries.map(({ operationId }) => operationId))) {
      await noteOperation(tx, { id, projectId }, { metadata, now });
      await logOperation(tx, { id, projectId }, { severity: 'WARNING', message });
    }
    // The caller of a synchronous write continues it.
    if (task.mode === 'SYNCHRONOUS') return;
    const options = { startAfter: time, singletonKey: `${taskId}.${attempts}`, group };
    await services.queue.enqueue(tx, 'run-write', { taskId }, options);
  });
}

/** A transaction that is tried again while the database is away; the claim is renewed meanwhile. Throws LeaseLost. */
export function persistently<T>(
  { database, log }: Services,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const outage = new Outage(log, 'write.outcome_not_recorded');
  const onFailure = (error: unknown) => outage.failed(error);
  const isFinal = (error: unknown) => error instanceof LeaseLost;
  return withTries(() => inTransaction(database, work), { ...RECORDING, onFailure, isFinal });
}
