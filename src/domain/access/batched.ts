/**
 * Batches the loading of relations and lists: keys that a call requests from a batch in one turn of the event loop are
 * loaded together.
 */
import DataLoader from 'dataloader';
import type { Call } from './call.ts';
import type { Batch } from './scope.ts';

/** The maximum number of keys that one statement loads. */
const STATEMENT_KEYS_MAX = 1_000;
const LOADER_OPTIONS = { cache: false, maxBatchSize: STATEMENT_KEYS_MAX };

const LOADERS = Symbol('loaders');

type Loaders = Map<unknown, DataLoader<unknown, unknown>>;

/**
 * Loads the value of a key, together with other keys of the same turn of the event loop. Values are not cached, so
 * later reads see changes.
 */
export function load<K, V>(call: Call, batch: Batch<K, V>, key: K): Promise<V> {
  const loaders = getLoaders(call);
  let loader = loaders.get(batch);
  if (!loader) {
    const loadAll = async (keys: readonly unknown[]) => {
      // The loader receives no more keys. Removing it here lets the garbage collector free the rows that it holds.
      loaders.delete(batch);
      return batch(call, keys as readonly K[]);
    };
    loader = new DataLoader<unknown, unknown>(loadAll, LOADER_OPTIONS);
    loaders.set(batch, loader);
  }
  return loader.load(key) as Promise<V>;
}

/**
 * Returns the loaders of this call. A copy of the call has separate loaders, because it may have another viewer. The
 * loaders are not in a WeakMap, because V8 would move its values to old memory, with the rows of each request.
 */
function getLoaders(call: Call & { [LOADERS]?: Loaders }): Loaders {
  const existingLoaders = call[LOADERS];
  if (existingLoaders) return existingLoaders;
  const loaders: Loaders = new Map();
  Object.defineProperty(call, LOADERS, { value: loaders });
  return loaders;
}

interface NameKey {
  projectId: string;
  name: string;
}

/**
 * Creates a batch that loads rows by the names that the builder gave them, which are unique in a project. `find` must
 * apply the viewer's scope. A value is null if no such row exists or the viewer may not see it.
 */
export function byName<R extends { projectId: string }>(
  find: (call: Call, keys: { projectId: string[]; name: string[] }) => Promise<R[]>,
  getName: (row: R) => string,
): Batch<NameKey, R | null> {
  return async (call, keys) => {
    const matches = await find(call, {
      projectId: [...new Set(keys.map(({ projectId }) => projectId))],
      name: [...new Set(keys.map(({ name }) => name))],
    });
    const rowsByKey = new Map(matches.map((row) => [`${row.projectId} ${getName(row)}`, row]));
    return keys.map(({ projectId, name }) => rowsByKey.get(`${projectId} ${name}`) ?? null);
  };
}
