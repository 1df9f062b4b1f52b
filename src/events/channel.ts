/** Hints of changes that transactions make beside the statements of database/changes/. */
import {
  ERASURES_CHANNEL,
  EVENTS_CHANNEL,
  OPERATIONS_CHANNEL,
  SUBSCRIPTIONS_CHANNEL,
} from '../database/changes/hint-channels.ts';
import { runChange, sql } from '../database/statements.ts';
import type { Transaction } from '../database/transaction.ts';

/** Wakes followers of the project's events, and delivery workers. Call it in the transaction. */
export async function announceRecorded(tx: Transaction, projectId: string): Promise<void> {
  await runChange(tx, sql`select pg_notify(${EVENTS_CHANNEL}, ${projectId})`);
}

/** Tells all processes what is out of sight. Call it in the transaction. */
export async function announceErasure(tx: Transaction): Promise<void> {
  await runChange(tx, sql`select pg_notify(${ERASURES_CHANNEL}, '')`);
}

/** Wakes followers of a stream that ends. Call it in the transaction. */
export async function announceStream(tx: Transaction, destinationId: string): Promise<void> {
  await runChange(tx, sql`select pg_notify(${EVENTS_CHANNEL}, ${destinationId})`);
}

/** Wakes those who look after subscriptions. Call it in the transaction. */
export async function announceSubscriptions(tx: Transaction): Promise<void> {
  await runChange(tx, sql`select pg_notify(${SUBSCRIPTIONS_CHANNEL}, '')`);
}

/** Wakes followers of the operation. Call it in the transaction of each change of an operation. */
export async function announceOperation(tx: Transaction, operationId: string): Promise<void> {
  await runChange(tx, sql`select pg_notify(${OPERATIONS_CHANNEL}, ${operationId})`);
}
