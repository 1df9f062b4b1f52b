/**
 * The rows of a write. A worker holds one by a lease that it renews; if its process ends or freezes,
 * another takes over. A result of an older claim is refused.
 */
import { acceptWrites } from '../../../database/changes/accept-writes.ts';
import { claimWrites } from '../../../database/changes/claim-writes.ts';
import type { Database } from '../../../database/database.ts';
import { Prisma } from '../../../database/generated/client.ts';
import type { AccountRow, InstalledAccount } from '../../../database/reads/write-target.ts';
import type { Row } from '../../../database/rows.ts';
import type { Transaction } from '../../../database/transaction.ts';
import type { Association } from '../../../providers/moving-records.ts';
import {
  isFreeSql,
  keepLease,
  LeaseLost,
  leaseEndSql,
  newLeaseToken,
  requireLease,
} from '../../../work/lease.ts';
import type { Services } from '../../call.ts';
import { storedJson } from '../../storable-json.ts';
import type { StoredOutcome } from './outcome.ts';

type WriteTask = Row<'WriteTask'>;

/** A frozen worker's write is taken up when this is over; a live worker renews it in time. */
const LEASE_MS = 10_000;
const LEASE_END = Prisma.raw(leaseEndSql(LEASE_MS));

export interface Claim {
  task: ClaimedTask;
  token: string;
  /** The outcome of an earlier attempt is not known: the provider may have done it. */
  wasUncertain: boolean;
  /** Its records, if they were not read from the database. */
  entries?: WriteEntry[];
  /** What it writes to, if that was just read. */
  target?: WriteTo;
}

/** The connection that the installation has, and all of the installation that events tell, if that was read. */
export interface WriteTo {
  account: AccountRow | null;
  /** The integration's. */
  module: string | null;
  installed?: InstalledAccount;
}

export type ClaimedTask = Omit<WriteTask, 'leaseExpireTime'>;

export interface WriteEntry {
  position: number;
  operationId: string;
  record: Record<string, unknown>;
  associations: Association[] | null;
  /** Fields that are written only into records without a value for them. */
  ifEmpty: string[] | null;
  outcome: StoredOutcome | null;
}

/** Accepts a write, due at once or held from the start. */
export const ACCEPT_WRITES = acceptWrites(leaseEndSql(LEASE_MS));

const CLAIM_WRITES = claimWrites({ isFree: isFreeSql(), leaseEnd: leaseEndSql(LEASE_MS) });

type Client = Pick<Transaction, '$queryRaw' | '$executeRaw'>;

/** Null if it is not due, has ended, or is held by another. What is claimed collects no more records. */
export async function claimWrite(
  { changes, processes }: Pick<Database, 'changes' | 'processes'>,
  key: Pick<WriteTask, 'projectId' | 'id'>,
  now: Date,
): Promise<Claim | null> {
  const token = newLeaseToken(processes.id);
  const claimed = await changes.run(CLAIM_WRITES, { ...key, leaseToken: token, now });
  if (!claimed) return null;
  const { wasUncertain, ...task } = claimed;
  return { task, token, wasUncertain };
}

/** Throws LeaseLost. */
export async function renewClaim(prisma: Client, { task, token }: Claim): Promise<void> {
  const count = await prisma.$executeRaw`
    update "WriteTask" set "leaseExpireTime" = ${LEASE_END}
    where "projectId" = ${task.projectId} and "id" = ${task.id} and "leaseToken" = ${token}`;
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
  { projectId, id: taskId }: Pick<WriteTask, 'projectId' | 'id'>,
): Promise<WriteEntry[]> {
  const rows = await prisma.writeEntry.findMany({
    where: { projectId, taskId },
    orderBy: { position: 'asc' },
  });
  return storedJson(rows);
}

/** Of the entries that have one. Only for the holder of the task. */
export async function saveOutcomes(
  tx: Transaction,
  { projectId, id }: Pick<WriteTask, 'projectId' | 'id'>,
  entries: readonly WriteEntry[],
): Promise<void> {
  const known = entries.filter(({ outcome }) => outcome !== null);
  const rows = JSON.stringify(known.map(({ position, outcome }) => ({ position, outcome })));
  await tx.$executeRaw`
    update "WriteEntry" e set "outcome" = known."outcome"
    from jsonb_to_recordset(${rows}::jsonb) as known("position" int, "outcome" jsonb)
    where e."projectId" = ${projectId} and e."taskId" = ${id} and e."position" = known."position"`;
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
    where "projectId" = ${task.projectId} and "id" = ${task.id} and "leaseToken" = ${token}`;
  requireLease(count);
}

/** Marks the provider's part as done; its operations end next. Throws LeaseLost. */
export async function settleWrite(tx: Client, { task, token }: Claim): Promise<void> {
  const count = await tx.$executeRaw`
    update "WriteTask" set "isUncertain" = false
    where "projectId" = ${task.projectId} and "id" = ${task.id} and "leaseToken" = ${token}`;
  requireLease(count);
}

/** Nothing is left to do. Throws LeaseLost. */
export async function endWrite(tx: Client, { task, token }: Claim, now: Date): Promise<void> {
  const count = await tx.$executeRaw`
    update "WriteTask" set "dueTime" = null, "leaseToken" = null, "leaseExpireTime" = null,
      "isUncertain" = false, "endTime" = ${now}
    where "projectId" = ${task.projectId} and "id" = ${task.id} and "leaseToken" = ${token}`;
  requireLease(count);
}
