/** Said before a migration of a filled database: which rows it has to look at, and how long that may take. */
import type { OpenSession } from '../sessions/session.ts';

export interface MigrationNotice {
  /** Of the tables that are read whole, as the database estimates them. */
  rows: number;
  bytes: number;
  /** Nobody changes rows of a table while it is indexed. */
  mayTakeSeconds: number;
}

/** What a slow disk reads, sorts and writes in a second. */
const BYTES_PER_SECOND = 20_000_000;

const READS_ALL = [
  /create (?:unique )?index "\w+" on "(\w+)"/gi,
  /alter table "(\w+)" validate constraint/gi,
  /alter table "(\w+)"[^;]* primary key \(/gi,
  /update "(\w+)"/gi,
];

/** Null if it reads no table whole, or only empty ones. */
export async function noticeOf(
  session: Pick<OpenSession, 'query'>,
  sql: string,
): Promise<MigrationNotice | null> {
  // A table is read once for each of its indexes.
  const tables = READS_ALL.flatMap((pattern) => [...sql.matchAll(pattern)].map(([, name]) => name));
  const { rows: sizes } = await session.query<{ rows: number; bytes: number }>(SIZES, [tables]);
  const rows = sizes.reduce((sum, table) => sum + table.rows, 0);
  const bytes = sizes.reduce((sum, table) => sum + table.bytes, 0);
  return bytes === 0 ? null : { rows, bytes, mayTakeSeconds: Math.ceil(bytes / BYTES_PER_SECOND) };
}

const SIZES = `
  select greatest(c.reltuples, 0)::float8 as "rows", (count(*) * pg_table_size(c.oid))::float8 as "bytes"
  from unnest($1::text[]) as named("table")
  join pg_class c on c.oid = to_regclass(quote_ident(named."table"))
  group by c.oid, c.reltuples`;
