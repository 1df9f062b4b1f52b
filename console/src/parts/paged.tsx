/** A paged list: its empty state, its rows, and the button that loads more. */
import type { ReactNode } from 'react';
import { usePaginationFragment } from 'react-relay';
import type { FragmentType, GraphQLTaggedNode, OperationType } from 'relay-runtime';
import { Action } from './form.tsx';
import { refreshAll, useRefreshHold } from './refresh.ts';

/** The reference to a fragment in a query's data, as relay-compiler types it. */
type Spread<Data> = Readonly<{ ' $data'?: Data; ' $fragmentSpreads': FragmentType }>;

interface Pages<Node> {
  totalCount: number;
  edges: readonly { node: Node }[];
}

interface PagedProps<Data, Node> {
  /** A refetchable fragment with one connection. */
  fragment: GraphQLTaggedNode;
  parent: Spread<Data>;
  /** Selects the connection in the fragment's data. Null if the viewer may not see it. */
  list: (data: Data) => Pages<Node> | null | undefined;
  /** Replaces the list if it has no rows. */
  empty: ReactNode;
  children: (nodes: Node[]) => ReactNode;
}

export const PAGE_SIZE = 25;

export function Paged<Data, Node>(props: PagedProps<Data, Node>) {
  const { fragment, parent, list, empty, children } = props;
  const { data, ...pages } = usePaginationFragment<OperationType, Spread<Data>>(fragment, parent);
  const { edges = [], totalCount = 0 } = list(data) ?? {};
  const isLonger = edges.length > PAGE_SIZE;
  useRefreshHold(isLonger);
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
            Reload list
          </Action>
        )}
      </div>
    </>
  );
}
