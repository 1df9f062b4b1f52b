/** Creates an API key as the gateway does, so that every peer computes the same hash and writes the same row. */
import {
  createKeyValue,
  getKeyPrefix,
  hashKey,
} from '../../src/domain/access/viewer/key/api-key-value.ts';
import { newId } from '../../src/kernel/ids.ts';

/** Returns a new key, its row, and the values of CREATE_KEY. */
export function createKey(projectName: string, label: string, scopes: string[]) {
  const key = createKeyValue();
  const row = { id: newId('key'), label, scopes, prefix: getKeyPrefix(key), hash: hashKey(key) };
  return { key, row, values: [row.id, projectName, label, scopes, row.prefix, row.hash] };
}
