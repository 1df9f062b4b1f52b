/** Lists the tables to copy: all of the gateway's tables except those that belong to one server. */
import type { OpenSession } from '../database/sessions/session.ts';

/**
 * The schema's history, which each database has, and tables of short-lived rows. A restored console session could be one
 * that its builder has ended.
 */
const EXCLUDED_TABLES = ['_prisma_migrations', 'SandboxLease', 'CallerRate', 'ConsoleSession'];
/** The table that a start of the server fills in an empty database. */
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

/** The extent of a table: the number of its rows, and a checksum of their contents in any order. */
export interface Extent {
  rows: string;
  checksum: string;
}

/** Makes the text of values independent of the server's settings. */
const SETTINGS = `
  set timezone = 'UTC'; set datestyle = 'ISO, YMD'; set intervalstyle = 'postgres';
  set bytea_output = 'hex'; set extra_float_digits = 1;
  set idle_in_transaction_session_timeout = 0`;

export async function prepareSession(session: OpenSession): Promise<void> {
  for (const setting of SETTINGS.split(';')) await session.query(setting);
}

const TABLES = `
  select c.relname as "name", json_agg(json_build_object(
      'name', a.attname,
      'isGenerated', a.attgenerated <> '',
      'sequence', pg_get_serial_sequence(format('%I.%I', n.nspname, c.relname), a.attname)
    ) order by a.attnum) as "columns"
  from pg_class c
    join pg_namespace n on n.oid = c.relnamespace and n.nspname = current_schema()
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where c.relkind in ('r', 'p') and not c.relispartition and c.relname <> all($1)
  group by c.relname order by c.relname`;

/** Returns the tables, sorted by name. */
export async function listTables(session: OpenSession): Promise<Table[]> {
  const { rows } = await session.query<Table>(TABLES, [EXCLUDED_TABLES]);
  return rows;
}

/** Returns the names of the tables that contain rows. */
export async function listFilledTables(session: OpenSession): Promise<string[]> {
  const filledTables: string[] = [];
  for (const { name } of await listTables(session)) {
    if (name === START_TABLE) continue;
    const { rows } = await session.query(`select 1 from ${quoteName(name)} limit 1`);
    if (rows.length > 0) filledTables.push(name);
  }
  return filledTables;
}

/** Measures a table. Its checksum is the sum of 60 bits of a hash of each row. */
export async function measureTable(session: OpenSession, { name }: Table): Promise<Extent> {
  const { rows } = await session.query<Extent>(`
    select count(*)::text as "rows",
      coalesce(sum(('x' || left(md5(t::text), 15))::bit(60)::bigint), 0)::text as "checksum"
    from ${quoteName(name)} t`);
  return rows[0] as Extent;
}

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
