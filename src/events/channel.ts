/** The channels for hints of changes, which come at their commit. A reader looks at the stored rows. */
import { runChange, sql } from '../database/statements.ts';
import type { Transaction } from '../database/transaction.ts';

/** An event was recorded or a delivery created; the payload is the project's id. */
export const EVENTS_CHANNEL = 'gateway_events';

/** Wakes followers of the project's events, and delivery workers. Call it in the transaction. */
export async function announceRecorded(tx: Transaction, projectId: string): Promise<void> {
  await runChange(tx, sql`select pg_notify(${EVENTS_CHANNEL}, ${projectId})`);
}

/** An operation has changed; the payload is its id. */
export const OPERATIONS_CHANNEL = 'gateway_operations';

/** Wakes followers of the operation. Call it in the transaction of each change of an operation. */
export async function announceOperation(tx: Transaction, operationId: string): Promise<void> {
  await runChange(tx, sql`select pg_notify(${OPERATIONS_CHANNEL}, ${operationId})`);
}
