/** Estimates how much of a filled database a migration reads, so that the log announces a long one. */
import type { OpenSession } from '../sessions/session.ts';

/** Logged before a migration of a filled database: how many rows it reads, and how long that may take. */
interface MigrationNotice {
  /** The rows of the tables that are read completely, as the database estimates them. */
  rows: number;
  bytes: number;
  /** Rows of a table cannot change while it is indexed. */
  mayTakeSeconds: number;
}

/** Conservative throughput of a slow disk that reads, sorts and writes. */
const BYTES_PER_SECOND = 20_000_000;

const FULL_READS = [
  /create (?:unique )?index "\w+" on "(\w+)"/gi,
  /alter table "(\w+)" validate constraint/gi,
  /alter table "(\w+)"[^;]* primary key \(/gi,
  /update "(\w+)"/gi,
];

const SIZES = `
  select greatest(c.reltuples, 0)::float8 as "rows", (count(*) * pg_table_size(c.oid))::float8 as "bytes"
  from unnest($1::text[]) as named("table")
  join pg_class c on c.oid = to_regclass(quote_ident(named."table"))
  group by c.oid, c.reltuples`;

/** Returns the notice for a migration. Null if it reads no table completely, or only empty ones. */
export async function findNotice(
  session: Pick<OpenSession, 'query'>,
  sql: string,
): Promise<MigrationNotice | null> {
  // A table is read once for each of its indexes.
  const tables = FULL_READS.flatMap((pattern) =>
    [...sql.matchAll(pattern)].map(([, name]) => name),
  );
  const { rows: sizes } = await session.query<{ rows: number; bytes: number }>(SIZES, [tables]);
  const rows = sizes.reduce((sum, table) => sum + table.rows, 0);
  const bytes = sizes.reduce((sum, table) => sum + table.bytes, 0);
  return bytes === 0 ? null : { rows, bytes, mayTakeSeconds: Math.ceil(bytes / BYTES_PER_SECOND) };
}
