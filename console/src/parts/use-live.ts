/**
 * A live list: the latest entries, then each new entry, and older entries on demand. After a pause or a lost
 * connection, no entry is missing.
 */
import { useEffect, useRef, useState } from 'react';
import { type Problem, toProblem } from '../network/problem.ts';

interface LiveEdge<Item> {
  cursor: string;
  node: Item;
}

/** A page of the list, oldest first. */
interface LivePage<Item> {
  edges: readonly LiveEdge<Item>[];
  /** The cursor after the last entry. Null if there are no entries. */
  endCursor: string | null;
  hasOlder: boolean;
}

export interface Live<Item> {
  /** Newest first. */
  items: Item[];
  isLoaded: boolean;
  problem: Problem | null;
  hasOlder: boolean;
  isLoadingOlder: boolean;
  readOlder: () => void;
}

interface Sink<Value> {
  next: (value: Value) => void;
  error: (error: unknown) => void;
}

/** Functions that load and follow the list. Each returns a function that stops it. */
export interface LiveSource<Item> {
  /** Loads the latest entries, or the latest entries before a cursor. */
  read: (before: string | null, sink: Sink<LivePage<Item>>) => () => void;
  /** Follows new entries. Null if no more entries can arrive. */
  follow: ((cursor: string | null, sink: Sink<LiveEdge<Item>>) => () => void) | null;
}

/** The number of new entries that stay in the list. Dropped entries can be loaded again as older entries. */
const KEPT_MAX = 300;
export const LAST_COUNT = 50;

interface LiveState<Item> {
  /** Newest first. */
  edges: readonly LiveEdge<Item>[];
  /** The maximum number of entries in the list. It grows when the user loads older entries. */
  edgesMax: number;
  hasOlder: boolean;
  isLoaded: boolean;
  problem: Problem | null;
}

const INITIAL_STATE = {
  edges: [],
  edgesMax: KEPT_MAX,
  hasOlder: false,
  isLoaded: false,
  problem: null,
};

/** A new source object restarts the list, so pass the same object while the source is unchanged. */
export function useLive<Item>(source: LiveSource<Item>, isPaused: boolean): Live<Item> {
  const cursor = useRef<string | null>(null);
  const [state, setState] = useState<LiveState<Item>>(INITIAL_STATE);
  const [start, setStart] = useState(0);
  const [olderThan, setOlderThan] = useState<string | null>(null);
  const fail = (error: unknown) =>
    setState((before) => ({ ...before, isLoaded: true, problem: toProblem(error) }));

  useEffect(() => {
    cursor.current = null;
    setOlderThan(null);
    return source.read(null, {
      next: ({ edges, endCursor, hasOlder }) => {
        cursor.current = endCursor;
        setState({ ...INITIAL_STATE, edges: edges.toReversed(), hasOlder, isLoaded: true });
        setStart((count) => count + 1);
      },
      error: (error) => setState({ ...INITIAL_STATE, isLoaded: true, problem: toProblem(error) }),
    });
  }, [source]);

  useEffect(() => {
    if (start === 0 || isPaused) return;
    return source.follow?.(cursor.current, {
      next: (edge) => {
        cursor.current = edge.cursor;
        setState((before) => addNew(before, edge));
      },
      error: fail,
    });
  }, [source, start, isPaused]);

  useEffect(() => {
    if (olderThan === null) return;
    return source.read(olderThan, {
      next: (page) => {
        setState((before) => addOlder(before, page));
        setOlderThan(null);
      },
      error: (error) => {
        setOlderThan(null);
        fail(error);
      },
    });
  }, [source, olderThan]);

  const { edges, isLoaded, problem, hasOlder } = state;
  return {
    items: edges.map(({ node }) => node),
    isLoaded,
    problem,
    hasOlder,
    isLoadingOlder: olderThan !== null,
    readOlder: () => setOlderThan(edges.at(-1)?.cursor ?? null),
  };
}

function addNew<Item>(before: LiveState<Item>, edge: LiveEdge<Item>): LiveState<Item> {
  const edges = [edge, ...before.edges];
  const isFull = edges.length > before.edgesMax;
  return {
    ...before,
    edges: isFull ? edges.slice(0, before.edgesMax) : edges,
    hasOlder: before.hasOlder || isFull,
  };
}

function addOlder<Item>(
  before: LiveState<Item>,
  { edges: olderEdges, hasOlder }: LivePage<Item>,
): LiveState<Item> {
  const edges = [...before.edges, ...olderEdges.toReversed()];
  return { ...before, edges, edgesMax: KEPT_MAX + edges.length, hasOlder };
}
