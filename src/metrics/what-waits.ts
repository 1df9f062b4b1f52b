/** What the counts of waiting work share. */

/** Counted exactly up to here: a look must stay cheap however much waits. */
export const COUNTED_MAX = 100_000;

/** Seconds since the oldest time of a column, in SQL; 0 if there is none, or if it is still to come. */
export function secondsSinceOldest(column: string): string {
  return `coalesce(greatest(extract(epoch from now() - min("${column}")), 0), 0)::float8`;
}
