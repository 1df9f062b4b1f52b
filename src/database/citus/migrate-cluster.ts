/** How migrations change a database whose tables are spread over a cluster, and when a new one is spread. */
import type { Log } from '../../log.ts';
import type { OpenSession } from '../sessions/session.ts';
import { splitStatements } from './split-statements.ts';
import {
  distribute,
  isCitus,
  isDistributed,
  placeNewTable,
  prepareSession,
} from './spread-tables.ts';

const NEW_TABLE = /^create\s+(?:unlogged\s+)?table\s+(?:if\s+not\s+exists\s+)?"(\w+)"/i;

export interface Cluster {
  /** Its tables are spread. */
  isDistributed: boolean;
  /** Runs the SQL of a migration, inside its transaction. */
  run(sql: string): Promise<unknown>;
}

/** Null if the database is on a single server. */
export async function findCluster(session: OpenSession): Promise<Cluster | null> {
  if (!(await isCitus(session))) return null;
  await prepareSession(session);
  const isSpread = await isDistributed(session);
  return {
    isDistributed: isSpread,
    run: (sql) => (isSpread ? runPlacing(session, sql) : session.query(sql)),
  };
}

/** A table that the SQL makes has its place before the next statement, which may let it refer to others. */
async function runPlacing(session: OpenSession, sql: string): Promise<void> {
  for (const statement of splitStatements(sql)) {
    await session.query(statement);
    const [, table] = NEW_TABLE.exec(statement) ?? [];
    if (table) await placeNewTable(session, table);
  }
}

/**
 * After all migrations. An empty database is spread. One that has grown up on a single server works as before, until its
 * operator spreads it: that takes time, and nobody can use it meanwhile. Returns whether it is spread.
 */
export async function settle(session: OpenSession, cluster: Cluster, log: Log): Promise<boolean> {
  if (!cluster.isDistributed && (await hasRows(session))) {
    log.warn({ command: 'npm run distribute' }, 'database.not_distributed');
    return false;
  }
  await session.query('begin');
  try {
    await distribute(session, ({ table, place }) => log.debug({ table, place }, 'table.placed'));
    await session.query('commit');
  } catch (error) {
    await session.query('rollback');
    throw error;
  }
  return true;
}

async function hasRows(session: OpenSession): Promise<boolean> {
  const { rows } = await session.query('select from "Org" limit 1');
  return rows.length > 0;
}
