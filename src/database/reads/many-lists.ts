/**
 * Lists that differ by ids alone, like the operations of each of many installations, in one statement:
 * the ids are joined as the rows of `requested`, and each of them takes its own range of the index.
 */
import { type AnyList, type Conditions, idsOf, isId, type Lists } from './list-shape.ts';

interface Reads<L, V> {
  one(list: L): Promise<V>;
  /** Of one kind, and all of them different. */
  many(lists: L[]): Promise<V[]>;
}

/** An answer for each list, in their order: with one question for all of one kind. */
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

/** Tells which of the lists of one kind a row is of. */
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
