/**
 * Loads related objects. Keys that a call requests from a batch in one turn of the event loop are loaded together.
 */
import type { z } from 'zod';
import { notFound } from '../../kernel/errors.ts';
import { unwrapSchema } from '../../kernel/unwrap-schema.ts';
import { type Computed, computed, type Value } from '../base/resource.ts';
import { load } from './batched.ts';
import type { Call } from './call.ts';
import type { Batch } from './scope.ts';

export interface Relations {
  /** Returns the value for the key, or null. */
  find<K, V>(batch: Batch<K, V>, key: K): Promise<V>;
  /** Returns the value for the key. Throws NOT_FOUND if there is none. */
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

/**
 * Declares a field whose values a batch loads, for all rows together. A nullable field is null if the row has no key, or
 * if the batch has no value for the key.
 */
export function loaded<T extends z.ZodType, Row, K, V extends Value<T>>(
  type: T,
  batch: Batch<K, V | null>,
  getKey: (row: Row) => K | null,
): T & Computed<Row> {
  const { isOptional } = unwrapSchema(type);
  return computed(type, (row: Row, call: Call) => {
    const { find, get } = createRelations(call);
    const key = getKey(row);
    if (isOptional) return (key === null ? null : find(batch, key)) as Promise<Value<T>>;
    return get(batch, key as K) as Promise<Value<T>>;
  });
}
