/** The channels on which the database tells of changes, at their commit. Hints only: what is stored is the truth. */
import { runChange, sql } from '../database/statements.ts';
import type { Transaction } from '../database/transaction.ts';

/** Something was recorded or is owed; the payload is the project's id. */
export const EVENTS_CHANNEL = 'gateway_events';

/** Wakes those who follow the project's events, and those who send what is owed. To be called in the transaction. */
export async function announceRecorded(tx: Transaction, projectId: string): Promise<void> {
  await runChange(tx, sql`select pg_notify(${EVENTS_CHANNEL}, ${projectId})`);
}

/** An operation has changed; the payload is its id. */
export const OPERATIONS_CHANNEL = 'gateway_operations';

/** Wakes those who follow the operation. To be called in the transaction of each change of one. */
export async function announceOperation(tx: Transaction, operationId: string): Promise<void> {
  await runChange(tx, sql`select pg_notify(${OPERATIONS_CHANNEL}, ${operationId})`);
}
