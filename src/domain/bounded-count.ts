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

/** A count is good for so many times as long as it took, at least: counting takes no more than this part of the time. */
const COST_SHARE = 10;

export function createBoundedCount({ text, ...counting }: Counting): BoundedCount {
  const counts = new WeakMap<Database, LRUCache<string, SharedCount>>();
  return async (database, ids, countMax) => {
    const ofDatabase = counts.get(database) ?? new LRUCache({ max: COUNTS_KNOWN });
    counts.set(database, ofDatabase);
    const key = [...ids, countMax].join(' ');
    let shared = ofDatabase.get(key);
    if (!shared) {
      const read = async () => {
        const [row] = await database.rows.query<{ count: number }>(text, [...ids, countMax]);
        return row?.count ?? 0;
      };
      shared = new SharedCount(read, { ...counting, countMax });
      ofDatabase.set(key, shared);
    }
    return shared.get();
  };
}

/** Counted once at a time, whoever asks: many who count much at once would take all connections. */
class SharedCount {
  readonly #read: () => Promise<number>;
  readonly #counting: Omit<Counting, 'text'> & { countMax: number };
  #kept: number | null = null;
  #freshUntilMs = 0;
  #running: Promise<number> | null = null;

  constructor(
    read: () => Promise<number>,
    counting: Omit<Counting, 'text'> & { countMax: number },
  ) {
    this.#read = read;
    this.#counting = counting;
  }

  async get(): Promise<number> {
    const kept = this.#kept;
    if (kept !== null && performance.now() < this.#freshUntilMs) return kept;
    this.#running ??= this.#recount().finally(() => {
      this.#running = null;
    });
    if (kept === null || kept * 2 >= this.#counting.countMax) return await this.#running;
    // So far from the most, nobody waits for a new one.
    this.#running.catch(() => {});
    return kept;
  }

  async #recount(): Promise<number> {
    const { freshMs, countMax, isKept = () => true } = this.#counting;
    const startedMs = performance.now();
    this.#freshUntilMs = 0;
    const count = await this.#read();
    const endedMs = performance.now();
    this.#freshUntilMs = endedMs + Math.max(freshMs, COST_SHARE * (endedMs - startedMs));
    this.#kept = isKept(count, countMax) ? count : null;
    return count;
  }
}
