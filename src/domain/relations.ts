/** The relations of one request, batched: all keys that one tick requests from a batch are loaded by one call. */
import { notFound } from '../errors.ts';
import { load } from './batched.ts';
import type { Call } from './call.ts';
import type { Batch } from './scope.ts';

export interface Relations {
  /** One item of a batch, or null; all keys that one tick of a request requests are loaded by one call. */
  find<K, V>(batch: Batch<K, V>, key: K): Promise<V>;
  /** The same; throws NOT_FOUND instead of null. */
  get<K, V>(batch: Batch<K, V>, key: K): Promise<NonNullable<V>>;
}

export function createRelations(call: Call): Relations {
  const find: Relations['find'] = (batch, key) => load(call, batch, key);
  return {
    find,
    async get(batch, key) {
      const item = await find(batch, key);
      if (item == null) throw notFound('What this points to', String(key));
      return item;
    },
  };
}
