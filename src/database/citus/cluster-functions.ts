/** Database functions and casts that a cluster needs, on all of its nodes. */
import pg from 'pg';
import type { OpenSession } from '../sessions/session.ts';
import { ANCHOR } from './table-placement.ts';

type QuerySession = Pick<OpenSession, 'query'>;

interface Enum {
  name: string;
  values: string[];
  /** True if a cast to text exists. */
  hasCast: boolean;
  /** The body of the cast function. Null if it does not exist. */
  body: string | null;
}

const ENUMS = `
  select enum_type.typname as "name", array_agg(enum_value.enumlabel::text order by enum_value.enumsortorder) as "values",
    exists (select from pg_cast where castsource = enum_type.oid and casttarget = 'text'::regtype) as "hasCast",
    (select prosrc from pg_proc where pronamespace = enum_type.typnamespace and proname = 'text_of'
      and proargtypes[0] = enum_type.oid) as "body"
  from pg_type enum_type join pg_enum enum_value on enum_value.enumtypid = enum_type.oid
  where enum_type.typnamespace = 'public'::regnamespace group by enum_type.oid, enum_type.typname`;

/**
 * Creates an immutable cast to text for every enum. Prisma reads an enum back as `"column"::text`. PostgreSQL's
 * own cast is stable, because values may be added, and Citus refuses it in changes. This cast may be immutable, because
 * values are never renamed. Must run again after values were added. Contacts no node if the casts are current.
 */
export async function createEnumCasts(session: QuerySession): Promise<void> {
  const { rows: enums } = await session.query<Enum>(ENUMS);
  for (const { name, values, hasCast, body: currentBody } of enums) {
    const type = pg.escapeIdentifier(name);
    const cases = values.map(pg.escapeLiteral).map((value) => `when ${value} then ${value}`);
    const body = ` select case "value" ${cases.join(' ')} end `;
    if (body !== currentBody)
      await session.query(`create or replace function "text_of"("value" ${type}) returns text
        language sql immutable strict parallel safe as $$${body}$$`);
    if (!hasCast)
      await session.query(`create cast (${type} as text) with function "text_of"(${type})`);
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

const ANCHOR_NAME = pg.escapeIdentifier(ANCHOR);
const ANCHOR_LITERAL = pg.escapeLiteral(ANCHOR_NAME);

/** The mode of a share lock. It keeps Citus from moving the shard during a statement, and calls do not wait for each other. */
const SHARE_LOCK = 5;

/**
 * Runs a statement as plain PostgreSQL on the shard that has the key, or on all shards of its node. Replaces the names of
 * tables by those of the shards.
 */
const SHARD_FUNCTION_BODY = `
  declare
    "shard" bigint;
    "shardTable" record;
    "shardStatement" text;
  begin
    for "shard" in
      select s.shardid from pg_dist_shard s join pg_dist_placement p using (shardid)
      where s.logicalrelid = ${ANCHOR_LITERAL}::regclass and p.groupid = (select groupid from pg_dist_local_group)
        and ("isWholeNode" or s.shardid = get_shard_id_for_distribution_column(${ANCHOR_LITERAL}, "key"))
      order by 1
    loop
      perform lock_shard_metadata(${SHARE_LOCK}, array["shard"]);
      if not exists (select from pg_dist_placement where shardid = "shard"
        and groupid = (select groupid from pg_dist_local_group)) then
        raise exception 'The shard has moved.' using errcode = 'serialization_failure';
      end if;
      "shardStatement" := "statement";
      for "shardTable" in
        select c.relname as "name", s.shardid as "id" from pg_dist_shard a
        join pg_dist_partition p on p.partmethod = 'h' or p.repmodel = 't'
        join pg_dist_shard s on s.logicalrelid = p.logicalrelid
          and s.shardminvalue is not distinct from case when p.partmethod = 'h' then a.shardminvalue end
        join pg_class c on c.oid = p.logicalrelid
        where a.shardid = "shard" and position('"' || c.relname || '"' in "statement") > 0
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
 * (docs/decisions/034-citus.md). The anchor must be distributed. Contacts no node if the function is current.
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
  await session.query(
    `select create_distributed_function('gateway_on_shards(text,boolean,text)', '$1',
      colocate_with => $1, force_delegation => true)`,
    [ANCHOR_NAME],
  );
}
