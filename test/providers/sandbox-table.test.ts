import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { OBJECTS } from '../../src/sandbox/records/objects.ts';
import { RecordTable } from '../../src/sandbox/records/table.ts';

type Change =
  | { type: 'create' }
  | { type: 'update' | 'delete'; nth: number }
  | { type: 'page'; limit: number };

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ type: fc.constant('create' as const) }),
  fc.record({ type: fc.constantFrom('update' as const, 'delete' as const), nth: fc.nat(50) }),
  fc.record({ type: fc.constant('page' as const), limit: fc.integer({ min: 1, max: 5 }) }),
);

function createDealsTable(): RecordTable {
  return new RecordTable(OBJECTS.deals, () => new Date('2026-01-01T00:00:00Z'));
}

test('returns the last version of every record despite changes between pages', async () => {
  await fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
      const table = createDealsTable();
      const readValues = new Map<string, unknown>();
      let after = 0;
      const readPage = (limit: number) => {
        const { records, hasMore } = table.readPage({ after, limit });
        for (const { id, values } of records) readValues.set(id, values.name);
        after = records.at(-1)?.position ?? after;
        return hasMore;
      };
      const live = new Map<string, unknown>();
      for (const [n, applied] of changes.entries()) {
        if (applied.type === 'page') {
          readPage(applied.limit);
        } else if (applied.type === 'create') {
          live.set(table.create({ name: n }).id, n);
        } else {
          const id = [...live.keys()][applied.nth];
          if (id === undefined) continue;
          if (applied.type === 'delete') {
            live.delete(id);
            table.delete(id);
          } else {
            live.set(id, n);
            table.update(id, { name: n });
          }
        }
      }
      while (readPage(3));
      expect(new Map([...readValues].filter(([id]) => live.has(id)))).toEqual(live);
      expect(table.count({})).toBe(live.size);
    }),
  );
});

test('keeps its order and its size when records change repeatedly', () => {
  const table = createDealsTable();
  const [first, second] = [table.create({ name: 'a' }), table.create({ name: 'b' })];
  for (let n = 1; n <= 5_000; n += 1) table.update(n % 2 ? first.id : second.id, { amount: n });
  const { records, hasMore } = table.readPage({ limit: 10 });
  expect(records.map(({ id, values }) => [id, values.amount])).toEqual([
    [first.id, 4_999],
    [second.id, 5_000],
  ]);
  expect(hasMore).toBe(false);
  expect(table.listNewest(1)).toEqual([records[1]]);
});

test('keeps change times in order when the clock moves backwards', () => {
  const times = ['2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z'];
  const table = new RecordTable(OBJECTS.deals, () => new Date(times.shift() ?? 0));
  const [first, second] = [table.create({ name: 'a' }), table.create({ name: 'b' })];
  expect(second.updatedAtMs).toBe(first.updatedAtMs);
});
