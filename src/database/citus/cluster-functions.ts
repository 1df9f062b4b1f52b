/** Database functions and casts that a cluster needs. Each is created once, and an existing one contacts no node. */
import type { OpenSession } from '../sessions/session.ts';
import { ANCHOR } from './table-placement.ts';

export type QuerySession = Pick<OpenSession, 'query'>;

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
export async function createEnumCasts(session: QuerySession): Promise<void> {
  const { rows: enums } = await session.query<{ name: string }>(ENUMS_WITHOUT_CAST);
  if (enums.length === 0) return;
  await session.query(`create or replace function "text_of"("value" anyenum) returns text
    language plpgsql immutable strict parallel safe as $$ begin return format('%s', "value"); end $$`);
  for (const { name } of enums) {
    // Version 0.1.0 had a function for each enum.
    await session.query(`drop function if exists "text_of"(${name}) cascade`);
    await session.query(`create cast (${name} as text) with function "text_of"(anyenum)`);
  }
}

/** Copies functions to the nodes. Triggers run there and call functions that Citus does not copy with a table. */
export async function shareFunctions(session: QuerySession): Promise<void> {
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
export async function createShardFunction(session: QuerySession): Promise<void> {
  const { rows } = await session.query<{ body: string }>(
    `select prosrc as "body" from pg_proc where pronamespace = 'public'::regnamespace and proname = 'gateway_on_shards'`,
  );
  if (rows[0]?.body === SHARD_FUNCTION_BODY) return;
  // Version 0.1.0 named the shards in a separate function.
  await session.query(`drop function if exists
    "gateway_on_shards"(text, boolean, text), "gateway_of_shard"(bigint, text)`);
  await session.query(`create function
    "gateway_on_shards"("key" text, "isWholeNode" boolean, "statement" text)
    returns setof record language plpgsql as $$${SHARD_FUNCTION_BODY}$$`);
  await session.query(`select create_distributed_function('gateway_on_shards(text,boolean,text)', '$1',
    colocate_with => '"${ANCHOR}"', force_delegation => true)`);
}
