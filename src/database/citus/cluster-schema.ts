/**
 * The schema of a database with the Citus extension: how its tables are spread over the nodes, and how migrations change
 * them. Spreading a table distributes it by project, or makes it a reference table.
 */
import pg from 'pg';
import { StartRefused } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { OpenSession } from '../sessions/session.ts';
import type { Table } from '../tables.ts';
import { loadParser, parseSql } from './statement-plan.ts';
import {
  ANCHOR,
  derivePlacement,
  getPlacement,
  listTablesToSpread,
  type TablePlacement,
} from './table-placement.ts';

type QuerySession = Pick<OpenSession, 'query'>;

/** The progress of spreading: the table that was spread last, and how long it took. */
interface SpreadTable {
  table: Table;
  placement: TablePlacement;
  durationMs: number;
  /** The number of tables that are spread, of `count`. */
  spreadCount: number;
  count: number;
}

export interface ClusterSchema {
  /** True if the tables are spread over the nodes. */
  isDistributed: boolean;
  /** Runs the SQL of a migration, inside its transaction. */
  run(sql: string): Promise<unknown>;
  /**
   * Must run after all migrations. Spreads an empty database. Returns false for a database with rows that is not spread:
   * spreading blocks all use, so it stays on the coordinator until an operator runs `npm run distribute`.
   */
  spreadIfEmpty(log: Log): Promise<boolean>;
  /** Spreads the tables that are not spread yet, all of them or none. */
  spread(onSpread: (table: SpreadTable) => void): Promise<void>;
}

/** Prepares the session for changes of the schema. Returns null if the database is on a single server. */
export async function findClusterSchema(session: OpenSession): Promise<ClusterSchema | null> {
  if (!(await hasExtension(session))) return null;
  // Several statements of a transaction change the same shards. Triggers change rows of their own project only.
  await session.query(`set citus.multi_shard_modify_mode = 'sequential'`);
  await session.query('set citus.enable_unsafe_triggers = on');
  const isDistributed = await isAnchorSpread(session);
  return {
    isDistributed,
    run: (sql) => (isDistributed ? runSpreading(session, sql) : session.query(sql)),
    async spreadIfEmpty(log) {
      if (!isDistributed && (await hasRows(session))) {
        log.warn({ command: 'npm run distribute' }, 'database.not_distributed');
        return false;
      }
      await spreadInTransaction(session, (table, placement) =>
        log.debug({ table, place: placement }, 'table.distributed'),
      );
      return true;
    },
    async spread(onSpread) {
      const count = listTablesToSpread().length;
      let spreadCount = 0;
      await spreadInTransaction(session, (table, placement, durationMs) => {
        spreadCount += 1;
        onSpread({ table, placement, durationMs, spreadCount, count });
      });
      // The coordinator still has its own copies of the rows.
      await freeLocalRows(session);
    },
  };
}

/** True if the database is the coordinator of a cluster. */
export async function hasExtension(session: QuerySession): Promise<boolean> {
  const { rows } = await session.query(`select from pg_extension where extname = 'citus'`);
  return rows.length > 0;
}

/** True if the database is a cluster, over whose nodes its tables are spread. */
export async function isSpread(session: QuerySession): Promise<boolean> {
  return (await hasExtension(session)) && (await isAnchorSpread(session));
}

async function isAnchorSpread(session: QuerySession): Promise<boolean> {
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

/** Spreads each table that the SQL creates before the next statement, which may reference it. */
async function runSpreading(session: OpenSession, sql: string): Promise<void> {
  await loadParser();
  const { stmts = [] } = parseSql(sql) as { stmts?: ParsedMigrationStatement[] };
  // The parser counts bytes.
  const bytes = Buffer.from(sql);
  for (const { stmt, stmt_location: from = 0, stmt_len: length } of stmts) {
    const end = length === undefined ? undefined : from + length;
    await session.query(bytes.subarray(from, end).toString());
    const table = stmt.CreateStmt?.relation.relname;
    if (table !== undefined) await spreadNewTable(session, table);
  }
}

interface ParsedMigrationStatement {
  stmt: { CreateStmt?: { relation: { relname: string } } };
  stmt_location?: number;
  stmt_len?: number;
}

type OnSpread = (table: Table, placement: TablePlacement, durationMs: number) => void;

async function spreadInTransaction(session: QuerySession, onSpread: OnSpread): Promise<void> {
  await session.query('begin');
  try {
    await spreadAll(session, onSpread);
    await session.query('commit');
  } catch (error) {
    await session.query('rollback');
    throw error;
  }
}

/** Spreads all tables. Each is locked against reads and changes while its rows move. Skips tables that are spread. */
async function spreadAll(session: QuerySession, onSpread: OnSpread): Promise<void> {
  await requireCoordinatorNode(session);
  await castEnums(session);
  const spreadNames = await listSpreadTables(session);
  const unspreadTables = listTablesToSpread().filter((table) => !spreadNames.has(table));
  if (unspreadTables.length > 0) {
    const dependencies = await listDependencies(session, unspreadTables);
    for (const { drop } of dependencies) await session.query(drop);
    for (const table of unspreadTables) {
      const startMs = performance.now();
      const placement = getPlacement(table);
      await spreadTable(session, table, placement);
      onSpread(table, placement, performance.now() - startMs);
    }
    await shareFunctions(session);
    for (const { create } of dependencies) await session.query(create);
  }
  await createShardFunctions(session);
}

const ENUMS = `
  select t.typname as "name", array_agg(e.enumlabel::text order by e.enumsortorder) as "values",
    exists (select from pg_cast c where c.castsource = t.oid and c.casttarget = 'text'::regtype) as "isCast",
    (select p.prosrc from pg_proc p where p.pronamespace = t.typnamespace and p.proname = 'text_of'
      and p.proargtypes[0] = t.oid) as "body"
  from pg_type t join pg_enum e on e.enumtypid = t.oid
  where t.typnamespace = 'public'::regnamespace group by t.oid, t.typname`;

interface Enum {
  name: string;
  values: string[];
  isCast: boolean;
  body: string | null;
}

/**
 * Creates an immutable cast to text for every enum. Prisma reads an enum back as `"column"::text`. PostgreSQL declares its
 * own cast stable, because values may be added, and Citus refuses it in changes. Ours may be immutable, because values are
 * never renamed. Must run again after values were added. Changes nothing and contacts no node if the casts are current.
 */
async function castEnums(session: QuerySession): Promise<void> {
  const { rows } = await session.query<Enum>(ENUMS);
  for (const { name, values, isCast, body: storedBody } of rows) {
    const type = pg.escapeIdentifier(name);
    const cases = values.map(pg.escapeLiteral).map((value) => `when ${value} then ${value}`);
    const body = ` select case "value" ${cases.join(' ')} end `;
    if (body !== storedBody)
      await session.query(`create or replace function "text_of"("value" ${type}) returns text
        language sql immutable strict parallel safe as $$${body}$$`);
    if (!isCast)
      await session.query(`create cast (${type} as text) with function "text_of"(${type})`);
  }
}

const ANCHOR_NAME = pg.escapeLiteral(pg.escapeIdentifier(ANCHOR));

/** The mode of a share lock. It keeps Citus from moving the shard during a statement, and calls do not wait for each other. */
const SHARE_LOCK = 5;

/**
 * Database functions that run a statement as plain PostgreSQL on the node that stores its rows, with the names of shards
 * in place of table names (docs/decisions/034-citus.md). Citus routes each call to the node of its key.
 */
const FUNCTIONS = [
  `create or replace function "gateway_of_shard"("anchor" bigint, "statement" text) returns text language plpgsql as $$
  declare
    "named" record;
  begin
    for "named" in
      select c.relname as "table", s.shardid as "id" from pg_dist_shard a
      join pg_dist_partition p on p.partmethod = 'h' or p.repmodel = 't'
      join pg_dist_shard s on s.logicalrelid = p.logicalrelid
        and s.shardminvalue is not distinct from case when p.partmethod = 'h' then a.shardminvalue end
      join pg_class c on c.oid = p.logicalrelid
      where a.shardid = "anchor" and position('"' || c.relname || '"' in "statement") > 0
    loop
      "statement" := replace("statement", '"' || "named"."table" || '"', '"' || "named"."table" || '_' || "named"."id" || '"');
    end loop;
    return "statement";
  end $$`,

  // Runs on the shard that has the key, or on all shards of its node.
  `create or replace function "gateway_on_shards"("key" text, "isWholeNode" boolean, "statement" text)
  returns setof text language plpgsql as $$
  declare
    "shard" bigint;
    "isHere" boolean := "isWholeNode";
    "given" record;
  begin
    for "shard" in
      select s.shardid from pg_dist_shard s join pg_dist_placement p using (shardid)
      where s.logicalrelid = ${ANCHOR_NAME}::regclass and p.groupid = (select groupid from pg_dist_local_group)
        and ("isWholeNode" or s.shardid = get_shard_id_for_distribution_column(${ANCHOR_NAME}, "key"))
      order by 1
    loop
      perform lock_shard_metadata(${SHARE_LOCK}, array["shard"]);
      if not exists (select from pg_dist_placement where shardid = "shard"
        and groupid = (select groupid from pg_dist_local_group)) then
        raise exception 'The shard has moved.' using errcode = 'serialization_failure';
      end if;
      for "given" in execute "gateway_of_shard"("shard", "statement") loop
        return next "given"::text;
      end loop;
      "isHere" := true;
    end loop;
    if not "isHere" then
      raise exception 'The shard has moved.' using errcode = 'serialization_failure';
    end if;
  end $$`,
];

/** Creates FUNCTIONS. The anchor must be distributed. Changes nothing and contacts no node if the functions exist. */
async function createShardFunctions(session: QuerySession): Promise<void> {
  const { rows } = await session.query<{ body: string }>(
    `select prosrc as "body" from pg_proc where pronamespace = 'public'::regnamespace`,
  );
  const existingBodies = new Set(rows.map(({ body }) => body));
  const newFunctions = FUNCTIONS.filter((text) => !existingBodies.has(text.split('$$')[1] ?? ''));
  if (newFunctions.length === 0) return;
  for (const text of newFunctions) await session.query(text);
  await session.query(
    `select create_distributed_function('gateway_on_shards(text,boolean,text)', '$1',
      colocate_with => $1, force_delegation => true)`,
    [pg.escapeIdentifier(ANCHOR)],
  );
}

/**
 * Spreads a table that a migration has created. Derives the placement from its columns, because the current schema does
 * not contain a table that a later migration drops.
 */
async function spreadNewTable(session: QuerySession, table: string): Promise<void> {
  const { rows } = await session.query(
    `select from pg_attribute where attrelid = to_regclass($1) and attname = 'projectId'`,
    [pg.escapeIdentifier(table)],
  );
  const placement = derivePlacement(table, { hasProject: rows.length > 0 });
  if (placement !== 'local') await spreadTable(session, table, placement);
}

/** Frees the space of the coordinator's own copies of the rows. */
async function freeLocalRows(session: QuerySession): Promise<void> {
  await session.query(
    'select truncate_local_data_after_distributing_table(logicalrelid) from pg_dist_partition where logicalrelid = any($1::regclass[])',
    [listTablesToSpread().map((table) => pg.escapeIdentifier(table))],
  );
}

async function spreadTable(
  session: QuerySession,
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

/** Throws if the coordinator is not registered as a node: local tables refer to reference tables, which must exist there. */
async function requireCoordinatorNode(session: QuerySession): Promise<void> {
  const { rows } = await session.query('select from pg_dist_node where groupid = 0');
  if (rows.length > 0) return;
  throw new StartRefused(
    "The coordinator of the Citus cluster is not registered with its nodes: run `select citus_set_coordinator_host('<its host>')` in the database first.",
  );
}

async function listSpreadTables(session: QuerySession): Promise<Set<string>> {
  const { rows } = await session.query<{ name: string }>(
    `select c.relname as "name" from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
     where p.partmethod <> 'n' or p.repmodel = 't'`,
  );
  return new Set(rows.map(({ name }) => name));
}

/** Copies functions to the nodes. Triggers run there and call functions that Citus does not copy with a table. */
async function shareFunctions(session: QuerySession): Promise<void> {
  await session.query(
    `select create_distributed_function(f.oid::regprocedure) from pg_proc f
     where f.pronamespace = 'public'::regnamespace
       and not exists (select from pg_depend d where d.objid = f.oid and d.deptype = 'e')
       and not exists (select from pg_dist_object o where o.classid = 'pg_proc'::regclass and o.objid = f.oid)`,
  );
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
  tables: readonly Table[],
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
