/** The schema of a database with the extension: how its tables are spread over the nodes, and how migrations change them. */
import pg from 'pg';
import { StartRefused } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { OpenSession } from '../sessions/session.ts';
import type { Table } from '../tables.ts';
import { castEnums } from './enum-casts.ts';
import { loadParser, parseSql } from './parser.ts';
import { createShardFunctions } from './shard-functions.ts';
import {
  ANCHOR,
  placementByColumns,
  placementOf,
  type TablePlacement,
  tablesToSpread,
} from './table-placement.ts';

type Session = Pick<OpenSession, 'query'>;

/** Progress of spreading: the table that was spread last, and how long it took. */
export interface SpreadTable {
  table: Table;
  placement: TablePlacement;
  durationMs: number;
  /** The number of tables that are spread, of `count`. */
  done: number;
  count: number;
}

export interface ClusterSchema {
  /** True if the tables are spread over the nodes. */
  isDistributed: boolean;
  /** Runs the SQL of a migration, inside its transaction. */
  run(sql: string): Promise<unknown>;
  /**
   * Must run after all migrations. Spreads an empty database. Returns false for a database with rows that is not spread: it
   * keeps working on the coordinator, because spreading blocks all use until an operator runs `npm run distribute`.
   */
  settle(log: Log): Promise<boolean>;
  /** Spreads the tables that are not spread yet, all of them or none. */
  spread(onSpread: (table: SpreadTable) => void): Promise<void>;
}

/** Null if the database is on a single server. Prepares the session for changes of the schema. */
export async function findClusterSchema(session: OpenSession): Promise<ClusterSchema | null> {
  if (!(await hasExtension(session))) return null;
  // Several statements of a transaction change the same shards. Triggers change rows of their own project only.
  await session.query(`set citus.multi_shard_modify_mode = 'sequential'`);
  await session.query('set citus.enable_unsafe_triggers = on');
  const isDistributed = await isAnchorSpread(session);
  return {
    isDistributed,
    run: (sql) => (isDistributed ? runSpreading(session, sql) : session.query(sql)),
    async settle(log) {
      if (!isDistributed && (await hasRows(session))) {
        log.warn({ command: 'npm run distribute' }, 'database.not_distributed');
        return false;
      }
      await inTransaction(session, (table, placement) =>
        log.debug({ table, place: placement }, 'table.placed'),
      );
      return true;
    },
    async spread(onSpread) {
      const count = tablesToSpread().length;
      let done = 0;
      await inTransaction(session, (table, placement, durationMs) => {
        done += 1;
        onSpread({ table, placement, durationMs, done, count });
      });
      // The coordinator still has its own copies of the rows.
      await freeLocalRows(session);
    },
  };
}

/** True if the database is the coordinator of a cluster. */
export async function hasExtension(session: Session): Promise<boolean> {
  const { rows } = await session.query(`select from pg_extension where extname = 'citus'`);
  return rows.length > 0;
}

/** True if the database is a cluster, over whose nodes its tables are spread. */
export async function isSpread(session: Session): Promise<boolean> {
  return (await hasExtension(session)) && (await isAnchorSpread(session));
}

async function isAnchorSpread(session: Session): Promise<boolean> {
  const { rows } = await session.query(
    'select from pg_dist_partition where logicalrelid = to_regclass($1)',
    [pg.escapeIdentifier(ANCHOR)],
  );
  return rows.length > 0;
}

async function hasRows(session: Session): Promise<boolean> {
  const { rows } = await session.query('select from "Org" limit 1');
  return rows.length > 0;
}

/** A table that the SQL creates is spread before the next statement, which may let it refer to others. */
async function runSpreading(session: OpenSession, sql: string): Promise<void> {
  await loadParser();
  const { stmts = [] } = parseSql(sql) as { stmts?: Statement[] };
  // The parser counts bytes.
  const bytes = Buffer.from(sql);
  for (const { stmt, stmt_location: from = 0, stmt_len: length } of stmts) {
    const until = length === undefined ? undefined : from + length;
    await session.query(bytes.subarray(from, until).toString());
    const table = stmt.CreateStmt?.relation.relname;
    if (table !== undefined) await spreadNewTable(session, table);
  }
}

interface Statement {
  stmt: { CreateStmt?: { relation: { relname: string } } };
  stmt_location?: number;
  stmt_len?: number;
}

type OnTable = (table: Table, placement: TablePlacement, durationMs: number) => void;

async function inTransaction(session: Session, onTable: OnTable): Promise<void> {
  await session.query('begin');
  try {
    await spreadAll(session, onTable);
    await session.query('commit');
  } catch (error) {
    await session.query('rollback');
    throw error;
  }
}

/** Locks each table against reads and changes while its rows move. Tables that are already spread are skipped. */
async function spreadAll(session: Session, onTable: OnTable): Promise<void> {
  await refuseAlone(session);
  await castEnums(session);
  const known = await spreadTables(session);
  const missing = tablesToSpread().filter((table) => !known.has(table));
  if (missing.length > 0) {
    const attached = await attachedTo(session, missing);
    for (const { drop } of attached) await session.query(drop);
    for (const table of missing) {
      const beganMs = performance.now();
      const placement = placementOf(table);
      await spreadTable(session, table, placement);
      onTable(table, placement, performance.now() - beganMs);
    }
    await shareFunctions(session);
    for (const { create } of attached) await session.query(create);
  }
  await createShardFunctions(session);
}

/** By the table's columns, since a later migration may drop it again, so that nothing else here knows it. */
async function spreadNewTable(session: Session, table: string): Promise<void> {
  const { rows } = await session.query(
    `select from pg_attribute where attrelid = to_regclass($1) and attname = 'projectId'`,
    [pg.escapeIdentifier(table)],
  );
  const placement = placementByColumns(table, { hasProject: rows.length > 0 });
  if (placement !== 'local') await spreadTable(session, table, placement);
}

/** Frees the space of the coordinator's own copies of the rows. */
async function freeLocalRows(session: Session): Promise<void> {
  await session.query(
    'select truncate_local_data_after_distributing_table(logicalrelid) from pg_dist_partition where logicalrelid = any($1::regclass[])',
    [tablesToSpread().map((table) => pg.escapeIdentifier(table))],
  );
}

async function spreadTable(
  session: Session,
  table: string,
  placement: TablePlacement,
): Promise<void> {
  const name = pg.escapeIdentifier(table);
  if (placement === 'reference') {
    await session.query('select create_reference_table($1)', [name]);
  } else if (table === ANCHOR) {
    await session.query(`select create_distributed_table($1, 'projectId')`, [name]);
  } else {
    await session.query(`select create_distributed_table($1, 'projectId', colocate_with => $2)`, [
      name,
      pg.escapeIdentifier(ANCHOR),
    ]);
  }
}

/** Throws if the coordinator is no node: local tables refer to reference tables, which must exist there. */
async function refuseAlone(session: Session): Promise<void> {
  const { rows } = await session.query('select from pg_dist_node where groupid = 0');
  if (rows.length > 0) return;
  throw new StartRefused(
    "The coordinator of the Citus cluster has no address that its nodes know: run `select citus_set_coordinator_host('<its host>')` in the database first.",
  );
}

async function spreadTables(session: Session): Promise<Set<string>> {
  const { rows } = await session.query<{ name: string }>(
    `select c.relname as "name" from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
     where p.partmethod <> 'n' or p.repmodel = 't'`,
  );
  return new Set(rows.map(({ name }) => name));
}

/** Copies functions to the nodes. Triggers run there and call functions that Citus does not copy with a table. */
async function shareFunctions(session: Session): Promise<void> {
  await session.query(
    `select create_distributed_function(f.oid::regprocedure) from pg_proc f
     where f.pronamespace = 'public'::regnamespace
       and not exists (select from pg_depend d where d.objid = f.oid and d.deptype = 'e')
       and not exists (select from pg_dist_object o where o.classid = 'pg_proc'::regclass and o.objid = f.oid)`,
  );
}

/** A foreign key or a trigger. Both are dropped during the move: keys prevent it, and triggers would run for every row. */
interface Attached {
  drop: string;
  create: string;
}

async function attachedTo(session: Session, tables: readonly Table[]): Promise<Attached[]> {
  const { rows } = await session.query<Attached>(
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
