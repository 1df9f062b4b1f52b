/** Sends notifications after the commit of a transaction. The statements of database/statements/hot/ send their own. */
import {
  ERASURES_CHANNEL,
  EVENTS_CHANNEL,
  OPERATIONS_CHANNEL,
  SUBSCRIPTIONS_CHANNEL,
  WORK_CHANNEL,
} from '../database/transactions/notification-channels.ts';
import { notifyAfterCommit, type Transaction } from '../database/transactions/transaction.ts';

/** Wakes followers of the project's events, and delivery workers. Call it for each recorded event. */
export function notifyEvents(tx: Transaction, projectId: string): void {
  notifyAfterCommit(tx, `${EVENTS_CHANNEL} ${projectId}`);
}

/** Notifies all processes that rows of an erased subject must be hidden. */
export function notifyErasure(tx: Transaction): void {
  notifyAfterCommit(tx, `${ERASURES_CHANNEL} `);
}

/** Wakes followers of a stream that ends. */
export function notifyStreamEnd(tx: Transaction, destinationId: string): void {
  notifyAfterCommit(tx, `${EVENTS_CHANNEL} ${destinationId}`);
}

/** Wakes the workers that maintain subscriptions. */
export function notifySubscriptions(tx: Transaction): void {
  notifyAfterCommit(tx, `${SUBSCRIPTIONS_CHANNEL} `);
}

/** Wakes followers of the operation. Call it for each change of an operation. */
export function notifyOperation(tx: Transaction, operationId: string): void {
  notifyAfterCommit(tx, `${OPERATIONS_CHANNEL} ${operationId}`);
}

/** Wakes the alarm of upkeep, like scheduled reads. Call it for rows that are due immediately. */
export function notifyUpkeep(tx: Transaction): void {
  notifyWork(tx, 'upkeep');
}

/** Wakes the workers of a kind of background work. Call it for rows that are due immediately. */
export function notifyWork(tx: Transaction, kind: string): void {
  notifyAfterCommit(tx, `${WORK_CHANNEL} ${kind}`);
}
