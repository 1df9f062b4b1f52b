/** Duties of the gateway for peers that are measured with them: a caller's API key, and a log line for each request. */
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { pino } from 'pino';
import { hashKey } from '../../src/domain/access/viewer/key/api-key-value.ts';

/** True if this process authenticates callers, limits them and logs requests. */
export const hasDuties = process.env.DUTIES === 'true';

/** A limit on requests per second that no measured work reaches. */
export const RATE_MAX = 100_000_000;
/** Limits of operations that no measured document reaches. */
export const DEPTH_MAX = 15;
export const COST_MAX = 100_000;

const CACHED_KEYS_MAX = 10_000;
const CACHED_KEY_MS = 10_000;
/** pino's own recommendation for asynchronous logging. */
const LOG_BUFFER_BYTES = 4_096;

const FIND_KEY = 'select id from "ApiKey" where hash = $1 and "projectId" = $2 and active';

type Authenticate = (key: string | string[] | null | undefined) => Promise<boolean>;

/** Returns a function that resolves to true for an active key of the project. It caches the keys that it finds. */
export function createAuthenticate(pool: pg.Pool, projectId: string): Authenticate {
  const ids = new LRUCache<string, string>({ max: CACHED_KEYS_MAX, ttl: CACHED_KEY_MS });
  return async (key) => {
    if (typeof key !== 'string') return false;
    if (ids.has(key)) return true;
    const values = [hashKey(key), projectId];
    const { rows } = await pool.query<{ id: string }>({ name: 'auth', text: FIND_KEY, values });
    if (rows[0]) ids.set(key, rows[0].id);
    return rows.length > 0;
  };
}

export const openLogStream = () =>
  pino.destination({ dest: 1, minLength: LOG_BUFFER_BYTES, sync: false });
