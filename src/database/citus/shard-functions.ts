/**
 * Functions of the database by which a statement runs where its rows are, as PostgreSQL itself runs it: with the names of the
 * shards in place of the names of their tables (docs/decisions/034-citus.md). Citus takes each call to the node of its key.
 */
import pg from 'pg';
import type { OpenSession } from '../sessions/session.ts';
import { ANCHOR } from './table-placement.ts';

const ANCHOR_NAME = pg.escapeLiteral(pg.escapeIdentifier(ANCHOR));

/** A share lock: nothing is changed in a shard that is about to be moved, and no other call is waited for. */
const SHARE_LOCK = 5;

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

  // Of the shard that has the key, or of all shards of that one's node.
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

/** To be called when the anchor has its place. If they are there, it changes nothing, and asks no node. */
export async function createShardFunctions(session: Pick<OpenSession, 'query'>): Promise<void> {
  const { rows } = await session.query<{ body: string }>(
    `select prosrc as "body" from pg_proc where pronamespace = 'public'::regnamespace`,
  );
  const known = new Set(rows.map(({ body }) => body));
  const changed = FUNCTIONS.filter((text) => !known.has(text.split('$$')[1] ?? ''));
  if (changed.length === 0) return;
  for (const text of changed) await session.query(text);
  await session.query(
    `select create_distributed_function('gateway_on_shards(text,boolean,text)', '$1',
      colocate_with => $1, force_delegation => true)`,
    [pg.escapeIdentifier(ANCHOR)],
  );
}
