/** Caches descriptions of providers' objects for a minute: they are large and seldom change. */
import { LRUCache } from 'lru-cache';
import type { ObjectDescription } from '../../../providers/contract.ts';

const CACHE_MS = 60_000;
/** The maximum size of the cache, in characters of JSON: some dozens of the largest objects, with hundreds of fields each. */
const CHARACTERS_MAX = 32 * 1024 * 1024;

/** The context of a look-up is the function that fetches the description. */
export type DescriptionCache = LRUCache<
  string,
  ObjectDescription,
  () => Promise<ObjectDescription>
>;

export function createDescriptionCache(): DescriptionCache {
  return new LRUCache<string, ObjectDescription, () => Promise<ObjectDescription>>({
    ttl: CACHE_MS,
    maxSize: CHARACTERS_MAX,
    sizeCalculation: (description) => JSON.stringify(description).length,
    // Concurrent calls share one response, even if it is too large for the cache.
    fetchMethod: (_key, _stale, { context: fetchDescription }) => fetchDescription(),
    ignoreFetchAbort: true,
  });
}
