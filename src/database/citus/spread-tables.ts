/**
 * Spreads the tables over the nodes of a Citus cluster, each to its place (docs/decisions/034-citus.md). What has its place
 * stays there, so that this is repeated after every migration.
 */
import pg from 'pg';
import { StartRefused } from '../../errors.ts';
import type { OpenSession } from '../sessions/session.ts';
import type { Table } from '../tables.ts';
import { castEnums } from './enum-casts.ts';
import { createShardFunctions } from './shard-functions.ts';
import { ANCHOR, placeByColumns, placeOf, type TablePlace, tablesToPlace } from './table-places.ts';

type Session = Pick<OpenSession, 'query'>;

/** A table that has been spread, and how long its rows took. */
export interface Placed {
  table: Table;
  place: TablePlace;
  durationMs: number;
}

/** The database is on a coordinator. */
export async function isCitus(session: Session): Promise<boolean> {
  const { rows } = await session.query(`select from pg_extension where extname = 'citus'`);
  return rows.length > 0;
}

/** The database is a cluster, over whose nodes its tables are spread. */
export async function isSpread(session: Session): Promise<boolean> {
  return (await isCitus(session)) && (await isDistributed(session));
}

/** Its tables are spread. Of a database that is on a coordinator. */
export async function isDistributed(session: Session): Promise<boolean> {
  const { rows } = await session.query(
    'select from pg_dist_partition where logicalrelid = to_regclass($1)',
    [pg.escapeIdentifier(ANCHOR)],
  );
  return rows.length > 0;
}

/** What a session needs that changes the schema of a cluster. */
export async function prepareSession(session: Session): Promise<void> {
  // One statement may follow another on the same shards, and triggers keep to their own project's rows.
  await session.query(`set citus.multi_shard_modify_mode = 'sequential'`);
  await session.query('set citus.enable_unsafe_triggers = on');
}

/** To be called in a transaction of a prepared session. Nobody else reads or changes a table on its way. */
export async function distribute(
  session: Session,
  onPlaced: (placed: Placed) => void,
): Promise<void> {
  await refuseAlone(session);
  await castEnums(session);
  const placed = await placedTables(session);
  const missing = tablesToPlace().filter((table) => !placed.has(table));
  if (missing.length === 0) return createShardFunctions(session);
  const attached = await attachedTo(session, missing);
  for (const { drop } of attached) await session.query(drop);
  for (const table of missing) {
    const beganMs = performance.now();
    const place = placeOf(table);
    await placeTable(session, table, place);
    onPlaced({ table, place, durationMs: performance.now() - beganMs });
  }
  await shareFunctions(session);
  for (const { create } of attached) await session.query(create);
  await createShardFunctions(session);
}

/**
 * Gives an empty table that a migration has just made its place, before anything refers to it: by its columns, since a later
 * migration may take it away again, so that nothing else here knows of it.
 */
export async function placeNewTable(session: Session, table: string): Promise<void> {
  const { rows } = await session.query(
    `select from pg_attribute where attrelid = to_regclass($1) and attname = 'projectId'`,
    [pg.escapeIdentifier(table)],
  );
  const place = placeByColumns(table, { hasProject: rows.length > 0 });
  if (place !== 'local') await placeTable(session, table, place);
}

/** What the rows of the tables took on the coordinator, before they were spread. */
export async function freeLocalRows(session: Session): Promise<void> {
  await session.query(
    'select truncate_local_data_after_distributing_table(logicalrelid) from pg_dist_partition where logicalrelid = any($1::regclass[])',
    [tablesToPlace().map((table) => pg.escapeIdentifier(table))],
  );
}

async function placeTable(session: Session, table: string, place: TablePlace): Promise<void> {
  const name = pg.escapeIdentifier(table);
  if (place === 'reference') {
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

/** Local tables refer to those that every node has, and so the coordinator has to be a node too. */
async function refuseAlone(session: Session): Promise<void> {
  const { rows } = await session.query('select from pg_dist_node where groupid = 0');
  if (rows.length > 0) return;
  throw new StartRefused(
    "The coordinator of the Citus cluster has no address that its nodes know: run `select citus_set_coordinator_host('<its host>')` in the database first.",
  );
}

async function placedTables(session: Session): Promise<Set<string>> {
  const { rows } = await session.query<{ name: string }>(
    `select c.relname as "name" from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
     where p.partmethod <> 'n' or p.repmodel = 't'`,
  );
  return new Set(rows.map(({ name }) => name));
}

/** Triggers run on the nodes, and call functions that no table depends on, but which may name tables' rows. */
async function shareFunctions(session: Session): Promise<void> {
  await session.query(
    `select create_distributed_function(f.oid::regprocedure) from pg_proc f
     where f.pronamespace = 'public'::regnamespace
       and not exists (select from pg_depend d where d.objid = f.oid and d.deptype = 'e')
       and not exists (select from pg_dist_object o where o.classid = 'pg_proc'::regclass and o.objid = f.oid)`,
  );
}

/** Foreign keys and triggers: they keep a table from its way, and a trigger would run for every row that is moved. */
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
