/** What is done around each statement of a PGlite, whoever sends it: Prisma, hot reads, the job queue. */
import type { PGlite, Transaction } from '@electric-sql/pglite';

type Statements = Pick<Transaction, 'query' | 'exec'>;

export type Around = <T>(statement: () => Promise<T>) => Promise<T>;

/** Changes the instance, which is handed on as it is. */
export function aroundStatements(pglite: PGlite, around: Around): void {
  const transaction = pglite.transaction.bind(pglite);
  const wrapped = <T extends Statements>(target: T): Statements => {
    const { query, exec } = { query: target.query.bind(target), exec: target.exec.bind(target) };
    return {
      query: (text, values, options) => around(() => query(text, values, options)) as never,
      exec: (text, options) => around(() => exec(text, options)),
    };
  };
  Object.assign(pglite, wrapped(pglite), {
    transaction: <T>(work: (tx: Transaction) => Promise<T>) =>
      transaction((tx) => work(Object.assign(Object.create(tx), wrapped(tx)))),
  });
}
