/**
 * Stores the runs of reads. A worker holds a run by a lease. Every change of a run names the worker's claim, so that only
 * the newer of two workers makes progress.
 */
import { Prisma } from '../../../database/generated/client.ts';
import type { ReadType } from '../../../database/generated/enums.ts';
import { LeasedRows } from '../../../database/leased-rows.ts';
import { acrossProjects, sweep } from '../../../database/projects/all-projects.ts';
import { listColumns, type Row } from '../../../database/tables.ts';
import { inTransaction, type Transaction } from '../../../database/transaction.ts';
import { notifyOperation } from '../../../events/channel.ts';
import { LEASE, RELEASED_LEASE, requireLease } from '../../../work/lease.ts';
import type { Services } from '../../call.ts';
import type { StoredOperationMetadata } from '../operation.ts';
import {
  createOperation,
  type InstallationAtWork,
  type LogLine,
  logOperation,
} from '../operation-work.ts';

export type ReadRun = Row<'ReadRun'>;

export const RUNS = new LeasedRows({
  table: 'ReadRun',
  key: ['projectId', 'operationId'],
  // Another process takes over a frozen worker's run after this time. A live worker renews the lease earlier.
  leaseMs: 10_000,
  columns: LEASE,
});

interface RunToStart {
  installation: InstallationAtWork;
  objectName: string;
  readType: ReadType;
  since: Date | null;
  until: Date | null;
  /** The start of the next window. Null for a triggered read. */
  position: Date | null;
}

/** Creates the operation and its run. Call `beginRun` after the commit. */
export async function startRun(
  tx: Transaction,
  { installation, ...run }: RunToStart,
): Promise<Row<'Operation'>> {
  const metadata = createReadMetadata({ ...run, recordsRead: 0, estimatedTotal: null });
  const operation = await createOperation(tx, { installation, actionType: 'READ', metadata });
  const { id: operationId, projectId } = operation;
  await tx.readRun.create({
    data: { operationId, projectId, installationId: installation.id, ...run },
  });
  const { readType, since, until } = run;
  await logOperation(tx, operation, {
    severity: 'INFO',
    message: `[${run.objectName}] Read accepted`,
    details: { readType, since, until },
  });
  return operation;
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

export type RunKey = Pick<ReadRun, 'operationId' | 'projectId'>;

/** Begins the run. Call it after the commit. If the process ends first, a sweep begins the run. */
export function beginRun(
  { queue }: Pick<Services, 'queue'>,
  { operationId, projectId }: RunKey,
): Promise<void> {
  return queue.begin(
    'run-read',
    { projectId, operationId },
    { singletonKey: operationId, group: projectId },
  );
}

export function enqueueRun(
  { queue }: Pick<Services, 'queue'>,
  tx: Transaction,
  { operationId, projectId, startAfter }: RunKey & { startAfter?: Date | undefined },
): Promise<void> {
  const options = {
    singletonKey: operationId,
    group: projectId,
    ...(startAfter && { startAfter }),
  };
  return queue.enqueue(tx, 'run-read', { projectId, operationId }, options);
}

const IS_DUE = Prisma.sql`held."dueTime" <= now() and not held."paused"`;

/** Claims the run. Returns null if it has ended, is paused, is not due, or is held by another worker. */
export function claimRun(
  { database }: Pick<Services, 'database'>,
  key: RunKey,
): Promise<ReadRun | null> {
  return RUNS.claimOne(database, key, { columns: listColumns('ReadRun'), condition: IS_DUE });
}

/** The columns of a run that a page or an interruption changes. */
type RunChange = Partial<
  Pick<
    ReadRun,
    | 'cursor'
    | 'cursorMark'
    | 'planKey'
    | 'pagesRead'
    | 'recordsRead'
    | 'estimatedTotal'
    | 'waiting'
    | 'failures'
    | 'restarts'
    | 'furthestPage'
  >
>;

/** Deletes the row of a run that has ended. Throws LeaseLost if the claim no longer holds the run. */
export async function endRun(tx: Transaction, claim: ReadRun): Promise<void> {
  const { count } = await tx.readRun.deleteMany({ where: RUNS.getClaimFilter(claim) });
  requireLease(count);
}

/** Releases the run. The next job continues it, after `waitMs` or immediately. */
export async function releaseRun(
  services: Services,
  run: ReadRun,
  {
    waitMs = 0,
    change = {},
    lines = [],
  }: { waitMs?: number; change?: RunChange; lines?: LogLine[] },
): Promise<void> {
  const { operationId: id, projectId } = run;
  await inTransaction(services.database, async (tx) => {
    await RUNS.updateClaimed(tx.readRun, run, { ...change, ...RELEASED_LEASE });
    const [dueRun] = await tx.$queryRaw<{ dueTime: Date }[]>`
      update "ReadRun" set "dueTime" = now() + ${Math.ceil(waitMs)}::int * interval '1 millisecond'
      where "projectId" = ${projectId} and "operationId" = ${id} returning "dueTime"`;
    if (lines.length > 0) await logOperation(tx, { id, projectId }, ...lines);
    if (waitMs > 0) await enqueueRun(services, tx, { ...run, startAfter: dueRun?.dueTime });
  });
  if (waitMs === 0) await beginRun(services, run);
}

/** Records why a read waits. If the reason is new, its operation shows it and gets a line in its log. */
export async function recordWait(
  tx: Transaction,
  {
    operationId: id,
    projectId,
    objectName,
  }: Pick<ReadRun, 'operationId' | 'projectId' | 'objectName'>,
  { reason, now }: { reason: string; now: Date },
): Promise<void> {
  const result = `[${objectName}] ${reason}`;
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
  await logOperation(tx, { id, projectId }, { severity: 'WARNING', message: result });
  notifyOperation(tx, id);
}

/** The time in which a worker normally starts a run that is due. */
const GRACE_SECONDS = 3;

/** The maximum number of runs that one sweep enqueues. */
const SWEEP_RUNS_MAX = 50;

const SELECT_OVERDUE_RUNS = acrossProjects(
  'reads that are due',
  (inProjects) => `select "operationId", "projectId" from "ReadRun"
   where ${inProjects('"projectId"')} and "dueTime" < now() and not "paused" and case
     when "leaseToken" is null then "dueTime" < now() - interval '${GRACE_SECONDS} seconds'
     else ${RUNS.isFreeSql.sql} end
   order by "dueTime" limit ${SWEEP_RUNS_MAX}`,
);

/** Enqueues runs whose worker was killed or whose job was lost. */
export async function recoverReads(services: Services): Promise<void> {
  const runs = await sweep<RunKey>(services.database, SELECT_OVERDUE_RUNS);
  if (runs.length === 0) return;
  await inTransaction(services.database, async (tx) => {
    for (const run of runs) await enqueueRun(services, tx, run);
  });
}
