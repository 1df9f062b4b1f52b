/** Transactions, repeated if the database demands it (deadlock, serialization). */
import pg from 'pg';
import type { Database } from './database.ts';
import { Prisma } from './generated/client.ts';
import type { Notification } from './notifications/notifications.ts';
import { RENEWED_CODE } from './sessions/session.ts';

/** The only client inside a transaction, because the embedded database has one connection. */
export type Transaction = Prisma.TransactionClient;

/**
 * Limits in milliseconds: for getting a connection (`maxWait`), and then for the transaction (`timeout`). Both are far
 * above what any transaction of the gateway takes.
 */
export const TRANSACTION_OPTIONS = { maxWait: 5_000, timeout: 10_000 };

/** The number of attempts for work that the database rolls back. */
export const TRIES_MAX = 4;
/** Serialization failures and deadlocks: Prisma's code, then their SQLSTATEs. */
const REPEATABLE_CODES = ['P2034', '40001', '40P01'];
/**
 * The SQLSTATE of a prepared statement that a migration has made obsolete. A cluster reports it without the details by
 * which a session recognizes such a statement.
 */
const OUTDATED_CODE = '0A000';
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

/** Runs a statement of `database/hot/` in a transaction, and sends its notifications after the commit. */
export async function changeAndNotify<R>(
  tx: Transaction,
  text: string,
  values: readonly unknown[],
): Promise<R[]> {
  const rows = await tx.$queryRawUnsafe<(R & { notifications?: Notification[] | null })[]>(
    text,
    ...values,
  );
  notifyAfterCommit(tx, ...(rows[0]?.notifications ?? []));
  return rows;
}

/**
 * Runs the work in one transaction: all of it or nothing. The work may run more than once. `timeout` in milliseconds
 * replaces that of TRANSACTION_OPTIONS.
 */
export async function inTransaction<T>(
  { prisma, outages, notify }: Pick<Database, 'prisma' | 'outages' | 'notify'>,
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

/** True if the database has undone the work because of concurrent work, so that it may be repeated. */
export function isRepeatable(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return REPEATABLE_CODES.includes(error.code ?? '');
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return false;
  const codes = [...REPEATABLE_CODES, OUTDATED_CODE];
  return [error.code, findSqlState(error)].some((code) => codes.includes(code ?? ''));
}

/** True if the work failed because of an outdated statement, which the session has renewed. */
function isRenewed(error: unknown): boolean {
  return (
    error instanceof Prisma.PrismaClientKnownRequestError && findSqlState(error) === RENEWED_CODE
  );
}

/** The SQLSTATE of a statement that Prisma has sent. Undefined for Prisma's own errors. */
function findSqlState({ meta }: Prisma.PrismaClientKnownRequestError): string | undefined {
  const { driverAdapterError } = (meta ?? {}) as {
    driverAdapterError?: { cause?: { originalCode?: string } };
  };
  return driverAdapterError?.cause?.originalCode;
}
