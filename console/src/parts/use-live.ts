/** What comes live: the last ones first, then each new one. A pause and a lost connection leave no gap. */
import { useEffect, useRef, useState } from 'react';
import { type Problem, problemOf } from '../network/problem.ts';

export interface Live<Item> {
  /** Newest first. */
  items: Item[];
  isLoaded: boolean;
  problem: Problem | null;
}

interface Sink<Value> {
  next: (value: Value) => void;
  error: (error: unknown) => void;
}

/** Where they come from. Both give a function that ends them. */
export interface Source<Item> {
  /** The last ones, oldest first, and the cursor behind them. */
  readLast: (sink: Sink<{ items: Item[]; cursor: string | null }>) => () => void;
  follow: (cursor: string | null, sink: Sink<{ item: Item; cursor: string }>) => () => void;
}

/** How many are kept on the page: older ones are a page of the list away. */
const KEPT_MAX = 300;
export const LAST_COUNT = 50;

/** A new source begins anew: give the same one as long as nothing about it changes. */
export function useLive<Item>(source: Source<Item>, isPaused: boolean): Live<Item> {
  const cursor = useRef<string | null>(null);
  const [live, setLive] = useState<Live<Item>>({ items: [], isLoaded: false, problem: null });
  const [start, setStart] = useState(0);

  useEffect(() => {
    cursor.current = null;
    return source.readLast({
      next: (last) => {
        cursor.current = last.cursor;
        setLive({ items: last.items.toReversed(), isLoaded: true, problem: null });
        setStart((count) => count + 1);
      },
      error: (error) => setLive({ items: [], isLoaded: true, problem: problemOf(error) }),
    });
  }, [source]);

  useEffect(() => {
    if (start === 0 || isPaused) return;
    return source.follow(cursor.current, {
      next: ({ item, cursor: at }) => {
        cursor.current = at;
        setLive((before) => ({ ...before, items: [item, ...before.items].slice(0, KEPT_MAX) }));
      },
      error: (error) => setLive((before) => ({ ...before, problem: problemOf(error) })),
    });
  }, [source, start, isPaused]);
  return live;
}
