/** Estimates how much of a filled database a migration reads, so that the log announces a long one. */
import type { OpenSession } from '../sessions/session.ts';

/** Logged before a migration of a filled database: how many rows it reads, and how long that may take. */
interface MigrationNotice {
  /** The database's estimate of the rows in the tables that are read completely. */
  rows: number;
  bytes: number;
  /** While a table is indexed, its rows cannot change. */
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
  select greatest(reltuples, 0)::float8 as "rows", (count(*) * pg_table_size(pg_class.oid))::float8 as "bytes"
  from unnest($1::text[]) as input("table")
  join pg_class on pg_class.oid = to_regclass(quote_ident(input."table"))
  group by pg_class.oid, reltuples`;

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
