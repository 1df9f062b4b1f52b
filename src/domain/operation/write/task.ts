/**
 * The rows of a write. A worker holds one by a lease that it renews; if its process ends or freezes,
 * another takes over. A result of an older claim is refused.
 */
import type { Database } from '../../../database/database.ts';
import { Prisma } from '../../../database/generated/client.ts';
import type { Row } from '../../../database/rows.ts';
import type { Transaction } from '../../../database/transaction.ts';
import {
  isFreeSql,
  keepLease,
  LeaseLost,
  leaseEndSql,
  newLeaseToken,
  requireLease,
} from '../../../work/lease.ts';
import type { Services } from '../../call.ts';
import type { StoredOutcome } from './outcome.ts';

type WriteTask = Row<'WriteTask'>;

/** A frozen worker's write is taken up when this is over; a live worker renews it in time. */
const LEASE_MS = 10_000;
const LEASE_END = Prisma.raw(leaseEndSql(LEASE_MS));
const IS_FREE = Prisma.raw(isFreeSql());

export interface Claim {
  task: WriteTask;
  token: string;
  /** The outcome of an earlier attempt is not known: the provider may have done it. */
  wasUncertain: boolean;
}

export interface WriteEntry {
  position: number;
  operationId: string;
  record: Record<string, unknown>;
  associations: Row<'WriteEntry'>['associations'];
  outcome: StoredOutcome | null;
}

export interface TaskToInsert {
  operation: Row<'Operation'>;
  objectName: string;
  type: WriteTask['type'];
  headers: object | null;
  allOrNone: boolean;
  deadlineTime: Date;
  now: Date;
  entries: { record: object; associations?: object }[];
}

/** Due at once. */
export async function insertTask(tx: Transaction, given: TaskToInsert): Promise<void> {
  await insertRows(tx, given, { mode: 'ASYNCHRONOUS' });
}

/** Held by the caller from the start, with its first attempt begun. */
export async function insertClaimed(
  tx: Transaction,
  processId: string,
  given: TaskToInsert,
): Promise<Claim> {
  const token = newLeaseToken(processId);
  const begun = { leaseToken: token, attempts: 1, lastAttempt: given.now, isUncertain: true };
  const task = await insertRows(tx, given, { mode: 'SYNCHRONOUS', ...begun });
  const claim = { task, token, wasUncertain: false };
  await renewClaim(tx, claim);
  return claim;
}

async function insertRows(
  tx: Transaction,
  { operation, headers, entries, now: dueTime, ...given }: TaskToInsert,
  state: Pick<Prisma.WriteTaskUncheckedCreateInput, 'mode'> & object,
): Promise<WriteTask> {
  const { id: taskId, projectId, installationId } = operation;
  const owner = { id: taskId, projectId, installationId };
  const recordCount = entries.length;
  const task = await tx.writeTask.create({
    data: { ...owner, recordCount, dueTime, ...given, ...(headers && { headers }), ...state },
  });
  await tx.writeEntry.createMany({
    data: entries.map((entry, position) => ({
      taskId,
      position,
      projectId,
      operationId: taskId,
      ...entry,
    })),
  });
  return task;
}

type Client = Pick<Transaction, '$queryRaw' | '$executeRaw'>;

/** Null if it is not due, has ended, or is held by another. What is claimed collects no more records. */
export async function claimWrite(
  { prisma, processes }: Pick<Database, 'prisma' | 'processes'>,
  taskId: string,
  now: Date,
): Promise<Claim | null> {
  const token = newLeaseToken(processes.id);
  const [task] = await prisma.$queryRaw<(WriteTask & { wasUncertain: boolean })[]>`
    update "WriteTask" t set "openGroup" = null, "leaseToken" = ${token}, "isUncertain" = true,
      "leaseExpireTime" = ${LEASE_END}, "attempts" = t."attempts" + 1, "lastAttempt" = ${now}
    from (
      select "id", "isUncertain" from "WriteTask"
      where "id" = ${taskId} and "dueTime" <= greatest(${now}::timestamptz, now()) and ${IS_FREE}
      for update
    ) before
    where t."id" = before."id"
    returning t.*, before."isUncertain" as "wasUncertain"`;
  return task ? { task, token, wasUncertain: task.wasUncertain } : null;
}

/** Throws LeaseLost. */
export async function renewClaim(prisma: Client, { task, token }: Claim): Promise<void> {
  const count = await prisma.$executeRaw`
    update "WriteTask" set "leaseExpireTime" = ${LEASE_END}
    where "id" = ${task.id} and "leaseToken" = ${token}`;
  requireLease(count);
}

/** Keeps the lease of a claim from ending until it is disposed of. */
export function keepClaim({ database: { prisma }, log }: Services, claim: Claim): Disposable {
  return keepLease(
    LEASE_MS,
    () => renewClaim(prisma, claim),
    (error) => {
      if (error instanceof LeaseLost) return;
      log.warn({ err: error, taskId: claim.task.id }, 'write.lease_not_renewed');
    },
  );
}

export async function listEntries(
  prisma: Pick<Transaction, 'writeEntry'>,
  taskId: string,
): Promise<WriteEntry[]> {
  const rows = await prisma.writeEntry.findMany({
    where: { taskId },
    orderBy: { position: 'asc' },
  });
  return rows as unknown as WriteEntry[];
}

/** Of the entries that have one. Only for the holder of the task. */
export async function saveOutcomes(
  tx: Transaction,
  taskId: string,
  entries: readonly WriteEntry[],
): Promise<void> {
  const known = entries.filter(({ outcome }) => outcome !== null);
  const rows = JSON.stringify(known.map(({ position, outcome }) => ({ position, outcome })));
  await tx.$executeRaw`
    update "WriteEntry" e set "outcome" = known."outcome"
    from jsonb_to_recordset(${rows}::jsonb) as known("position" int, "outcome" jsonb)
    where e."taskId" = ${taskId} and e."position" = known."position"`;
}

/** Releases it for another attempt. Throws LeaseLost. */
export async function releaseWrite(
  tx: Client,
  { task, token }: Claim,
  { dueTime, isUncertain }: { dueTime: Date; isUncertain: boolean },
): Promise<void> {
  const count = await tx.$executeRaw`
    update "WriteTask" set "dueTime" = ${dueTime}, "leaseToken" = null, "leaseExpireTime" = null,
      "isUncertain" = ${isUncertain}
    where "id" = ${task.id} and "leaseToken" = ${token}`;
  requireLease(count);
}

/** Marks the provider's part as done; its operations end next. Throws LeaseLost. */
export async function settleWrite(tx: Client, { task, token }: Claim): Promise<void> {
  const count = await tx.$executeRaw`
    update "WriteTask" set "isUncertain" = false
    where "id" = ${task.id} and "leaseToken" = ${token}`;
  requireLease(count);
}

/** Nothing is left to do. Throws LeaseLost. */
export async function endWrite(tx: Client, { task, token }: Claim, now: Date): Promise<void> {
  const count = await tx.$executeRaw`
    update "WriteTask" set "dueTime" = null, "leaseToken" = null, "leaseExpireTime" = null,
      "isUncertain" = false, "endTime" = ${now}
    where "id" = ${task.id} and "leaseToken" = ${token}`;
  requireLease(count);
}
