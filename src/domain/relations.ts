/** The relations of one request. All keys that one tick requests from a batch are loaded by one call. */
import { notFound } from '../errors.ts';
import { load } from './batched.ts';
import type { Call } from './call.ts';
import type { Batch } from './scope.ts';

export interface Relations {
  /** Returns the batch's item for the key, or null. */
  find<K, V>(batch: Batch<K, V>, key: K): Promise<V>;
  /** Returns the batch's item for the key. Throws NOT_FOUND if there is none. */
  get<K, V>(batch: Batch<K, V>, key: K): Promise<NonNullable<V>>;
}

export function createRelations(call: Call): Relations {
  const find: Relations['find'] = (batch, key) => load(call, batch, key);
  return {
    find,
    async get(batch, key) {
      const item = await find(batch, key);
      if (item == null) throw notFound('The linked object', String(key));
      return item;
    },
  };
}
