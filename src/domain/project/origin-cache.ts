/** Caches whether any project allows an origin. */
import { LRUCache } from 'lru-cache';
import type { Database } from '../../database/database.ts';
import { isOrigin } from '../../setting-kinds.ts';

/** A change of a project's origins takes effect in every process within a second. */
const FRESH_MS = 1_000;
const CACHED_MAX = 1_000;
/** The most simultaneous look-ups. Further origins are refused, so that a flood of origins delays no other request. */
const LOOKUPS_MAX = 50;

const IS_ALLOWED = `select exists (
  select from "Project" where "allowedOrigins" @> array[$1]::text[]
) as "isAllowed"`;

/**
 * Returns a function that checks whether any project has the origin in `listPageOrigins`. The query compares whole
 * strings, so it agrees with that function for every origin that `isOrigin` accepts. The result is synchronous if it is
 * cached.
 */
export function createOriginCache({
  rows,
}: Pick<Database, 'rows'>): (origin: string) => boolean | Promise<boolean> {
  const cache = new LRUCache<string, boolean>({ max: CACHED_MAX, ttl: FRESH_MS });
  const lookups = new Map<string, Promise<boolean>>();
  const lookUp = async (origin: string): Promise<boolean> => {
    try {
      const [result] = await rows.query<{ isAllowed: boolean }>(IS_ALLOWED, [origin]);
      const isAllowed = result?.isAllowed ?? false;
      cache.set(origin, isAllowed);
      return isAllowed;
    } catch {
      // Requests of the page would fail as well while the database is unavailable.
      return false;
    } finally {
      lookups.delete(origin);
    }
  };
  return (origin) => {
    if (!isOrigin(origin)) return false;
    const cached = cache.get(origin);
    if (cached !== undefined) return cached;
    const running = lookups.get(origin);
    if (running) return running;
    if (lookups.size >= LOOKUPS_MAX) return false;
    const lookup = lookUp(origin);
    lookups.set(origin, lookup);
    return lookup;
  };
}
