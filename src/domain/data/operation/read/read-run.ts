/**
 * Stores the runs of reads. A worker holds a run by a lease. Every change of a run names the worker's claim, so that only
 * the newer of two workers makes progress.
 */

import type { ReadType } from '../../../../database/generated/enums.ts';
import {
  LEASE,
  leaseEndSql,
  newLeaseToken,
  RELEASED_LEASE,
  requireLease,
} from '../../../../database/leases/lease.ts';
import { LeasedRows } from '../../../../database/leases/leased-rows.ts';
import type { Database } from '../../../../database/open/database.ts';
import { run, sql, statements } from '../../../../database/statements/statements.ts';
import type { Row } from '../../../../database/statements/tables.ts';
import { inTransaction, type Transaction } from '../../../../database/transactions/transaction.ts';
import { notifyOperation, notifyWork } from '../../../../events/channel.ts';
import { findCurrentTraceparent } from '../../../../kernel/spans.ts';
import { type Text, text } from '../../../../kernel/text.ts';
import type { RowServices } from '../../../access/call.ts';
import { toTextColumn } from '../../../base/stored-text.ts';
import type { StoredOperationMetadata } from '../operation.ts';
import {
  createOperation,
  type InstallationAtWork,
  type LogLine,
  logOperation,
} from '../operation-work.ts';

export type ReadRun = Row<'ReadRun'>;

/** Another process takes over a frozen worker's run after this time. A live worker renews the lease earlier. */
const LEASE_MS = 10_000;

/** The kind of `reads` (continue-read.ts), which runs these rows. */
export const READ_KIND = 'read';

export const READ_LEASES = new LeasedRows({
  table: 'ReadRun',
  key: ['projectId', 'operationId'],
  leaseMs: LEASE_MS,
  columns: LEASE,
  isDueSql: 'not held."paused"',
});

interface RunToStart {
  installation: InstallationAtWork;
  objectName: string;
  readType: ReadType;
  since: Date | null;
  until: Date | null;
  /** The start of the next window. Null for a triggered read. */
  nextReadUntil: Date | null;
}

/** A run with its operation. */
export interface StartedRun {
  operation: Row<'Operation'>;
  run: ReadRun;
}

/**
 * Creates the operation and its run. With `isHeld`, this process has the lease of the run from the start, and must run
 * its first time slice after the commit. Otherwise the commit wakes a worker.
 */
export async function startRun(
  tx: Transaction,
  { installation, ...input }: RunToStart,
  { processes, isHeld = false }: Pick<Database, 'processes'> & { isHeld?: boolean },
): Promise<StartedRun> {
  const metadata = createReadMetadata({ ...input, recordsRead: 0, estimatedTotal: null });
  const operation = await createOperation(tx, { installation, actionType: 'READ', metadata });
  const { id: operationId, projectId } = operation;
  const lease = isHeld && {
    leaseToken: newLeaseToken(processes.id),
    leaseExpireTime: sql<Date>`${sql.raw(leaseEndSql(LEASE_MS))}`,
  };
  const ids = { operationId, projectId, installationId: installation.id };
  const values = { ...ids, ...input, traceparent: findCurrentTraceparent(), ...lease };
  const [readRun] = await run(tx, statements.insertInto('ReadRun').values(values).returningAll());
  if (!readRun) throw new Error('Bug: the insert of a read returned no row.');
  const { readType, since, until } = input;
  await logOperation(tx, operation, {
    severity: 'INFO',
    message: `[${input.objectName}] Read accepted`,
    details: { readType, since, until },
  });
  if (!isHeld) notifyWork(tx, READ_KIND);
  return { operation, run: readRun };
}

/** True if the object was deleted after the read started. A new object of the same name has reads of its own. */
export function isAbandoned({
  readType,
  nextReadUntil,
}: Pick<ReadRun, 'readType' | 'nextReadUntil'>): boolean {
  return readType !== 'TRIGGERED' && nextReadUntil === null;
}

/** Returns the operation's metadata with the progress of the read. */
export function createReadMetadata({
  objectName,
  recordsRead,
  estimatedTotal,
}: Pick<ReadRun, 'objectName' | 'recordsRead' | 'estimatedTotal'>): StoredOperationMetadata {
  const estimate = estimatedTotal === null ? {} : { recordsEstimatedTotal: estimatedTotal };
  const progress = { objectName, recordsProcessed: recordsRead, ...estimate };
  return { objects: [objectName], progress };
}

/** The columns of a run that a page or an interruption changes. */
type RunChange = Partial<
  Pick<
    ReadRun,
    | 'cursor'
    | 'earlierCursorHash'
    | 'planKey'
    | 'pagesRead'
    | 'recordsRead'
    | 'estimatedTotal'
    | 'pendingRecords'
    | 'failures'
    | 'restarts'
    | 'furthestPage'
  >
>;

/** Deletes the row of a run that has ended. Throws LeaseLost if the claim no longer holds the run. */
export async function endRun(tx: Transaction, claim: ReadRun): Promise<void> {
  const { count } = await tx.readRun.deleteMany({ where: READ_LEASES.getClaimFilter(claim) });
  requireLease(count);
}

/** Releases the run. A worker continues it, after `waitMs` or immediately. */
export async function releaseRun(
  { database, now }: RowServices,
  run: ReadRun,
  {
    waitMs = 0,
    change = {},
    lines = [],
  }: { waitMs?: number; change?: RunChange; lines?: LogLine[] },
): Promise<void> {
  const { operationId: id, projectId } = run;
  const dueTime = new Date(now().getTime() + Math.ceil(waitMs));
  await inTransaction(database, async (tx) => {
    await READ_LEASES.updateClaimed(tx.readRun, run, { ...change, dueTime, ...RELEASED_LEASE });
    if (lines.length > 0) await logOperation(tx, { id, projectId }, ...lines);
    if (waitMs === 0) notifyWork(tx, READ_KIND);
  });
}

/** Records why a read waits. If the reason is new, its operation shows it and gets a line in its log. */
export async function recordWait(
  tx: Transaction,
  {
    operationId: id,
    projectId,
    objectName,
  }: Pick<ReadRun, 'operationId' | 'projectId' | 'objectName'>,
  { reason, now }: { reason: Text; now: Date },
): Promise<void> {
  const message = text`[${objectName}] ${reason}`;
  const result = toTextColumn(message);
  const { count } = await tx.operation.updateMany({
    where: {
      id,
      projectId,
      status: 'IN_PROGRESS',
      OR: [{ result: null }, { result: { not: result } }],
    },
    data: { result, updateTime: now },
  });
  if (count === 0) return;
  await logOperation(tx, { id, projectId }, { severity: 'WARNING', message });
  notifyOperation(tx, id);
}
