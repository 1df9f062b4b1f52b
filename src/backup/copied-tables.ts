/** Lists the tables to copy: all of the gateway's tables except those that belong to one server. */
import type { OpenDatabaseSession } from '../database/connect/sessions/database-session.ts';

/**
 * Each database has its own history of migrations. The rows of the other tables are short-lived, and a restored console
 * session could be a session that its builder has ended.
 */
const EXCLUDED_TABLES = ['_prisma_migrations', 'SandboxLease', 'CallerRate', 'ConsoleSession'];
/** The only table of an empty database that has rows after a start of the server. */
const START_TABLE = 'ServerProcess';

export interface Table {
  name: string;
  /** In the order of a row's text. */
  columns: Column[];
}

interface Column {
  name: string;
  /** True if the database computes its values. */
  isGenerated: boolean;
  /** The sequence of its values. */
  sequence: string | null;
}

/** The number of rows of a table, and a checksum of their contents that does not depend on their order. */
export interface Extent {
  rows: string;
  checksum: string;
}

/** Makes the text of values independent of the server's settings. */
const SETTINGS = `
  set timezone = 'UTC'; set datestyle = 'ISO, YMD'; set intervalstyle = 'postgres';
  set bytea_output = 'hex'; set extra_float_digits = 1;
  set idle_in_transaction_session_timeout = 0`;

export async function prepareSession(session: OpenDatabaseSession): Promise<void> {
  for (const setting of SETTINGS.split(';')) await session.query(setting);
}

const SELECT_TABLES = `
  select relname as "name", json_agg(json_build_object(
      'name', attname,
      'isGenerated', attgenerated <> '',
      'sequence', pg_get_serial_sequence(format('%I.%I', nspname, relname), attname)
    ) order by attnum) as "columns"
  from pg_class
    join pg_namespace on pg_namespace.oid = relnamespace and nspname = current_schema()
    join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
  where relkind in ('r', 'p') and not relispartition and relname <> all($1)
  group by relname order by relname`;

/** Returns the tables, sorted by name. */
export async function listTables(session: OpenDatabaseSession): Promise<Table[]> {
  const { rows } = await session.query<Table>(SELECT_TABLES, [EXCLUDED_TABLES]);
  return rows;
}

/** Returns the names of the tables that contain rows. */
export async function listFilledTables(session: OpenDatabaseSession): Promise<string[]> {
  const filledTables: string[] = [];
  for (const { name } of await listTables(session)) {
    if (name === START_TABLE) continue;
    const { rows } = await session.query(`select 1 from ${quoteName(name)} limit 1`);
    if (rows.length > 0) filledTables.push(name);
  }
  return filledTables;
}

/** Measures a table. Its checksum is the sum of 60 bits of a hash of each row. */
export async function measureTable(session: OpenDatabaseSession, { name }: Table): Promise<Extent> {
  const { rows } = await session.query<Extent>(`
    select count(*)::text as "rows",
      coalesce(sum(('x' || left(md5(table_row::text), 15))::bit(60)::bigint), 0)::text as "checksum"
    from ${quoteName(name)} table_row`);
  return rows[0] as Extent;
}

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
