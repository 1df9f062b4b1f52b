/** Batches relations and lists: keys that one tick of a call requests from the same batch are loaded together. */
import DataLoader from 'dataloader';
import type { Call } from './call.ts';
import type { Batch } from './scope.ts';

/** Keys of one statement. */
const KEYS_AT_ONCE = 1_000;

const LOADERS = new WeakMap<Call, Map<unknown, DataLoader<unknown, unknown>>>();

/** Nothing is cached after its tick, so that later mutations of the same request are seen. */
export function load<K, V>(call: Call, batch: Batch<K, V>, key: K): Promise<V> {
  let loaders = LOADERS.get(call);
  if (!loaders) {
    loaders = new Map();
    LOADERS.set(call, loaders);
  }
  let loader = loaders.get(batch);
  if (!loader) {
    const options = { cache: false, maxBatchSize: KEYS_AT_ONCE };
    loader = new DataLoader(async (keys) => batch(call, keys as readonly K[]), options);
    loaders.set(batch, loader);
  }
  return loader.load(key) as Promise<V>;
}

export interface NameKey {
  projectId: string;
  name: string;
}

/**
 * Rows by what the builder calls them, which is unique in a project. Null for what is not there or not in the caller's
 * sight: `find` sees to that.
 */
export function byName<R extends { projectId: string }>(
  find: (call: Call, keys: { projectId: string[]; name: string[] }) => Promise<R[]>,
  nameOf: (row: R) => string,
): Batch<NameKey, R | null> {
  return async (call, keys) => {
    const found = await find(call, {
      projectId: [...new Set(keys.map(({ projectId }) => projectId))],
      name: [...new Set(keys.map(({ name }) => name))],
    });
    const rows = new Map(found.map((row) => [`${row.projectId} ${nameOf(row)}`, row]));
    return keys.map(({ projectId, name }) => rows.get(`${projectId} ${name}`) ?? null);
  };
}
