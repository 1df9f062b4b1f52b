/**
 * Reads many lists that differ only by ids, like the operations of each of many installations, in one statement. The
 * ids are joined as rows of `requested`, and each takes its own range of the index.
 */
import { type AnyList, isId, listIdColumns, type SimilarLists } from './list-shape.ts';
import type { Conditions } from './row-list.ts';

interface ListReaders<L, V> {
  readOne(list: L): Promise<V>;
  /** Reads several different lists of one shape. */
  readMany(lists: L[]): Promise<V[]>;
}

/** Returns the result of each list, in their order. Sends one statement for each shape. */
export async function readTogether<L extends AnyList, V>(
  lists: readonly L[],
  { readOne, readMany }: ListReaders<L, V>,
): Promise<V[]> {
  if (lists.length === 1) return [await readOne(lists[0] as L)];
  const resultsByKey = new Map<string, V>();
  const listsByShape = Map.groupBy(lists, createShapeKey);
  await Promise.all(
    [...listsByShape.values()].map(async (similarLists) => {
      const listsByKey = new Map(similarLists.map((list) => [createKey(list), list]));
      const distinctLists = [...listsByKey.values()];
      const results =
        distinctLists.length === 1
          ? [await readOne(distinctLists[0] as L)]
          : await readMany(distinctLists);
      for (const [index, key] of [...listsByKey.keys()].entries())
        resultsByKey.set(key, results[index] as V);
    }),
  );
  return lists.map((list) => resultsByKey.get(createKey(list)) as V);
}

/** Returns a function from a row to the key of the list that it belongs to. */
export function createListKey(lists: SimilarLists): (row: Conditions) => string {
  const names = listIdColumns(lists);
  return (row) => JSON.stringify(names.map((name) => row[name]));
}

function createShapeKey({ table, where, range, links }: AnyList): string {
  const conditions = Object.entries(where).map(([name, value]) =>
    isId(name, value) ? name : [name, value],
  );
  return serialize([table, conditions, range, links]);
}

function createKey({ table, where, range, links }: AnyList): string {
  return serialize([table, where, range, links]);
}

function serialize(value: unknown): string {
  return JSON.stringify(value, (_key, member) =>
    typeof member === 'bigint' ? `${member}n` : member,
  );
}
