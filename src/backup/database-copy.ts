/** A copy of a whole database as a stream: its source, the rows of each table, and the totals. */
import { isDistributed } from '../database/cluster/cluster.ts';
import { hasRunningGateways } from '../database/connect/processes.ts';
import type { OpenDatabaseSession } from '../database/connect/sessions/database-session.ts';
import { StartRefused } from '../kernel/errors.ts';
import {
  type Extent,
  listTables,
  measureTable,
  prepareSession,
  quoteName,
} from './copied-tables.ts';

export interface CopyHead {
  /** The migrations of the database, in order. */
  migrations: string[];
  /** When the copy was taken. It contains no later changes. */
  takenTime: string;
}

/** Some rows of a table, each as PostgreSQL's text of a composite value, which is exact for every type. */
export interface CopyPart {
  table: string;
  columns: string[];
  rows: string[];
}

export interface CopyTotals {
  tables: Record<string, Extent>;
}

export interface Copy {
  head: CopyHead;
  /** The rows. Returns the totals at the end. */
  parts: AsyncGenerator<CopyPart, CopyTotals>;
}

/** The maximum number of rows in memory. The body of a delivery can make a row large. */
const PART_ROWS = 200;

/** Begins a copy. The caller must read all parts or close the connection. */
export async function takeCopy(session: OpenDatabaseSession): Promise<Copy> {
  await requireOneSnapshot(session);
  await prepareSession(session);
  await session.query('begin isolation level repeatable read read only');
  const migrations = await listAppliedMigrations(session);
  const { rows: clock } = await session.query<{ time: string }>(
    `select to_char(now(), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "time"`,
  );
  const head = { migrations, takenTime: clock[0]?.time ?? '' };
  return { head, parts: readParts(session) };
}

/** Returns the names of the database's migrations, in order. */
export async function listAppliedMigrations(session: OpenDatabaseSession): Promise<string[]> {
  const { rows } = await session.query<{ name: string }>(
    `select migration_name as "name" from "_prisma_migrations"
     where rolled_back_at is null and finished_at is not null order by migration_name`,
  );
  return rows.map(({ name }) => name);
}

/** The nodes of a cluster have no common snapshot while rows change. */
async function requireOneSnapshot(session: OpenDatabaseSession): Promise<void> {
  if (!(await isDistributed(session)) || !(await hasRunningGateways(session))) return;
  throw new StartRefused(
    'A gateway runs on the cluster, whose nodes would be copied as of different moments: stop it first, or back up each node as docs/scale.md says.',
  );
}

async function* readParts(session: OpenDatabaseSession): AsyncGenerator<CopyPart, CopyTotals> {
  const tables: CopyTotals['tables'] = {};
  for (const table of await listTables(session)) {
    const columns = table.columns.map(({ name }) => name);
    tables[table.name] = await measureTable(session, table);
    await session.query(
      `declare "copied" no scroll cursor for select table_row::text from ${quoteName(table.name)} table_row`,
    );
    const text = `fetch ${PART_ROWS} from "copied"`;
    for (;;) {
      const { rows } = await session.query<[string]>({ text, rowMode: 'array' });
      if (rows.length === 0) break;
      yield { table: table.name, columns, rows: rows.map(([row]) => row) };
    }
    await session.query('close "copied"');
  }
  await session.query('commit');
  return { tables };
}
