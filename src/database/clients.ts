/** By what a database is read and written: Prisma, and beside it hot reads and changes, over the same sessions. */
import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { createSharedChanges, type SharedChanges } from './changes/shared-changes.ts';
import { PrismaClient } from './generated/client.ts';
import { readsInBursts } from './reads/read-bursts.ts';
import { createRows, type Rows, type RunQuery, statementName } from './rows.ts';
import { TRANSACTION_OPTIONS } from './transaction.ts';

export interface Clients {
  prisma: PrismaClient;
  rows: Rows;
  changes: SharedChanges;
}

/** The pool's clients must be made with `pipeline`, and read columns by COLUMN_TYPES. */
export function clientsOf(pool: pg.Pool): Clients {
  const prisma = new PrismaClient({
    adapter: new PrismaPg(pool, { statementNameGenerator: ({ sql }) => statementName(sql) }),
    transactionOptions: TRANSACTION_OPTIONS,
  });
  const run: RunQuery = async (text, values, rowMode) => {
    const config = { name: statementName(text), text, values, ...(rowMode && { rowMode }) };
    const { rows } = await pool.query(config);
    return rows as never;
  };
  const bursts = readsInBursts(pool);
  return {
    prisma,
    rows: createRows(run, { short: bursts.each, shared: bursts.shared }),
    changes: createSharedChanges(run),
  };
}
