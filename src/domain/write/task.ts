/**
 * The rows of a write. Whoever works on one holds it by a lease that is renewed meanwhile; when its
 * process is killed, the lease runs out and another takes over. A result of an older claim is refused.
 */
import type { WriteTask } from '../../database/generated/client.ts';
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
  /** An earlier attempt was cut off: the provider may have done what it asked. */
  wasInFlight: boolean;
}

export interface WriteEntry {
  position: number;
  operationId: string;
  record: Record<string, unknown>;
  associations: Row<'WriteEntry'>['associations'];
  outcome: StoredOutcome | null;
}

type Client = Pick<Transaction, '$queryRaw' | '$executeRaw'>;

/** Null where it is not due, has ended, or is held by another. What is claimed collects no more records. */
export async function claimWrite(prisma: Client, taskId: string, now: Date): Promise<Claim | null> {
  const token = crypto.randomUUID();
  const [task] = await prisma.$queryRaw<(WriteTask & { wasInFlight: boolean })[]>`
    update "WriteTask" t set "openGroup" = null, "leaseToken" = ${token}, "isInFlight" = true,
      "leaseExpireTime" = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS}),
      "attempts" = t."attempts" + 1, "lastAttempt" = ${now}
    from (
      select "id", "isInFlight" from "WriteTask" where "id" = ${taskId} and "dueTime" <= ${now}
        and ("leaseExpireTime" is null or "leaseExpireTime" <= clock_timestamp())
      for update
    ) before
    where t."id" = before."id"
    returning t.*, before."isInFlight" as "wasInFlight"`;
  return task ? { task, token, wasInFlight: task.wasInFlight } : null;
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
  dueTime: Date,
): Promise<boolean> {
  const count = await tx.$executeRaw`
    update "WriteTask" set "dueTime" = ${dueTime}, "leaseToken" = null, "leaseExpireTime" = null,
      "isInFlight" = false
    where "id" = ${task.id} and "leaseToken" = ${token}`;
  return count > 0;
}

/** The provider is done with it; its operations end next. False where the claim is lost. */
export async function settleWrite(tx: Client, { task, token }: Claim): Promise<boolean> {
  const count = await tx.$executeRaw`
    update "WriteTask" set "isInFlight" = false
    where "id" = ${task.id} and "leaseToken" = ${token}`;
  return count > 0;
}

/** Nothing is left to do. False where the claim is lost. */
export async function endWrite(tx: Client, { task, token }: Claim, now: Date): Promise<boolean> {
  const count = await tx.$executeRaw`
    update "WriteTask" set "dueTime" = null, "leaseToken" = null, "leaseExpireTime" = null,
      "isInFlight" = false, "endTime" = ${now}
    where "id" = ${task.id} and "leaseToken" = ${token}`;
  return count > 0;
}
