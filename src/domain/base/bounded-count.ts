/** Caches counts for a limited time, since a large count takes milliseconds. */
import { LRUCache } from 'lru-cache';
import type { Database } from '../../database/open/database.ts';
import { sqlStatement } from '../../database/statements/statements.ts';
import { growUpTo } from '../../work/growing-cache.ts';

const CACHED_COUNTS_MAX = 10_000;
/** A count is cached for at least 10 times as long as it took, so counting uses at most a tenth of the time. */
const CACHE_FACTOR = 10;

/** Counts the rows that `ids` select; the first id is the project's. Must not run inside a transaction. */
type CountRows = (
  database: Database,
  ids: readonly [projectId: string, ...within: string[]],
  countMax: number,
) => Promise<number>;

interface CountDefinition {
  /** SQL that returns `count`. Its parameters are the ids, and `countMax` as the limit of index entries that it reads. */
  text: string;
  /** The shortest time for which a count is cached. */
  freshMs: number;
  /** True if a count may be cached. Default: every count is cached. */
  isCacheable?: (count: number, countMax: number) => boolean;
}

export function createBoundedCount({ text, ...options }: CountDefinition): CountRows {
  const statement = sqlStatement<{ count: number }>(text);
  const cachesByDatabase = new WeakMap<Database, LRUCache<string, SharedCount>>();
  return async (database, ids, countMax) => {
    const cache = cachesByDatabase.get(database) ?? new LRUCache(growUpTo(CACHED_COUNTS_MAX));
    cachesByDatabase.set(database, cache);
    const key = [...ids, countMax].join(' ');
    let sharedCount = cache.get(key);
    if (!sharedCount) {
      const readCount = async () => {
        const [row] = await database.run(statement, [...ids, countMax]);
        return row?.count ?? 0;
      };
      sharedCount = new SharedCount(readCount, { ...options, countMax });
      cache.set(key, sharedCount);
    }
    return sharedCount.get();
  };
}

type SharedCountOptions = Omit<CountDefinition, 'text'> & { countMax: number };

/** A count that concurrent callers share. Many large counts in parallel would use all database connections. */
class SharedCount {
  readonly #read: () => Promise<number>;
  readonly #options: SharedCountOptions;
  #cachedCount: number | null = null;
  #freshUntilMs = 0;
  #recounting: Promise<number> | null = null;

  constructor(read: () => Promise<number>, options: SharedCountOptions) {
    this.#read = read;
    this.#options = options;
  }

  async get(): Promise<number> {
    const cachedCount = this.#cachedCount;
    if (cachedCount !== null && performance.now() < this.#freshUntilMs) return cachedCount;
    this.#recounting ??= this.#recount().finally(() => {
      this.#recounting = null;
    });
    if (cachedCount === null || cachedCount * 2 >= this.#options.countMax) {
      return await this.#recounting;
    }
    // A cached count below half of the maximum is returned immediately, while the recount runs in the background.
    this.#recounting.catch(() => {});
    return cachedCount;
  }

  async #recount(): Promise<number> {
    const { freshMs, countMax, isCacheable = () => true } = this.#options;
    const startedMs = performance.now();
    this.#freshUntilMs = 0;
    const count = await this.#read();
    const endedMs = performance.now();
    this.#freshUntilMs = endedMs + Math.max(freshMs, CACHE_FACTOR * (endedMs - startedMs));
    this.#cachedCount = isCacheable(count, countMax) ? count : null;
    return count;
  }
}
