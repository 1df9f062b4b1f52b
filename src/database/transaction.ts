/** Transactions, repeated if the database demands it (deadlock, serialization). */
import pg from 'pg';
import type { Database } from './database.ts';
import { Prisma } from './generated/client.ts';

/** Inside a transaction only this is used: the embedded database has one connection. */
export type Transaction = Prisma.TransactionClient;

/** The times to get a connection and to finish: both far above what any transaction of the gateway takes. */
export const TRANSACTION_OPTIONS = { maxWait: 5_000, timeout: 10_000 };

/** How often work is begun that the database undoes. */
export const TRIES_MAX = 4;
/** Prisma's own code, and the ones that raw statements bring through. */
const REPEATABLE = ['P2034', '40001', '40P01'];

/** Runs the work in one transaction: all of it or nothing. The work may run more than once. */
export async function inTransaction<T>(
  { prisma, outages }: Database,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await prisma.$transaction(work);
    } catch (error) {
      if (tries >= TRIES_MAX || !isRepeatable(error)) throw outages.told(error);
    }
  }
}

/** The database has undone the work for the sake of others, and asks for it again. */
export function isRepeatable(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return REPEATABLE.includes(error.code ?? '');
  return (
    error instanceof Prisma.PrismaClientKnownRequestError &&
    (REPEATABLE.includes(error.code) || REPEATABLE.some((code) => error.message.includes(code)))
  );
}
