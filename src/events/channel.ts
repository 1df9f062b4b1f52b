/** The channels on which the database tells of changes, at their commit. Hints only: what is stored is the truth. */
import type { Transaction } from '../database/transaction.ts';

/** Something was recorded; the payload is the project's id. */
export const EVENTS_CHANNEL = 'gateway_events';

/** An operation has changed; the payload is its id. */
export const OPERATIONS_CHANNEL = 'gateway_operations';

/** Wakes those who follow the operation. To be called in the transaction of each change of one. */
export async function announceOperation(tx: Transaction, operationId: string): Promise<void> {
  await tx.$executeRaw`select pg_notify(${OPERATIONS_CHANNEL}, ${operationId})`;
}
