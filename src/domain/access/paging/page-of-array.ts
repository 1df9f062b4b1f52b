import { encodeCursor, type NamedList } from './list-cursor.ts';
import { type Page, type PageArgs, readPageArgs } from './page.ts';

/** Creates a page of a list in memory. `nodes` must be sorted by their string keys. */
export function createArrayPage<N>(
  list: NamedList & { key: (node: N) => string },
  nodes: readonly N[],
  args: PageArgs,
): Page<N> {
  const { size, isBackward, after, before } = readPageArgs(args, list);
  const rangeNodes = nodes.filter(
    (node) =>
      (after === undefined || list.key(node) > String(after)) &&
      (before === undefined || list.key(node) < String(before)),
  );
  const pageNodes = isBackward ? rangeNodes.slice(-size) : rangeNodes.slice(0, size);
  const edges = pageNodes.map((node) => ({ node, cursor: encodeCursor(list, list.key(node)) }));
  // For an empty page, the cursors determine on which side there are items.
  const firstNode = pageNodes[0];
  const lastNode = pageNodes.at(-1);
  const precedes = (node: N) =>
    firstNode
      ? list.key(node) < list.key(firstNode)
      : after !== undefined && list.key(node) <= String(after);
  const follows = (node: N) =>
    lastNode
      ? list.key(node) > list.key(lastNode)
      : before !== undefined && list.key(node) >= String(before);
  return {
    edges,
    pageInfo: {
      hasNextPage: nodes.some(follows),
      hasPreviousPage: nodes.some(precedes),
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
    totalCount: () => nodes.length,
  };
}
