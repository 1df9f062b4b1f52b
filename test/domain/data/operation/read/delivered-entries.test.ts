import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  DeliveredEntries,
  type SerializedEntry,
} from '../../../../../src/domain/data/operation/read/delivered-entries.ts';
import { createVault, KEY_BYTES } from '../../../../../src/kernel/secrets.ts';

const OBJECT = { projectId: 'prj_1', installationId: 'ins_1', objectName: 'contacts' };
const vault = createVault([randomBytes(KEY_BYTES)]);
const NOW = new Date('2026-03-05T10:00:00Z');
const EARLIER = new Date('2026-03-05T09:00:00Z');

/** Loads entries from these hashes, in base64. */
function load(hashes: string | null, keys = vault): Promise<DeliveredEntries> {
  const deliveredEntries = hashes === null ? null : { hashes: Buffer.from(hashes, 'base64') };
  const object = { triggeredPages: 0, deliveredEntries };
  const database = { prisma: { installedObject: { findUnique: async () => object } } };
  return DeliveredEntries.load({ database: database as never, vault: keys }, OBJECT);
}

const createEntry = (id: string, email = `${id}@example.test`): SerializedEntry => ({
  id,
  text: JSON.stringify({ id, email }),
});

const AT_NOW = { now: NOW, expireTime: EARLIER };

test('knows exactly the entries that it was given, before and after it is stored', async () => {
  const some = await load(null);
  expect(some.has(createEntry('a'))).toBe(false);
  some.add([createEntry('a'), createEntry('b')], AT_NOW);
  const stored = await load(some.serialize());
  for (const entries of [some, stored]) {
    expect(entries.has(createEntry('a'))).toBe(true);
    expect(entries.has(createEntry('b'))).toBe(true);
    expect(entries.has(createEntry('a', 'new@example.test'))).toBe(false);
    expect(entries.has(createEntry('c'))).toBe(false);
  }
});

test('keeps only the newest entry of a record', async () => {
  const entries = await load(null);
  entries.add([createEntry('a')], AT_NOW);
  const { length } = entries.serialize();
  entries.add([createEntry('a', 'new@example.test')], AT_NOW);
  expect(entries.has(createEntry('a'))).toBe(false);
  expect(entries.has(createEntry('a', 'new@example.test'))).toBe(true);
  expect(entries.serialize()).toHaveLength(length);
});

test('forgets entries that were delivered before the expire time', async () => {
  const entries = await load(null);
  entries.add([createEntry('a'), createEntry('b')], { now: EARLIER, expireTime: EARLIER });
  entries.add([createEntry('a', 'new@example.test')], AT_NOW);
  entries.add([createEntry('c')], { now: NOW, expireTime: NOW });
  expect(entries.has(createEntry('a', 'new@example.test'))).toBe(true);
  expect([entries.has(createEntry('b')), entries.has(createEntry('c'))]).toEqual([false, true]);
});

test('reports whether it removed or replaced an entry, whose stored hash is then obsolete', async () => {
  const entries = await load(null);
  const atEarlierTime = { now: EARLIER, expireTime: EARLIER };
  expect(entries.add([createEntry('a'), createEntry('b')], atEarlierTime)).toBe(false);
  expect(entries.add([createEntry('c')], AT_NOW)).toBe(false);
  expect(entries.add([createEntry('d'), createEntry('a', 'new@example.test')], AT_NOW)).toBe(true);
  expect(entries.add([createEntry('e')], { now: NOW, expireTime: NOW })).toBe(true);
  expect(entries.add([createEntry('b')], { now: NOW, expireTime: NOW })).toBe(false);
});

test('remembers the first 20,000 entries, so that a later read repeats only the others', async () => {
  const all = await load(null);
  for (let n = 0; n < 20_001; n += 1) all.add([createEntry(String(n))], AT_NOW);
  expect(all.has(createEntry('19999'))).toBe(true);
  expect(all.has(createEntry('20000'))).toBe(false);
  expect(Buffer.from(all.serialize(), 'base64')).toHaveLength(400_000);
});

test('knows no entries under another key, so that they are delivered again', async () => {
  const entries = await load(null);
  entries.add([createEntry('a')], AT_NOW);
  const others = await load(entries.serialize(), createVault([randomBytes(KEY_BYTES)]));
  expect(others.has(createEntry('a'))).toBe(false);
});
