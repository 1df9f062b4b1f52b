/** Transactions, repeated if the database demands it (deadlock, serialization). */

import type { Outages } from '../connect/outages.ts';
import { isRenewed, isRepeatable, TRIES_MAX } from '../connect/repeatable-errors.ts';
import type { Prisma, PrismaClient } from '../generated/client.ts';
import type { Notification, Notify } from './notifications.ts';

/** The only client inside a transaction, because the embedded database has one connection. */
export type Transaction = Prisma.TransactionClient;

/** The parts of a database that a transaction needs. */
interface TransactionDatabase {
  prisma: PrismaClient;
  outages: Outages;
  notify: Notify;
}

/**
 * Limits in milliseconds: for getting a connection (`maxWait`), and then for the transaction (`timeout`). Both are far
 * above what any transaction of the gateway takes.
 */
export const TRANSACTION_OPTIONS = { maxWait: 5_000, timeout: 10_000 };

/**
 * The number of repetitions because a migration has made prepared statements obsolete, in addition to TRIES_MAX. Before
 * each of them, the session has renewed a statement of its connection.
 */
const RENEWALS_MAX = 50;

const NOTIFICATIONS = new WeakMap<object, Notification[]>();

/** Sends the notifications after the commit of a transaction of `inTransaction`. */
export function notifyAfterCommit(tx: object, ...notifications: readonly Notification[]): void {
  const pending = NOTIFICATIONS.get(tx);
  if (!pending) throw new Error('Bug: notifications outside a transaction of inTransaction.');
  pending.push(...notifications);
}

/**
 * Runs the work in one transaction: all of it or nothing. The work may run more than once. `timeout` in milliseconds
 * replaces that of TRANSACTION_OPTIONS.
 */
export async function inTransaction<T>(
  { prisma, outages, notify }: TransactionDatabase,
  work: (tx: Transaction) => Promise<T>,
  { timeout = TRANSACTION_OPTIONS.timeout }: { timeout?: number } = {},
): Promise<T> {
  let tries = 1;
  let renewals = 0;
  for (;;) {
    const notifications: Notification[] = [];
    try {
      const result = await prisma.$transaction(
        (tx) => {
          NOTIFICATIONS.set(tx, notifications);
          return work(tx);
        },
        { ...TRANSACTION_OPTIONS, timeout },
      );
      notify(notifications);
      return result;
    } catch (error) {
      if (renewals < RENEWALS_MAX && isRenewed(error)) renewals += 1;
      else if (tries < TRIES_MAX && isRepeatable(error)) tries += 1;
      else throw outages.toCallerError(error);
    }
  }
}
