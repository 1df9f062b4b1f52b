/**
 * The rows of a write. Whoever works on one holds it by a lease that is renewed meanwhile; when its
 * process is killed, the lease runs out and another takes over. A result of an older claim is refused.
 */
import type { Prisma, WriteTask } from '../../database/generated/client.ts';
import type { Row } from '../../database/rows.ts';
import type { Transaction } from '../../database/transaction.ts';
import type { Services } from '../call.ts';
import type { StoredOutcome } from './outcome.ts';

/** How long after a kill a write is taken up again, at most: a lease, and the sweep's interval. */
const LEASE_SECONDS = 10;
const RENEW_MS = 3_000;

export interface Claim {
  task: WriteTask;
  token: string;
  /** What became of an earlier attempt is not known: the provider may have done it. */
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
export async function insertClaimed(tx: Transaction, given: TaskToInsert): Promise<Claim> {
  const token = crypto.randomUUID();
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

/** Null where it is not due, has ended, or is held by another. What is claimed collects no more records. */
export async function claimWrite(prisma: Client, taskId: string, now: Date): Promise<Claim | null> {
  const token = crypto.randomUUID();
  const [task] = await prisma.$queryRaw<(WriteTask & { wasUncertain: boolean })[]>`
    update "WriteTask" t set "openGroup" = null, "leaseToken" = ${token}, "isUncertain" = true,
      "leaseExpireTime" = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS}),
      "attempts" = t."attempts" + 1, "lastAttempt" = ${now}
    from (
      select "id", "isUncertain" from "WriteTask" where "id" = ${taskId} and "dueTime" <= ${now}
        and ("leaseExpireTime" is null or "leaseExpireTime" <= clock_timestamp())
      for update
    ) before
    where t."id" = before."id"
    returning t.*, before."isUncertain" as "wasUncertain"`;
  return task ? { task, token, wasUncertain: task.wasUncertain } : null;
}

/** False where the claim is lost. */
export async function renewClaim(prisma: Client, { task, token }: Claim): Promise<boolean> {
  const count = await prisma.$executeRaw`
    update "WriteTask" set "leaseExpireTime" = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    where "id" = ${task.id} and "leaseToken" = ${token}`;
  return count > 0;
}

/** Renews the claim while the work runs. */
export async function whileHeld<T>(
  { database: { prisma }, log }: Services,
  claim: Claim,
  work: () => Promise<T>,
): Promise<T> {
  const timer = setInterval(() => {
    renewClaim(prisma, claim).catch((error: unknown) => {
      log.warn({ err: error, taskId: claim.task.id }, 'the lease of a write was not renewed');
    });
  }, RENEW_MS);
  timer.unref();
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
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

/** Of the entries that have one. To be called by who holds the task. */
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

/** Lets it go, to be taken up again. False where the claim is lost. */
export async function releaseWrite(
  tx: Client,
  { task, token }: Claim,
  { dueTime, isUncertain }: { dueTime: Date; isUncertain: boolean },
): Promise<boolean> {
  const count = await tx.$executeRaw`
    update "WriteTask" set "dueTime" = ${dueTime}, "leaseToken" = null, "leaseExpireTime" = null,
      "isUncertain" = ${isUncertain}
    where "id" = ${task.id} and "leaseToken" = ${token}`;
  return count > 0;
}

/** The provider is done with it; its operations end next. False where the claim is lost. */
export async function settleWrite(tx: Client, { task, token }: Claim): Promise<boolean> {
  const count = await tx.$executeRaw`
    update "WriteTask" set "isUncertain" = false
    where "id" = ${task.id} and "leaseToken" = ${token}`;
  return count > 0;
}

/** Nothing is left to do. False where the claim is lost. */
export async function endWrite(tx: Client, { task, token }: Claim, now: Date): Promise<boolean> {
  const count = await tx.$executeRaw`
    update "WriteTask" set "dueTime" = null, "leaseToken" = null, "leaseExpireTime" = null,
      "isUncertain" = false, "endTime" = ${now}
    where "id" = ${task.id} and "leaseToken" = ${token}`;
  return count > 0;
}
