/** The types of the read layer: conditions, ranges of keys, and the lists that they select. */
import type { Row, Table } from '../tables.ts';

/** Conditions by column, without the types of the columns. */
export type Conditions = Record<string, unknown>;

/** Rows of any project of these orgs. */
export interface InOrgs {
  projectsOfOrgs: string[];
}

/**
 * One of these values, for rows that other conditions already narrow down. Unlike an array, it does not read an index
 * range for each value.
 */
export interface OneOf {
  oneOf: readonly string[];
}

/** Selects each row's first search word that is equal to this one or after it. */
interface FirstFrom {
  firstFrom: string;
}

/** A range that includes its beginning and excludes its end. A missing bound is open. */
export interface Span<V> {
  from?: V | undefined;
  until?: V | undefined;
}

/** Times after a bound (exclusive), up to a bound (inclusive), or in a range. */
type TimeRange = { after: Date } | { upTo: Date } | Span<Date>;

/** Columns that equal a value or one of several. Times may be in a range. */
export type Where<T extends Table> = {
  [K in keyof Row<T>]?:
    | Row<T>[K]
    | NonNullable<Row<T>[K]>[]
    | (Date extends Row<T>[K] ? TimeRange : never)
    | (K extends 'projectId' ? InOrgs : never)
    | (string extends Row<T>[K] ? OneOf : never)
    | (T extends 'SearchWord' ? (K extends 'rowId' ? FirstFrom : never) : never);
};

export interface KeyRange<T extends Table> {
  /** The column that orders the rows. It must be unique together with the columns of `where`. */
  column: keyof Row<T> & string;
  direction: 'asc' | 'desc';
  /** Exclusive bounds, in the order of the values. */
  above?: string | bigint;
  below?: string | bigint;
  /** Only the row with this value. */
  at?: string | bigint;
  limit: number;
}

/** A link from every row of a page to the row of another table whose id a column holds. */
export interface Link {
  table: Table;
  column: string;
  /** Conditions that the linked rows must meet. */
  where: Conditions;
}

/** A page of any table: its `Where` and its `KeyRange`. */
export interface RowList {
  table: Table;
  where: Conditions;
  range: Omit<KeyRange<Table>, 'column'> & { column: string };
  /** The columns that precede the key in the index that contains the page's rows contiguously, in index order. */
  indexPrefix?: readonly string[];
  /** The relations to read with the rows. */
  links?: readonly Link[];
}
