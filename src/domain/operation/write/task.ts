/**
 * The rows of a write. A worker holds one by a lease that it renews; if its process ends or freezes,
 * another takes over. A result of an older claim is refused.
 */

import type { Database } from '../../../database/database.ts';
import { acceptWrites } from '../../../database/hot/accept-writes.ts';
import { claimWrites } from '../../../database/hot/claim-writes.ts';
import type { AccountRow, InstalledAccount } from '../../../database/hot/write-target.ts';
import { repeatIfMoved } from '../../../database/keyed-rows.ts';
import { LeasedRows } from '../../../database/leased-rows.ts';
import type { Row } from '../../../database/rows.ts';
import type { Transaction } from '../../../database/transaction.ts';
import type { Association } from '../../../providers/moving-records.ts';
import { LEASE, newLeaseToken } from '../../../work/lease.ts';
import { storedJson } from '../../storable-json.ts';
import type { StoredOutcome } from './outcome.ts';

type WriteTask = Row<'WriteTask'>;

export const TASKS = new LeasedRows({
  table: 'WriteTask',
  key: ['projectId', 'id'],
  // A frozen worker's write is taken up when this is over; a live worker renews it in time.
  leaseMs: 10_000,
  columns: LEASE,
});

export interface Claim {
  task: ClaimedTask;
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
export const ACCEPT_WRITES = acceptWrites(TASKS.leaseEnd.sql);

/** Claims of the same moment share a statement, which `TASKS.claim` does not. */
export const CLAIM_WRITES = claimWrites({ isFree: TASKS.isFree.sql, leaseEnd: TASKS.leaseEnd.sql });

/** Null if it is not due, has ended, or is held by another. What is claimed collects no more records. */
export async function claimWrite(
  { changes, processes }: Pick<Database, 'changes' | 'processes'>,
  key: Pick<WriteTask, 'projectId' | 'id'>,
  now: Date,
): Promise<Claim | null> {
  const leaseToken = newLeaseToken(processes.id);
  const claimed = await repeatIfMoved(() => changes.run(CLAIM_WRITES, { ...key, leaseToken, now }));
  // Two claims of one write may share a statement: it is that of the token.
  if (claimed?.leaseToken !== leaseToken) return null;
  const { wasUncertain, ...task } = claimed;
  return { task, wasUncertain };
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
