/** A copy of a whole database as a stream: its source, the rows of each table, and the totals. */
import type { Extent } from './tables.ts';

export interface CopyHead {
  /** The migrations of the database, in order. */
  migrations: string[];
  /** When the copy was taken. It contains no later changes. */
  takenTime: string;
}

/** Some rows of a table, each as PostgreSQL's text of a composite value, which is exact for every type. */
export interface CopyPart {
  table: string;
  columns: string[];
  rows: string[];
}

export interface CopyTotals {
  tables: Record<string, Extent>;
}

export interface Copy {
  head: CopyHead;
  /** The rows. Returns the totals at the end. */
  parts: AsyncGenerator<CopyPart, CopyTotals>;
}
