/** Caches whether any project allows an origin. */
import { LRUCache } from 'lru-cache';
import type { Database } from '../../database/database.ts';
import { isOrigin } from '../../setting-kinds.ts';

/** How long a result is cached. A change of a project's origins takes effect in every process within this time. */
const CACHE_MS = 1_000;
const CACHED_ORIGINS_MAX = 1_000;
/**
 * The maximum number of simultaneous look-ups. Further origins are refused, so that a flood of origins does not delay
 * other requests.
 */
const LOOKUPS_MAX = 50;

const IS_ALLOWED = `select exists (
  select from "Project" where "allowedOrigins" @> array[$1]::text[]
) as "isAllowed"`;

/**
 * Returns a function that checks whether `listPageOrigins` of any project contains the origin. It refuses whatever
 * `isOrigin` refuses, because the query would also find wildcards, which `listPageOrigins` omits. Returns a cached result
 * directly, not as a promise.
 */
export function createOriginCache({
  rows,
}: Pick<Database, 'rows'>): (origin: string) => boolean | Promise<boolean> {
  const cache = new LRUCache<string, boolean>({ max: CACHED_ORIGINS_MAX, ttl: CACHE_MS });
  const lookups = new Map<string, Promise<boolean>>();
  const lookUp = async (origin: string): Promise<boolean> => {
    try {
      const [result] = await rows.query<{ isAllowed: boolean }>(IS_ALLOWED, [origin]);
      const isAllowed = result?.isAllowed ?? false;
      cache.set(origin, isAllowed);
      return isAllowed;
    } catch {
      // While the database is unavailable, requests of the page would fail too.
      return false;
    } finally {
      lookups.delete(origin);
    }
  };
  return (origin) => {
    if (!isOrigin(origin)) return false;
    const cachedResult = cache.get(origin);
    if (cachedResult !== undefined) return cachedResult;
    const runningLookup = lookups.get(origin);
    if (runningLookup) return runningLookup;
    if (lookups.size >= LOOKUPS_MAX) return false;
    const lookup = lookUp(origin);
    lookups.set(origin, lookup);
    return lookup;
  };
}
