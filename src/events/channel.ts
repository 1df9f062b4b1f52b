/** Hints of changes that transactions make beside the statements of database/changes/. */
import { EVENTS_CHANNEL, OPERATIONS_CHANNEL } from '../database/changes/hint-channels.ts';
import { runChange, sql } from '../database/statements.ts';
import type { Transaction } from '../database/transaction.ts';

/** Wakes followers of the project's events, and delivery workers. Call it in the transaction. */
export async function announceRecorded(tx: Transaction, projectId: string): Promise<void> {
  await runChange(tx, sql`select pg_notify(${EVENTS_CHANNEL}, ${projectId})`);
}

/** Wakes followers of the operation. Call it in the transaction of each change of an operation. */
export async function announceOperation(tx: Transaction, operationId: string): Promise<void> {
  await runChange(tx, sql`select pg_notify(${OPERATIONS_CHANNEL}, ${operationId})`);
}
