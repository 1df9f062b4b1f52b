/** Counts that are kept for a while, since counting much takes milliseconds. */
import { LRUCache } from 'lru-cache';
import type { Database } from '../database/database.ts';

const COUNTS_KNOWN = 10_000;

/** Not for use inside a transaction. What is counted is named by ids, the project's first. */
export type BoundedCount = (
  database: Database,
  ids: readonly [projectId: string, ...within: string[]],
  countMax: number,
) => Promise<number>;

export interface Counting {
  /** A statement that counts `count` of the ids $1 and on, and looks at no more entries of an index than its last value. */
  text: string;
  freshMs: number;
  /** Whether a count is good for that time; default: every one. */
  isKept?: (count: number, countMax: number) => boolean;
}

export function createBoundedCount({ text, freshMs, isKept = () => true }: Counting): BoundedCount {
  const counts = new WeakMap<Database, LRUCache<string, number>>();
  return async (database, ids, countMax) => {
    const kept = counts.get(database) ?? new LRUCache({ max: COUNTS_KNOWN, ttl: freshMs });
    counts.set(database, kept);
    const key = ids.join(' ');
    const known = kept.get(key);
    if (known !== undefined) return known;
    const [row] = await database.rows.query<{ count: number }>(text, [...ids, countMax]);
    const count = row?.count ?? 0;
    if (isKept(count, countMax)) kept.set(key, count);
    return count;
  };
}
