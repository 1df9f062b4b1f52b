/**
 * Reads many lists that differ only by ids, like the operations of each of many installations, in one statement. The
 * ids are joined as rows of `requested`, and each takes its own range of the index.
 */
import { type AnyList, type Conditions, idsOf, isId, type Lists } from './list-shape.ts';

interface Reads<L, V> {
  one(list: L): Promise<V>;
  /** Reads several different lists of one shape. */
  many(lists: L[]): Promise<V[]>;
}

/** Returns the result of each list, in their order. Sends one statement for each shape. */
export async function readTogether<L extends AnyList, V>(
  lists: readonly L[],
  { one, many }: Reads<L, V>,
): Promise<V[]> {
  if (lists.length === 1) return [await one(lists[0] as L)];
  const responses = new Map<string, V>();
  const kinds = Map.groupBy(lists, kindOf);
  await Promise.all(
    [...kinds.values()].map(async (alike) => {
      const distinct = [...new Map(alike.map((list) => [keyOf(list), list])).values()];
      const [first] = distinct as [L];
      const found = distinct.length === 1 ? [await one(first)] : await many(distinct);
      for (const [index, list] of distinct.entries()) responses.set(keyOf(list), found[index] as V);
    }),
  );
  return lists.map((list) => responses.get(keyOf(list)) as V);
}

/** Returns a function that tells which of the lists a row belongs to. */
export function placeIn(lists: Lists): (row: Conditions) => string {
  const names = idsOf(lists);
  return (row) => JSON.stringify(names.map((name) => row[name]));
}

function kindOf({ table, where, range, links }: AnyList): string {
  const conditions = Object.entries(where).map(([name, value]) =>
    isId(name, value) ? name : [name, value],
  );
  return textOf([table, conditions, range, links]);
}

function keyOf({ table, where, range, links }: AnyList): string {
  return textOf([table, where, range, links]);
}

function textOf(value: unknown): string {
  return JSON.stringify(value, (_key, inner) => (typeof inner === 'bigint' ? `${inner}n` : inner));
}
