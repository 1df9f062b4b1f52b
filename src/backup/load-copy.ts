/** Loads a copy into an empty database. */
import { isDistributed } from '../database/cluster/cluster.ts';
import { hasRunningGateways } from '../database/connect/processes.ts';
import type { OpenDatabaseSession } from '../database/connect/sessions/database-session.ts';
import { countsAsFirstMigration } from '../database/migrate/development-history.ts';
import { listMigrations, migrate } from '../database/migrate/migrate.ts';
import { StartRefused } from '../kernel/errors.ts';
import type { Log } from '../kernel/log.ts';
import {
  listFilledTables,
  listTables,
  measureTable,
  prepareSession,
  quoteName,
  type Table,
} from './copied-tables.ts';
import {
  type Copy,
  type CopyHead,
  type CopyPart,
  type CopyTotals,
  listAppliedMigrations,
} from './database-copy.ts';
import type { CopyDatabase } from './source-and-target.ts';

interface LoadOptions {
  /** Runs in the transaction that fills the database. */
  beforeCommit?: (session: OpenDatabaseSession) => Promise<void>;
  log: Log;
}

/**
 * Loads the copy. Throws StartRefused if the database is not empty. If loading fails, drops the objects that it has
 * created. If a newer migration fails afterwards, the loaded rows remain.
 */
export async function loadCopy(
  database: CopyDatabase,
  copy: Copy,
  options: LoadOptions,
): Promise<CopyTotals> {
  const migrations = listKnownMigrations(copy.head);
  const quietLog = { ...options.log, info: () => {} } as Log;
  const before = await database.inSession(async (session) => {
    await requireEmptyDatabase(session);
    return await listObjects(session);
  });
  const log = quietLog;
  const totals = await load(database, copy, { ...options, migrations, log }).catch(
    async (error) => {
      await dropCreatedObjects(database, before, options.log);
      throw error;
    },
  );
  // Applies migrations that are newer than the copy.
  await migrate(database.server, quietLog);
  await database.inSession((session) => session.query('analyze'));
  return totals;
}

async function load(
  database: CopyDatabase,
  copy: Copy,
  { migrations, ...options }: LoadOptions & { migrations: string[] },
): Promise<CopyTotals> {
  await migrate(database.server, options.log, { only: migrations });
  return await database.inSession(async (session) => {
    await requireNoNewerSchema(session, migrations);
    return await fill(session, copy, options);
  });
}

/**
 * Throws StartRefused if the database has newer migrations than the copy. Its tables may have other columns, and these
 * migrations would not change the rows of the copy.
 */
async function requireNoNewerSchema(
  session: OpenDatabaseSession,
  migrations: readonly string[],
): Promise<void> {
  const appliedMigrations = await listAppliedMigrations(session);
  if (appliedMigrations.every((name) => migrations.includes(name))) return;
  throw new StartRefused(
    'The database to fill has the schema of a newer version than the copy. Name a database in which no gateway has run.',
  );
}

/** Returns the migrations of the copy, by their names in this version. Throws StartRefused if this version lacks one. */
function listKnownMigrations({ migrations }: CopyHead): string[] {
  const knownMigrations = listMigrations().map(({ name }) => name);
  const [first = ''] = knownMigrations;
  if (countsAsFirstMigration(migrations, first)) return [first];
  if (migrations.every((name, index) => name === knownMigrations[index])) return migrations;
  throw new StartRefused('The copy comes from a newer gateway version. Load it with that version.');
}

async function requireEmptyDatabase(session: OpenDatabaseSession): Promise<void> {
  if (await isDistributed(session)) {
    throw new StartRefused(
      'The target database is already distributed. Use a database in which no gateway has run, load the copy, then run `npm run distribute`.',
    );
  }
  const filledTables = await listFilledTables(session);
  if (filledTables.length > 0) {
    const names = filledTables.slice(0, 3).join(', ');
    throw new StartRefused(
      `The database to fill is not empty (${names}${filledTables.length > 3 ? ', …' : ''}): name another one.`,
    );
  }
  if (await hasRunningGateways(session)) {
    throw new StartRefused('A gateway runs on the database to fill: stop it first.');
  }
}

async function fill(
  session: OpenDatabaseSession,
  copy: Copy,
  options: LoadOptions,
): Promise<CopyTotals> {
  await prepareSession(session);
  await session.query('begin');
  const tables = new Map((await listTables(session)).map((table) => [table.name, table]));
  await session.query('delete from "ServerProcess"');
  const addReferences = await dropReferences(session);
  await setTriggers(session, tables, 'disable');
  const totals = await insertAll(session, tables, copy.parts);
  for (const statement of addReferences) await session.query(statement);
  await setTriggers(session, tables, 'enable');
  for (const table of tables.values()) await resetSequences(session, table);
  await compareTotals(session, tables, totals);
  // The processes of the other database do not run here, so their leases are free.
  await session.query(
    `update "ServerProcess" set "lockMissingSince" = clock_timestamp() - interval '1 minute'`,
  );
  await options.beforeCommit?.(session);
  await session.query('commit');
  return totals;
}

/**
 * Drops foreign keys, because a row may arrive before the rows that it references. Returns the statements that recreate
 * and check the foreign keys.
 */
async function dropReferences(session: OpenDatabaseSession): Promise<string[]> {
  const { rows } = await session.query<{ table: string; name: string; definition: string }>(
    `select conrelid::regclass::text as "table", quote_ident(conname) as "name",
       pg_get_constraintdef(pg_constraint.oid) as "definition"
     from pg_constraint
     join pg_namespace on pg_namespace.oid = connamespace and nspname = current_schema()
     where contype = 'f' and conparentid = 0`,
  );
  for (const { table, name } of rows) {
    await session.query(`alter table ${table} drop constraint ${name}`);
  }
  return rows.map(
    ({ table, name, definition }) => `alter table ${table} add constraint ${name} ${definition}`,
  );
}

/** Disables or enables triggers. The copy contains the values that triggers maintain. */
async function setTriggers(
  session: OpenDatabaseSession,
  tables: ReadonlyMap<string, Table>,
  change: 'disable' | 'enable',
): Promise<void> {
  for (const name of tables.keys()) {
    await session.query(`alter table ${quoteName(name)} ${change} trigger user`);
  }
}

async function insertAll(
  session: OpenDatabaseSession,
  tables: ReadonlyMap<string, Table>,
  parts: Copy['parts'],
): Promise<CopyTotals> {
  for (;;) {
    const { done, value } = await parts.next();
    if (done) return value;
    await insertPart(session, tables.get(value.table), value);
  }
}

async function insertPart(
  session: OpenDatabaseSession,
  table: Table | undefined,
  part: CopyPart,
): Promise<void> {
  const names = table?.columns.map(({ name }) => name) ?? [];
  if (!table || names.join() !== part.columns.join()) {
    throw new StartRefused(
      `Table ${part.table} has different columns than the copy. Its schema was changed manually.`,
    );
  }
  const storedColumns = table.columns.filter(({ isGenerated }) => !isGenerated);
  const columns = storedColumns.map(({ name }) => quoteName(name)).join(', ');
  const name = quoteName(table.name);
  await session.query(
    `insert into ${name} (${columns}) select ${columns} from unnest($1::${name}[])`,
    [part.rows],
  );
}

/** Sets each sequence to continue after the copied rows. */
async function resetSequences(session: OpenDatabaseSession, table: Table): Promise<void> {
  for (const { name, sequence } of table.columns) {
    if (!sequence) continue;
    await session.query(
      `select setval($1, max(${quoteName(name)})) from ${quoteName(table.name)} having count(*) > 0`,
      [sequence],
    );
  }
}

async function compareTotals(
  session: OpenDatabaseSession,
  tables: ReadonlyMap<string, Table>,
  { tables: expectedExtents }: CopyTotals,
): Promise<void> {
  const differences: string[] = [];
  for (const table of tables.values()) {
    const { rows, checksum } = await measureTable(session, table);
    const expected = expectedExtents[table.name];
    if (expected?.rows === rows && expected.checksum === checksum) continue;
    differences.push(`${table.name} has ${rows} rows of ${expected?.rows ?? 0}`);
  }
  if (differences.length === 0) return;
  throw new StartRefused(
    `The loaded rows differ from the copied ones, so nothing was loaded: ${differences.join(', ')}.`,
  );
}

/**
 * Selects the objects that migrations create, in the order in which they can be dropped. PostgreSQL drops indexes,
 * sequences and triggers with their tables.
 */
const SELECT_OBJECTS = `
  with schema as (select oid from pg_namespace where nspname = current_schema()), object as (
    select 'table' as "kind", quote_ident(relname) as "name", pg_class.oid from pg_class, schema
    where relnamespace = schema.oid and relkind in ('r', 'p') and not relispartition
    union all
    select 'function', pg_proc.oid::regprocedure::text, pg_proc.oid from pg_proc, schema
    where pronamespace = schema.oid and prokind = 'f'
    union all
    select 'type', quote_ident(typname), pg_type.oid from pg_type, schema
    where typnamespace = schema.oid and typtype = 'e')
  select "kind", "name" from object
  where not exists (select 1 from pg_depend where objid = object.oid and deptype = 'e')
  order by array_position(array['table', 'function', 'type'], "kind"), "name"`;

interface SchemaObject {
  kind: 'table' | 'function' | 'type';
  /** The name as SQL, quoted if necessary. */
  name: string;
}

/** Returns all objects of the schema except those of extensions. */
async function listObjects(session: OpenDatabaseSession): Promise<SchemaObject[]> {
  const { rows } = await session.query<SchemaObject>(SELECT_OBJECTS);
  return rows;
}

/**
 * Drops all objects except `existingObjects`. Does nothing if migrations had been applied before, because their tables
 * may need the new objects. Logs its errors, because the caller throws the error that made the load fail.
 */
async function dropCreatedObjects(
  database: CopyDatabase,
  existingObjects: SchemaObject[],
  log: Log,
): Promise<void> {
  const existingNames = new Set(existingObjects.map(({ kind, name }) => `${kind} ${name}`));
  if (existingNames.has('table _prisma_migrations')) return;
  try {
    await database.inSession(async (session) => {
      const objects = await listObjects(session);
      await session.query('begin');
      for (const { kind, name } of objects) {
        if (existingNames.has(`${kind} ${name}`)) continue;
        await session.query(`drop ${kind} if exists ${name} cascade`);
      }
      await session.query('commit');
    });
  } catch (error) {
    log.warn({ err: error }, 'copy.schema_not_dropped');
  }
}
