/**
 * The schema of a database with the Citus extension: how its tables are distributed over the nodes, and how migrations
 * change them. Distributing a table shards it by project, or makes it a reference table.
 */
import { StartRefused } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { OpenDatabaseSession } from '../connect/sessions/database-session.ts';
import { ANCHOR, REFERENCE_TABLES, type TablePlacement } from './table-placement.ts';

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
export async function findClusterSchema(
  session: OpenDatabaseSession,
): Promise<ClusterSchema | null> {
  if (!(await isCluster(session))) return null;
  // Several statements of a transaction change the same shards. Triggers change rows of their own project only.
  await session.query(`set citus.multi_shard_modify_mode = 'sequential'`);
  await session.query('set citus.enable_unsafe_triggers = on');
  const isAlreadyDistributed = await isAnchorDistributed(session);
  return {
    run: (sql) => (isAlreadyDistributed ? runMigration(session, sql) : session.query(sql)),
    async distributeIfEmpty(log) {
      const { rows: orgs } = await session.query('select from "Org" limit 1');
      if (!isAlreadyDistributed && orgs.length > 0) {
        log.warn({ command: 'npm run distribute' }, 'database.not_distributed');
        return false;
      }
      await distributeAll(session, (distributed) => log.debug(distributed, 'table.distributed'));
      return true;
    },
    async distribute(onDistributed) {
      await distributeAll(session, onDistributed);
      // Frees the space of the rows that the coordinator still has after it copied them to the nodes.
      await session.query(`select truncate_local_data_after_distributing_table(logicalrelid)
        from pg_dist_partition where ${IS_DISTRIBUTED}`);
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
    `select from pg_dist_partition where logicalrelid = to_regclass('"${ANCHOR}"')`,
  );
  return rows.length > 0;
}

interface ParsedSql {
  stmts?: { stmt_location?: number; stmt_len?: number }[];
}

/** Distributes each table that the SQL creates before the next statement, which may reference the table. */
async function runMigration(session: QuerySession, sql: string): Promise<void> {
  const { parse } = await import('libpg-query');
  const { stmts = [] }: ParsedSql = await parse(sql);
  // The parser counts bytes.
  const bytes = Buffer.from(sql);
  for (const { stmt_location: start = 0, stmt_len: length } of stmts) {
    const end = length === undefined ? undefined : start + length;
    await session.query(bytes.subarray(start, end).toString());
    await distributeNewTables(session);
  }
}

async function distributeAll(session: QuerySession, onDistributed: OnDistributed): Promise<void> {
  await session.query('begin');
  try {
    await requireCoordinatorNode(session);
    await createEnumCasts(session);
    await distributeNewTables(session, onDistributed);
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

/** Excludes local tables that Citus lists because a reference table references them. */
const IS_DISTRIBUTED = "(partmethod <> 'n' or repmodel = 't')";

/** Selects the tables that must be distributed and are not, in the order in which they must be. */
const NEW_TABLES = `
  select pg_class.oid as "id", relname as "table", placement."name" as "placement",
    case when placement."name" = 'reference' then format('select create_reference_table(%L)', pg_class.oid::regclass)
      else format('select create_distributed_table(%L, ''projectId'', colocate_with => %L)', pg_class.oid::regclass,
        case when relname = '${ANCHOR}' then 'default' else '"${ANCHOR}"' end) end as "distribute"
  from pg_class cross join lateral (
    select case when relname = any($1) then 'reference' else 'distributed' end as "name") placement
  where relkind = 'r' and relnamespace = 'public'::regnamespace
    and (placement."name" = 'reference' or exists (
      select from pg_attribute where attrelid = pg_class.oid and attname = 'projectId'))
    and not exists (select from pg_dist_partition where logicalrelid = pg_class.oid and ${IS_DISTRIBUTED})
  order by placement."name" = 'reference' desc, relname = '${ANCHOR}' desc, relname`;

interface NewTable extends Pick<DistributedTable, 'table' | 'placement'> {
  id: number;
  distribute: string;
}

/** Locks each table against reads and changes while its rows move. */
async function distributeNewTables(
  session: QuerySession,
  onDistributed: OnDistributed = () => {},
): Promise<void> {
  const { rows: tables } = await session.query<NewTable>(NEW_TABLES, [REFERENCE_TABLES]);
  if (tables.length === 0) return;
  const ids = tables.map(({ id }) => id);
  const { rows: dependencies } = await session.query<TableDependency>(DEPENDENCIES, [ids]);
  for (const { drop } of dependencies) await session.query(drop);
  for (const [index, { table, placement, distribute }] of tables.entries()) {
    const startMs = performance.now();
    await session.query(distribute);
    const durationMs = performance.now() - startMs;
    onDistributed({ table, placement, durationMs, number: index + 1, count: tables.length });
  }
  await shareFunctions(session);
  for (const { create } of dependencies) await session.query(create);
}

/**
 * A foreign key or a trigger. Both are dropped while rows move: foreign keys prevent the move, and triggers would run for
 * every row.
 */
interface TableDependency {
  drop: string;
  create: string;
}

const DEPENDENCIES = `
  select format('alter table %s drop constraint %I', conrelid::regclass, conname) as "drop",
    format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as "create"
  from pg_constraint where contype = 'f' and (conrelid = any($1) or confrelid = any($1))
  union all
  select format('drop trigger %I on %s', tgname, tgrelid::regclass), pg_get_triggerdef(oid)
  from pg_trigger where not tgisinternal and tgrelid = any($1)`;

type QuerySession = Pick<OpenDatabaseSession, 'query'>;

const ENUMS_WITHOUT_CAST = `
  select enum_type.oid::regtype::text as "name" from pg_type enum_type
  where typtype = 'e' and typnamespace = 'public'::regnamespace and not exists (
    select from pg_cast where castsource = enum_type.oid and casttarget = 'text'::regtype
      and castfunc = to_regprocedure('text_of(anyenum)'))`;

/**
 * Creates an immutable cast to text for every enum. Prisma reads an enum back as `"column"::text`. PostgreSQL's
 * own cast is stable, because values may be renamed, and Citus refuses it in changes. This cast may be immutable, because
 * the gateway never renames a value.
 */
async function createEnumCasts(session: QuerySession): Promise<void> {
  const { rows: enums } = await session.query<{ name: string }>(ENUMS_WITHOUT_CAST);
  if (enums.length === 0) return;
  await session.query(`create or replace function "text_of"("value" anyenum) returns text
    language plpgsql immutable strict parallel safe as $$ begin return format('%s', "value"); end $$`);
  for (const { name } of enums) {
    await session.query(`create cast (${name} as text) with function "text_of"(anyenum)`);
  }
}

/** Copies functions to the nodes. Triggers run there and call functions that Citus does not copy with a table. */
async function shareFunctions(session: QuerySession): Promise<void> {
  await session.query(
    `select create_distributed_function(pg_proc.oid::regprocedure) from pg_proc
     where pronamespace = 'public'::regnamespace
       and not exists (select from pg_depend where objid = pg_proc.oid and deptype = 'e')
       and not exists (
         select from pg_dist_object where classid = 'pg_proc'::regclass and objid = pg_proc.oid)`,
  );
}

/** The mode of a share lock. It keeps Citus from moving the shard during a statement, and calls do not wait for each other. */
const SHARE_LOCK = 5;

/**
 * Runs a statement as plain PostgreSQL on the shard that has the key, or on all shards of its node. Replaces the names of
 * tables by those of the shards.
 */
const SHARD_FUNCTION_BODY = `
  declare
    "node" int := (select groupid from pg_dist_local_group);
    "shardId" bigint;
    "shardTable" record;
    "shardStatement" text;
  begin
    for "shardId" in
      select anchor.shardid from pg_dist_shard anchor join pg_dist_placement placement using (shardid)
      where anchor.logicalrelid = '"${ANCHOR}"'::regclass and placement.groupid = "node"
        and ("isWholeNode" or anchor.shardid = get_shard_id_for_distribution_column('"${ANCHOR}"', "key"))
      order by 1
    loop
      perform lock_shard_metadata(${SHARE_LOCK}, array["shardId"]);
      if not exists (select from pg_dist_placement where shardid = "shardId" and groupid = "node") then
        raise exception 'The shard has moved.' using errcode = 'serialization_failure';
      end if;
      "shardStatement" := "statement";
      for "shardTable" in
        select pg_class.relname as "name", shard.shardid as "id" from pg_dist_shard anchor
        join pg_dist_partition part on part.partmethod = 'h' or part.repmodel = 't'
        join pg_dist_shard shard on shard.logicalrelid = part.logicalrelid
          and shard.shardminvalue is not distinct from case when part.partmethod = 'h' then anchor.shardminvalue end
        join pg_class on pg_class.oid = part.logicalrelid
        where anchor.shardid = "shardId" and position('"' || pg_class.relname || '"' in "statement") > 0
      loop
        "shardStatement" := replace("shardStatement", '"' || "shardTable"."name" || '"',
          '"' || "shardTable"."name" || '_' || "shardTable"."id" || '"');
      end loop;
      return query execute "shardStatement";
    end loop;
    if not found and not "isWholeNode" then
      raise exception 'The shard has moved.' using errcode = 'serialization_failure';
    end if;
  end `;

/**
 * Creates the function `gateway_on_shards`, whose calls Citus routes to the node of their key
 * (docs/decisions/034-citus.md). The anchor must be distributed.
 */
async function createShardFunction(session: QuerySession): Promise<void> {
  const { rows } = await session.query<{ body: string }>(
    `select prosrc as "body" from pg_proc where pronamespace = 'public'::regnamespace and proname = 'gateway_on_shards'`,
  );
  if (rows[0]?.body === SHARD_FUNCTION_BODY) return;
  await session.query('drop function if exists "gateway_on_shards"(text, boolean, text)');
  await session.query(`create function
    "gateway_on_shards"("key" text, "isWholeNode" boolean, "statement" text)
    returns setof record language plpgsql as $$${SHARD_FUNCTION_BODY}$$`);
  await session.query(`select create_distributed_function('gateway_on_shards(text,boolean,text)', '$1',
    colocate_with => '"${ANCHOR}"', force_delegation => true)`);
}
