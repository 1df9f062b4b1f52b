/** The relations of one request, batched: all that one tick asks of a batch is loaded by one call. */
import { notFound } from '../errors.ts';
import { load } from './batched.ts';
import type { Call } from './call.ts';
import type { Batch } from './scope.ts';

export interface Relations {
  /** One item of a batch, or null; all that one tick of a request asks for is loaded by one call. */
  find<K, V>(batch: Batch<K, V>, key: K): Promise<V>;
  /** The same where there must be one. */
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
