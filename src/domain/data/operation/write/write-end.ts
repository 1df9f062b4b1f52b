/** Ends a write, or postpones it to its next attempt. Updates its operations and records their events. */

import { LeaseLost, RELEASED_LEASE } from '../../../../database/leases/lease.ts';
import type { EventRow } from '../../../../database/statements/hot/append-events.ts';
import {
  endOperations,
  type OperationEndRow,
} from '../../../../database/statements/hot/end-operations.ts';
import {
  END_UNREPORTED_WRITES,
  END_WRITES,
  type WriteEndRow,
} from '../../../../database/statements/hot/end-writes.ts';
import {
  findWriteTarget,
  type WriteTarget,
} from '../../../../database/statements/hot/write-target.ts';
import { repeatIfMoved } from '../../../../database/statements/keyed-rows.ts';
import type { Row } from '../../../../database/statements/tables.ts';
import { inTransaction, type Transaction } from '../../../../database/transactions/transaction.ts';
import { createEventRow } from '../../../../events/record.ts';
import { pickSubject } from '../../../../events/subject.ts';
import { createMaskedError } from '../../../../kernel/errors.ts';
import type { Log } from '../../../../kernel/log.ts';
import { printText, text } from '../../../../kernel/text.ts';
import { retryUpTo } from '../../../../work/backoff.ts';
import { Outage } from '../../../../work/outage.ts';
import type { CoreServices, ProviderServices, Services } from '../../../access/call.ts';
import { toTextColumn } from '../../../base/stored-text.ts';
import { toInstallationFields } from '../../../integrations/installation/installation-events.ts';
import { findLatestContent } from '../../../integrations/integration/content-cache.ts';
import {
  createObjectNames,
  getObjectNames,
  type ObjectNames,
} from '../../../integrations/integration/delivered-object-names.ts';
import { type LogLine, logOperation, toLogRow, updateOperation } from '../operation-work.ts';
import {
  createUnknownOutcome,
  createWriteMetadata,
  type StoredOutcome,
  summarizeOutcomes,
  type WriteSummary,
} from './outcome.ts';
import type { AttemptFailure } from './retry.ts';
import {
  listEntries,
  listOmittedFields,
  saveOutcomes,
  WRITE_LEASES,
  type WriteClaim,
  type WriteEntry,
  type WriteTask,
} from './write-task.ts';

/**
 * The maximum number of operations that one transaction ends. The transaction records an event for each operation, and
 * other events of the project wait until it commits.
 */
const TRANSACTION_OPERATIONS_MAX = 25;
/** How the statements that store outcomes are retried, so that a short database outage loses no outcome. */
const RECORDING_RETRIES = { backoff: { firstMs: 100, maxMs: 10_000 }, triesMax: 10 };
const LOGGED_ERRORS_MAX = 20;

/** A write of a single call that ended in this process. */
export interface EndedWrite {
  operation: Row<'Operation'>;
  entries: readonly WriteEntry[];
}

/**
 * Records the outcomes, which all entries must have, and ends their operations. Returns null for the records of several
 * calls, and if the operation had already ended. Throws LeaseLost if the claim no longer holds the task.
 */
export async function endWrite(
  services: ProviderServices,
  claim: WriteClaim,
  entries: readonly WriteEntry[],
): Promise<EndedWrite | null> {
  const { task } = claim;
  const source = await findWriteEventSource(services, claim);
  const entriesByOperation = Map.groupBy(entries, ({ operationId }) => operationId);
  const rows = [...entriesByOperation].map(([id, operationEntries]) => {
    const end = { id, entries: operationEntries, source, now: services.now() };
    return createOperationEnd(task, end);
  });
  const [row] = rows;
  if (rows.length === 1 && row?.operationId === task.id) {
    const outcomes = listOutcomes(entries);
    const end = { ...row, leaseToken: task.leaseToken, outcomes };
    const operation = await endSingle(services, end);
    if (operation) countEnded(services, { task, entries, rows });
    return operation && { operation, entries };
  }
  await endCollected(services, { task, entries, rows });
  countEnded(services, { task, entries, rows });
  return null;
}

interface TaskEnd {
  task: WriteTask;
  entries: readonly WriteEntry[];
  rows: readonly OperationEndRow[];
}

/** Ends a task with the records of several calls, in transactions that each end some of its operations. */
async function endCollected(
  services: CoreServices,
  { task, entries, rows }: TaskEnd,
): Promise<void> {
  await retryTransaction(services, async (tx) => {
    // The provider has finished. The operations end in the next transactions.
    await WRITE_LEASES.updateClaimed(tx.writeTask, task, { isUncertain: false });
    await saveOutcomes(tx, task, entries);
  });
  for (let start = 0; start < rows.length; start += TRANSACTION_OPERATIONS_MAX) {
    const batch = rows.slice(start, start + TRANSACTION_OPERATIONS_MAX);
    await retryTransaction(services, (tx) => endOperations(tx, batch));
  }
  const change = { dueTime: null, isUncertain: false, endTime: services.now(), ...RELEASED_LEASE };
  await retryTransaction(services, (tx) => WRITE_LEASES.updateClaimed(tx.writeTask, task, change));
}

function countEnded({ meters }: ProviderServices, { task, entries, rows }: TaskEnd): void {
  const { projectId } = task;
  for (const { status } of rows) {
    const outcome = status === 'SUCCESS' ? 'succeeded' : 'failed';
    meters.operationEnded({ kind: 'write', outcome, projectId });
  }
  const count = listOutcomes(entries).filter(({ success }) => success).length;
  meters.recordsProcessed({ kind: 'write', count, projectId });
}

function listOutcomes(entries: readonly WriteEntry[]): StoredOutcome[] {
  return entries.map(({ outcome }) => outcome as StoredOutcome);
}

/** The target and the object names of a write, for its events. */
interface WriteEventSource {
  target: WriteTarget;
  names: ObjectNames;
}

/** Returns null if the write has no events, because it is synchronous or its target was deleted. */
async function findWriteEventSource(
  { database, log }: CoreServices,
  claim: WriteClaim,
): Promise<WriteEventSource | null> {
  const { task } = claim;
  if (task.mode !== 'ASYNCHRONOUS') return null;
  const { objectName } = task;
  return withRetries(log, async () => {
    const target = claim.target ?? (await findWriteTarget(database.run, task));
    if (!target) return null;
    const content = await findLatestContent(database, target.integration);
    const names = content
      ? getObjectNames(content, objectName)
      : createObjectNames(objectName, null);
    return { target, names };
  });
}

/** Returns the ended operation, or null if it had already ended. */
async function endSingle(
  { database, log }: CoreServices,
  end: WriteEndRow,
): Promise<Row<'Operation'> | null> {
  const change = end.event ? END_WRITES : END_UNREPORTED_WRITES;
  const operation = await withRetries(log, async () => {
    const row = await repeatIfMoved(() => database.runShared(change, end));
    if (!row) throw new LeaseLost();
    return row;
  });
  return operation.id === null ? null : operation;
}

interface OperationToEnd {
  id: string;
  entries: readonly WriteEntry[];
  source: WriteEventSource | null;
  now: Date;
}

function createOperationEnd(
  task: WriteTask,
  { id, entries, source, now }: OperationToEnd,
): OperationEndRow {
  const { projectId, installationId, objectName, attempts, lastAttemptTime } = task;
  const retry = attempts > 1 && lastAttemptTime ? { attempts, lastAttemptTime } : undefined;
  const summary = summarizeOutcomes(task, listOutcomes(entries));
  const omittedFields = listOmittedFields(entries);
  const { status, result, successfulRecordIds } = summary;
  return {
    projectId,
    installationId,
    operationId: id,
    status,
    result: toTextColumn(result),
    metadata: createWriteMetadata({ objectName, omittedFields, successfulRecordIds, retry }),
    now,
    lastLine: toLogRow(createLastLine(summary)),
    event: source && createDoneEvent(source, { id, objectName, omittedFields, summary }),
  };
}

function createLastLine({ status, result, failureCount, errors }: WriteSummary): LogLine {
  const successSeverity = failureCount > 0 ? 'WARNING' : 'INFO';
  const severity = status === 'FAILURE' ? 'ERROR' : successSeverity;
  const details = errors.length > 0 && { details: { errors: errors.slice(0, LOGGED_ERRORS_MAX) } };
  return { severity, message: result, ...details };
}

function createDoneEvent(
  { target, names }: WriteEventSource,
  {
    id: operationId,
    objectName,
    omittedFields,
    summary: { failureCount, successfulRecordIds, errors },
  }: { id: string; objectName: string; omittedFields: string[]; summary: WriteSummary },
): EventRow {
  const fields = toInstallationFields(target);
  const { projectId, installationId, connectionId } = fields;
  const success = failureCount === 0;
  return createEventRow({
    projectId,
    eventType: 'WRITE_ASYNC_DONE',
    data: {
      ...fields,
      operationId,
      objectName,
      ...names,
      success,
      successfulRecordIds,
      errors: errors.map((error) => printText(error)),
      ...(omittedFields.length > 0 && { omittedFields }),
    },
    connectionId,
    installationId,
    operationId,
    subject: pickSubject(fields),
  });
}

/** Postpones the write to its next attempt, and logs the failure. */
export async function postponeWrite(
  services: CoreServices,
  claim: WriteClaim,
  {
    time,
    failure,
    entries,
  }: { time: Date; failure: AttemptFailure; entries: readonly WriteEntry[] },
): Promise<void> {
  const { task, wasUncertain } = claim;
  const { projectId, objectName, attempts } = task;
  const isUncertain = failure.isOutcomeUnknown || wasUncertain;
  const now = services.now();
  const retry = { attempts, lastAttemptTime: task.lastAttemptTime ?? now };
  const message = text`Attempt ${attempts} failed, the next one is at ${time.toISOString()}: ${failure.message}`;
  // A caller that waits for the write keeps the lease, and makes the next attempt itself.
  const lease = claim.isAwaited ? {} : RELEASED_LEASE;
  await retryTransaction(services, async (tx) => {
    const change = { dueTime: time, isUncertain, ...lease };
    await WRITE_LEASES.updateClaimed(tx.writeTask, task, change);
    await saveOutcomes(tx, task, entries);
    for (const [id, ownEntries] of Map.groupBy(entries, ({ operationId }) => operationId)) {
      const operation = { id, projectId };
      const omittedFields = listOmittedFields(ownEntries);
      const metadata = createWriteMetadata({ objectName, omittedFields, retry });
      // An operation that was erased during the attempt has no log either.
      if (!(await updateOperation(tx, operation, { metadata, now }))) continue;
      await logOperation(tx, operation, { severity: 'WARNING', message });
    }
  });
}

/**
 * Ends a write whose result can't be stored because of a defect. Its operations fail without an event, and name the
 * instance of the error in the log. Throws LeaseLost if the claim no longer holds the task.
 */
export async function failWrite(
  { database, log, now }: CoreServices,
  task: WriteTask,
  error: unknown,
): Promise<void> {
  const { projectId, id: taskId, objectName } = task;
  const { instance } = createMaskedError(log, error, { taskId }).problem;
  const reason = `An internal error. Report ${instance} to the operator.`;
  await inTransaction(database, async (tx) => {
    const end = { dueTime: null, isUncertain: false, endTime: now(), ...RELEASED_LEASE };
    await WRITE_LEASES.updateClaimed(tx.writeTask, task, end);
    const entries = await listEntries(tx, task);
    for (const entry of entries) {
      const recordId = task.type === 'CREATE' ? null : String(entry.record.id);
      entry.outcome ??= createUnknownOutcome(recordId, reason);
    }
    await saveOutcomes(tx, task, entries);
    for (const [id, ownEntries] of Map.groupBy(entries, ({ operationId }) => operationId)) {
      const operation = { id, projectId };
      const result = `[${objectName}] ${reason}`;
      const metadata = createWriteMetadata({
        objectName,
        omittedFields: listOmittedFields(ownEntries),
      });
      await updateOperation(tx, operation, { status: 'FAILURE', result, metadata, now: now() });
      await logOperation(tx, operation, { severity: 'ERROR', message: result });
    }
  });
}

/** Retries a transaction during a database outage, while the lease is renewed. Throws LeaseLost without a retry. */
function retryTransaction<T>(
  { database, log }: Pick<Services, 'database' | 'log'>,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return withRetries(log, () => inTransaction(database, work));
}

function withRetries<T>(log: Log, work: () => Promise<T>): Promise<T> {
  const outage = new Outage(log, 'write.outcome_not_recorded');
  const onFailure = (error: unknown) => outage.recordFailure(error);
  const isFinal = (error: unknown) => error instanceof LeaseLost;
  return retryUpTo(work, { ...RECORDING_RETRIES, onFailure, isFinal });
}
