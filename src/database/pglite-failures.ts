/** PGlite whose failures are told as failures of the database, to whoever asks it: Prisma, hot reads, the job queue. */
import type { PGlite, Transaction } from '@electric-sql/pglite';
import type { Outages } from './outages.ts';

type Statements = Pick<Transaction, 'query' | 'exec'>;

/** Changes the instance, which is handed on as it is. */
export function tellFailures(pglite: PGlite, outages: Outages): void {
  const transaction = pglite.transaction.bind(pglite);
  const telling = <T extends Statements>(target: T): Statements => {
    const { query, exec } = { query: target.query.bind(target), exec: target.exec.bind(target) };
    const told = (error: unknown): never => {
      throw outages.told(error);
    };
    return {
      query: (text, values, options) => query(text, values, options).catch(told) as never,
      exec: (text, options) => exec(text, options).catch(told),
    };
  };
  Object.assign(pglite, telling(pglite), {
    transaction: <T>(work: (tx: Transaction) => Promise<T>) =>
      transaction((tx) => work(Object.assign(Object.create(tx), telling(tx)))),
  });
}
