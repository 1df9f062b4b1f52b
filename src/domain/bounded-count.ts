/** Counts of a project that are kept for a while, since counting much takes milliseconds. */
import { LRUCache } from 'lru-cache';
import type { Database } from '../database/database.ts';

const PROJECTS_KNOWN = 10_000;

/** Not for use inside a transaction. */
export type BoundedCount = (
  database: Database,
  projectId: string,
  countMax: number,
) => Promise<number>;

export interface Counting {
  /** A statement that counts `count` of the project $1, and looks at no more than $2 entries of an index. */
  text: string;
  freshMs: number;
  /** Whether a count is good for that time; default: every one. */
  isKept?: (count: number, countMax: number) => boolean;
}

export function createBoundedCount({ text, freshMs, isKept = () => true }: Counting): BoundedCount {
  const counts = new WeakMap<Database, LRUCache<string, number>>();
  return async (database, projectId, countMax) => {
    const kept = counts.get(database) ?? new LRUCache({ max: PROJECTS_KNOWN, ttl: freshMs });
    counts.set(database, kept);
    const known = kept.get(projectId);
    if (known !== undefined) return known;
    const [row] = await database.rows.query<{ count: number }>(text, [projectId, countMax]);
    const count = row?.count ?? 0;
    if (isKept(count, countMax)) kept.set(projectId, count);
    return count;
  };
}
