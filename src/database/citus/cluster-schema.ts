/**
 * The schema of a database with the Citus extension: how its tables are distributed over the nodes, and how migrations
 * change them. Distributing a table shards it by project, or makes it a reference table.
 */
import pg from 'pg';
import { StartRefused } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { OpenSession } from '../sessions/session.ts';
import { createEnumCasts, createShardFunction, shareFunctions } from './cluster-functions.ts';
import { ANCHOR, derivePlacement, PLACEMENTS, type TablePlacement } from './table-placement.ts';

type QuerySession = Pick<OpenSession, 'query'>;

interface DistributedTable {
  table: string;
  placement: TablePlacement;
  durationMs: number;
  /** The position of the table among the `count` tables to distribute. */
  number: number;
  count: number;
}

type OnDistributed = (table: DistributedTable) => void;

export interface ClusterSchema {
  /** Runs the SQL of a migration, inside its transaction. */
  run(sql: string): Promise<unknown>;
  /**
   * Must run after all migrations. Distributes an empty database. Returns false for a database with rows that is not
   * distributed: distributing blocks all use, so it waits until an operator runs `npm run distribute`.
   */
  distributeIfEmpty(log: Log): Promise<boolean>;
  /** Distributes the tables that are not distributed yet, all of them or none. */
  distribute(onDistributed: OnDistributed): Promise<void>;
}

/** Prepares the session for changes of the schema. Returns null if the database is on a single server. */
export async function findClusterSchema(session: OpenSession): Promise<ClusterSchema | null> {
  if (!(await isCluster(session))) return null;
  // Several statements of a transaction change the same shards. Triggers change rows of their own project only.
  await session.query(`set citus.multi_shard_modify_mode = 'sequential'`);
  await session.query('set citus.enable_unsafe_triggers = on');
  const isAlreadyDistributed = await isAnchorDistributed(session);
  return {
    run: (sql) => (isAlreadyDistributed ? runMigration(session, sql) : session.query(sql)),
    async distributeIfEmpty(log) {
      if (!isAlreadyDistributed && (await hasRows(session))) {
        log.warn({ command: 'npm run distribute' }, 'database.not_distributed');
        return false;
      }
      await distributeAll(session, ({ table, placement }) =>
        log.debug({ table, place: placement }, 'table.distributed'),
      );
      return true;
    },
    async distribute(onDistributed) {
      await distributeAll(session, onDistributed);
      await truncateLocalCopies(session);
    },
  };
}

/** True if the database is the coordinator of a cluster. */
export async function isCluster(session: QuerySession): Promise<boolean> {
  const { rows } = await session.query(`select from pg_extension where extname = 'citus'`);
  return rows.length > 0;
}

/** True if the database is a cluster whose tables are distributed over its nodes. */
export async function isDistributed(session: QuerySession): Promise<boolean> {
  return (await isCluster(session)) && (await isAnchorDistributed(session));
}

async function isAnchorDistributed(session: QuerySession): Promise<boolean> {
  const { rows } = await session.query(
    'select from pg_dist_partition where logicalrelid = to_regclass($1)',
    [pg.escapeIdentifier(ANCHOR)],
  );
  return rows.length > 0;
}

async function hasRows(session: QuerySession): Promise<boolean> {
  const { rows } = await session.query('select from "Org" limit 1');
  return rows.length > 0;
}

interface ParsedMigrationStatement {
  stmt: { CreateStmt?: { relation: { relname: string } } };
  stmt_location?: number;
  stmt_len?: number;
}

/** Distributes each table that the SQL creates before the next statement, which may reference the table. */
async function runMigration(session: QuerySession, sql: string): Promise<void> {
  const { parse } = await import('libpg-query');
  const { stmts = [] }: { stmts?: ParsedMigrationStatement[] } = await parse(sql);
  // The parser counts bytes.
  const bytes = Buffer.from(sql);
  for (const { stmt, stmt_location: start = 0, stmt_len: length } of stmts) {
    const end = length === undefined ? undefined : start + length;
    await session.query(bytes.subarray(start, end).toString());
    const table = stmt.CreateStmt?.relation.relname;
    if (table !== undefined) await distributeNewTable(session, table);
  }
}

/** Derives the placement from the columns, because the current schema may lack a table that a later migration drops. */
async function distributeNewTable(session: QuerySession, table: string): Promise<void> {
  const { rows } = await session.query(
    `select from pg_attribute where attrelid = to_regclass($1) and attname = 'projectId'`,
    [pg.escapeIdentifier(table)],
  );
  const placement = derivePlacement(table, { hasProject: rows.length > 0 });
  if (placement !== 'local') await distributeTable(session, table, placement);
}

async function distributeAll(session: QuerySession, onDistributed: OnDistributed): Promise<void> {
  await session.query('begin');
  try {
    await requireCoordinatorNode(session);
    await createEnumCasts(session);
    await distributeTables(session, onDistributed);
    await createShardFunction(session);
    await session.query('commit');
  } catch (error) {
    await session.query('rollback');
    throw error;
  }
}

/** Throws unless the coordinator is a node: local tables reference reference tables, which must exist there. */
async function requireCoordinatorNode(session: QuerySession): Promise<void> {
  const { rows } = await session.query('select from pg_dist_node where groupid = 0');
  if (rows.length > 0) return;
  throw new StartRefused(
    "The coordinator of the Citus cluster is not registered with its nodes: run `select citus_set_coordinator_host('<its host>')` in the database first.",
  );
}

/** Skips tables that are distributed. Locks each other table against reads and changes while its rows move. */
async function distributeTables(
  session: QuerySession,
  onDistributed: OnDistributed,
): Promise<void> {
  const distributedNames = await listDistributedTables(session);
  const tables = [...PLACEMENTS].filter(
    ([table, placement]) => placement !== 'local' && !distributedNames.has(table),
  );
  if (tables.length === 0) return;
  const dependencies = await listDependencies(
    session,
    tables.map(([table]) => table),
  );
  for (const { drop } of dependencies) await session.query(drop);
  for (const [index, [table, placement]] of tables.entries()) {
    const startMs = performance.now();
    await distributeTable(session, table, placement);
    const durationMs = performance.now() - startMs;
    onDistributed({ table, placement, durationMs, number: index + 1, count: tables.length });
  }
  await shareFunctions(session);
  for (const { create } of dependencies) await session.query(create);
}

/** Excludes local tables that Citus lists because a reference table references them. */
const IS_DISTRIBUTED = "(partmethod <> 'n' or repmodel = 't')";

async function listDistributedTables(session: QuerySession): Promise<Set<string>> {
  const { rows } = await session.query<{ name: string }>(
    `select relname as "name" from pg_dist_partition join pg_class on pg_class.oid = logicalrelid
     where ${IS_DISTRIBUTED}`,
  );
  return new Set(rows.map(({ name }) => name));
}

/**
 * A foreign key or a trigger. Both are dropped while rows move: foreign keys prevent the move, and triggers would run for
 * every row.
 */
interface TableDependency {
  drop: string;
  create: string;
}

async function listDependencies(
  session: QuerySession,
  tables: readonly string[],
): Promise<TableDependency[]> {
  const { rows } = await session.query<TableDependency>(
    `with moved as (select unnest($1::regclass[])::oid as "id")
     select format('alter table %s drop constraint %I', conrelid::regclass, conname) as "drop",
       format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as "create"
     from pg_constraint where contype = 'f' and (conrelid in (table moved) or confrelid in (table moved))
     union all
     select format('drop trigger %I on %s', tgname, tgrelid::regclass), pg_get_triggerdef(oid)
     from pg_trigger where not tgisinternal and tgrelid in (table moved)`,
    [tables.map((table) => pg.escapeIdentifier(table))],
  );
  return rows;
}

async function distributeTable(
  session: QuerySession,
  table: string,
  placement: TablePlacement,
): Promise<void> {
  const name = pg.escapeIdentifier(table);
  if (placement === 'reference') {
    await session.query('select create_reference_table($1)', [name]);
  } else {
    const colocatedName = table === ANCHOR ? 'default' : pg.escapeIdentifier(ANCHOR);
    await session.query(`select create_distributed_table($1, 'projectId', colocate_with => $2)`, [
      name,
      colocatedName,
    ]);
  }
}

/** Frees the space of the rows that the coordinator still has after it copied them to the nodes. */
async function truncateLocalCopies(session: QuerySession): Promise<void> {
  await session.query(
    `select truncate_local_data_after_distributing_table(logicalrelid) from pg_dist_partition where ${IS_DISTRIBUTED}`,
  );
}
