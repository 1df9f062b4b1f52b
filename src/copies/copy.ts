/** A copy of a whole database as a stream: what it was taken from, the rows of each table, and how much there was. */
import type { Extent } from './tables.ts';

export interface Head {
  /** The migrations of the database, in their order. */
  migrations: string[];
  /** When it was taken: of what came later nothing is in it. */
  takenTime: string;
}

/** Some rows of a table, each as PostgreSQL's text of a composite value: exact for every type. */
export interface Part {
  table: string;
  columns: string[];
  rows: string[];
}

export interface End {
  tables: Record<string, Extent>;
}

export interface Copy {
  head: Head;
  /** The rows; when they are through, how much there was. */
  parts: AsyncGenerator<Part, End>;
}
