/** Notifications of changes in transactions other than the statements of database/hot/. They are sent after the commit. */
import {
  ERASURES_CHANNEL,
  EVENTS_CHANNEL,
  OPERATIONS_CHANNEL,
  SUBSCRIPTIONS_CHANNEL,
} from '../database/hot/notification-channels.ts';
import { notifyAfterCommit, type Transaction } from '../database/transaction.ts';

/** Wakes followers of the project's events, and delivery workers. */
export function announceRecorded(tx: Transaction, projectId: string): void {
  notifyAfterCommit(tx, `${EVENTS_CHANNEL} ${projectId}`);
}

/** Tells all processes what is out of sight. */
export function announceErasure(tx: Transaction): void {
  notifyAfterCommit(tx, `${ERASURES_CHANNEL} `);
}

/** Wakes followers of a stream that ends. */
export function announceStream(tx: Transaction, destinationId: string): void {
  notifyAfterCommit(tx, `${EVENTS_CHANNEL} ${destinationId}`);
}

/** Wakes those who look after subscriptions. */
export function announceSubscriptions(tx: Transaction): void {
  notifyAfterCommit(tx, `${SUBSCRIPTIONS_CHANNEL} `);
}

/** Wakes followers of the operation: for each change of one. */
export function announceOperation(tx: Transaction, operationId: string): void {
  notifyAfterCommit(tx, `${OPERATIONS_CHANNEL} ${operationId}`);
}
