/** Batches relations and lists: keys that one tick of a call requests from the same batch are loaded together. */
import DataLoader from 'dataloader';
import type { Call } from './call.ts';
import type { Batch } from './scope.ts';

/** Keys of one statement. */
const KEYS_AT_ONCE = 1_000;
const OPTIONS = { cache: false, maxBatchSize: KEYS_AT_ONCE };

const LOADERS = Symbol('loaders');

type Loaders = Map<unknown, DataLoader<unknown, unknown>>;

/** Nothing is cached after its tick, so that later mutations of the same request are seen. */
export function load<K, V>(call: Call, batch: Batch<K, V>, key: K): Promise<V> {
  const loaders = loadersOf(call);
  let loader = loaders.get(batch);
  if (!loader) {
    const loadAll = async (keys: readonly unknown[]) => {
      // It is asked no more: what it loads is garbage with it, soon.
      loaders.delete(batch);
      return batch(call, keys as readonly K[]);
    };
    loader = new DataLoader<unknown, unknown>(loadAll, OPTIONS);
    loaders.set(batch, loader);
  }
  return loader.load(key) as Promise<V>;
}

/**
 * They are this call's and no copy's of it, whose viewer may be another. No WeakMap has them: what one holds is moved to old
 * memory with all that it leads to, the rows of each request.
 */
function loadersOf(call: Call & { [LOADERS]?: Loaders }): Loaders {
  const known = call[LOADERS];
  if (known) return known;
  const loaders: Loaders = new Map();
  Object.defineProperty(call, LOADERS, { value: loaders });
  return loaders;
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
