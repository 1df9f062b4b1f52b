/** The clients of a database: Prisma, and the hot reads and changes, over the same sessions. */
import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { PrismaClient } from './generated/client.ts';
import { createSharedChanges, type SharedChanges } from './hot/shared-changes.ts';
import { NotificationSender, type SendNotifications } from './notifications/notification-sender.ts';
import type { Notify } from './notifications/notifications.ts';
import { type NameStatement, readsInBursts, type Servers } from './reads/read-bursts.ts';
import { createRows, type Rows, type RunQuery, statementName } from './rows.ts';
import type { Pooler } from './sessions/session.ts';
import { TRANSACTION_OPTIONS } from './transaction.ts';

export interface Clients extends AsyncDisposable {
  prisma: PrismaClient;
  rows: Rows;
  changes: SharedChanges;
  tell: Notify;
}

export interface ClientsOptions {
  pooler?: Pooler | undefined;
  servers?: Servers | undefined;
  sendHints: SendNotifications;
}

/** The pool's clients must be created with `pipeline`, and read columns by COLUMN_TYPES. */
export function clientsOf(pool: pg.Pool, { pooler, servers, sendHints }: ClientsOptions): Clients {
  const nameOf = statementNames(pooler);
  const prisma = new PrismaClient({
    adapter: new PrismaPg(pool, { statementNameGenerator: ({ sql }) => nameOf(sql) as string }),
    transactionOptions: TRANSACTION_OPTIONS,
  });
  const run = queriesBy(pool, nameOf);
  const notifications = new NotificationSender(sendHints);
  return {
    prisma,
    rows: rowsBy(pool, nameOf, servers),
    changes: createSharedChanges(run, notifications.tell, { isDistributed: servers !== undefined }),
    tell: notifications.tell,
    async [Symbol.asyncDispose]() {
      await notifications[Symbol.asyncDispose]();
      await prisma.$disconnect();
    },
  };
}

/** Reads only. The pool has the same requirements as that of `clientsOf`. */
export function rowsBy(
  pool: pg.Pool,
  nameOf: NameStatement = statementName,
  servers?: Servers,
): Rows {
  const bursts = readsInBursts(pool, nameOf, servers);
  return createRows(queriesBy(pool, nameOf), { short: bursts.each, shared: bursts.shared });
}

/** Runs statements on a pool whose clients read columns by COLUMN_TYPES. */
export function queriesBy(pool: pg.Pool, nameOf: NameStatement): RunQuery {
  return async (text, values, rowMode) => {
    const config = { name: nameOf(text), text, values, ...(rowMode && { rowMode }) };
    const { rows } = await pool.query(config);
    return rows;
  };
}

/**
 * With names, every connection prepares a text once. Behind a pooler that loses prepared statements, it is prepared for
 * each use.
 */
export function statementNames(pooler?: Pooler): NameStatement {
  return pooler && !pooler.keepsStatements ? () => undefined : statementName;
}
