import { encodeCursor, type NamedList } from './list-cursor.ts';
import { type Page, type PageArgs, readPageArgs } from './page.ts';

/** Returns a page of a list in memory, ordered by a text key. */
export function pageOfArray<N>(
  list: NamedList & { key: (node: N) => string },
  all: readonly N[],
  args: PageArgs,
): Page<N> {
  const { size, backwards, after, before } = readPageArgs(args, list);
  const inside = all.filter(
    (node) =>
      (after === undefined || list.key(node) > String(after)) &&
      (before === undefined || list.key(node) < String(before)),
  );
  const own = backwards ? inside.slice(-size) : inside.slice(0, size);
  const edges = own.map((node) => ({ node, cursor: encodeCursor(list, list.key(node)) }));
  // If the page is empty, the cursors determine on which side of the list items were omitted.
  const [first, last] = [own[0], own.at(-1)];
  const precedes = (node: N) =>
    first
      ? list.key(node) < list.key(first)
      : after !== undefined && list.key(node) <= String(after);
  const follows = (node: N) =>
    last
      ? list.key(node) > list.key(last)
      : before !== undefined && list.key(node) >= String(before);
  return {
    edges,
    pageInfo: {
      hasNextPage: all.some(follows),
      hasPreviousPage: all.some(precedes),
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
    totalCount: () => all.length,
  };
}
