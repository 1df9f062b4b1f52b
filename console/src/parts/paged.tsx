/** A list that is read page by page: what to do if it is empty, its rows, and the button for more. */
import type { ReactNode } from 'react';
import { Action } from './form.tsx';
import { refreshAll, useHeld } from './refresh.ts';

interface PagedProps<Node> {
  list: { totalCount: number; edges: readonly { node: Node }[] };
  /** What usePaginationFragment gave beside the list. */
  pages: { hasNext: boolean; isLoadingNext: boolean; loadNext: (count: number) => unknown };
  /** In the place of a list without rows. */
  empty: ReactNode;
  children: (nodes: Node[]) => ReactNode;
}

export const PAGE_SIZE = 25;

export function Paged<Node>({ list, pages, empty, children }: PagedProps<Node>) {
  const { edges, totalCount } = list;
  const isLonger = edges.length > PAGE_SIZE;
  useHeld(isLonger);
  if (edges.length === 0) return empty;
  return (
    <>
      {children(edges.map(({ node }) => node))}
      <div className="more">
        <span className="quiet">
          {edges.length.toLocaleString('en')} of {totalCount.toLocaleString('en')}
        </span>
        {pages.hasNext && (
          <Action isPending={pages.isLoadingNext} onPress={() => pages.loadNext(PAGE_SIZE)}>
            Show more
          </Action>
        )}
        {isLonger && (
          <Action kind="quiet" onPress={refreshAll}>
            Read again from the top
          </Action>
        )}
      </div>
    </>
  );
}
