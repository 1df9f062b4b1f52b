/**
 * Starts the erasure of a group, a consumer or a project with all rows that refer to it. One transaction hides the
 * subject and stores an `Erasure`. A worker then deletes the rows, some seconds at a time (continue-erasure.ts).
 */

import { LEASE } from '../../database/leases/lease.ts';
import { LeasedRows } from '../../database/leases/leased-rows.ts';
import type { Row } from '../../database/statements/tables.ts';
import type { Transaction } from '../../database/transactions/transaction.ts';
import { notifyErasure, notifyWork } from '../../events/channel.ts';

/** The kind of `erasures` (continue-erasure.ts), which runs these rows. */
export const ERASURE_KIND = 'erasure';

export const ERASURE_LEASES = new LeasedRows({
  table: 'Erasure',
  key: ['projectId', 'id'],
  leaseMs: 10_000,
  columns: LEASE,
});

export type Erasure = Row<'Erasure'>;

export interface ErasureKey {
  projectId: string;
  /** The id of the group, of the consumer, or of the project. */
  id: string;
}

/**
 * Starts an erasure. Must run in the transaction that hides the subject. An erasure that has already begun continues.
 */
export async function beginErasure(tx: Transaction, key: ErasureKey): Promise<void> {
  await tx.erasure.createMany({ data: key, skipDuplicates: true });
  notifyErasure(tx);
  notifyWork(tx, ERASURE_KIND);
}
