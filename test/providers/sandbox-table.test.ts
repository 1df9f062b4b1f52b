import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { OBJECTS } from '../../src/sandbox/records/objects.ts';
import { RecordTable } from '../../src/sandbox/records/table.ts';

type Change =
  | { type: 'create' }
  | { type: 'update' | 'delete'; nth: number }
  | { type: 'page'; limit: number };

const arbitraryChange: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ type: fc.constant('create' as const) }),
  fc.record({ type: fc.constantFrom('update' as const, 'delete' as const), nth: fc.nat(50) }),
  fc.record({ type: fc.constant('page' as const), limit: fc.integer({ min: 1, max: 5 }) }),
);

function createDealsTable(): RecordTable {
  return new RecordTable(OBJECTS.deals, () => new Date('2026-01-01T00:00:00Z'));
}

test('returns the last version of every record despite changes between pages', async () => {
  await fc.assert(
    fc.property(fc.array(arbitraryChange, { maxLength: 60 }), (changes) => {
      const table = createDealsTable();
      const readValues = new Map<string, unknown>();
      let after = 0;
      const readPage = (limit: number) => {
        const { records, hasMore } = table.readPage({ after, limit });
        for (const { id, values } of records) readValues.set(id, values.name);
        after = records.at(-1)?.position ?? after;
        return hasMore;
      };
      const currentValues = new Map<string, unknown>();
      for (const [index, change] of changes.entries()) {
        if (change.type === 'page') {
          readPage(change.limit);
        } else if (change.type === 'create') {
          currentValues.set(table.create({ name: index }).id, index);
        } else {
          const id = [...currentValues.keys()][change.nth];
          if (id === undefined) continue;
          if (change.type === 'delete') {
            currentValues.delete(id);
            table.delete(id);
          } else {
            currentValues.set(id, index);
            table.update(id, { name: index });
          }
        }
      }
      while (readPage(3));
      expect(new Map([...readValues].filter(([id]) => currentValues.has(id)))).toEqual(
        currentValues,
      );
      expect(table.count({})).toBe(currentValues.size);
    }),
  );
});

test('keeps the order and the number of its records when they change repeatedly', () => {
  const table = createDealsTable();
  const [dealA, dealB] = [table.create({ name: 'a' }), table.create({ name: 'b' })];
  for (let n = 1; n <= 5_000; n += 1) table.update(n % 2 ? dealA.id : dealB.id, { amount: n });
  const { records, hasMore } = table.readPage({ limit: 10 });
  expect(records.map(({ id, values }) => [id, values.amount])).toEqual([
    [dealA.id, 4_999],
    [dealB.id, 5_000],
  ]);
  expect(hasMore).toBe(false);
  expect(table.listNewest(1)).toEqual([records[1]]);
});

test('keeps change times in order when the clock moves backwards', () => {
  const times = ['2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z'];
  const table = new RecordTable(OBJECTS.deals, () => new Date(times.shift() ?? 0));
  const [dealA, dealB] = [table.create({ name: 'a' }), table.create({ name: 'b' })];
  expect(dealB.updatedAtMs).toBe(dealA.updatedAtMs);
});
