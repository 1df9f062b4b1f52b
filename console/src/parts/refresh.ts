/** When pages read again: after each change of their own, and regularly while somebody looks. */
import { useEffect, useState, useSyncExternalStore } from 'react';
import { connectionState } from '../network/connection-state.ts';

let round = 0;
const listeners = new Set<() => void>();

/** What is on the screen is read again. */
export function refreshAll(): void {
  round += 1;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

// What happened while the connection was lost is on no page.
connectionState.subscribe(() => {
  if (!connectionState.isLost) refreshAll();
});

let held = 0;

/** Regular reading stops meanwhile: it would take back the pages of a list that were asked for. */
export function useHeld(isHeld: boolean): void {
  useEffect(() => {
    if (!isHeld) return;
    held += 1;
    return () => {
      held -= 1;
    };
  }, [isHeld]);
}

/** Changes when the page is to be read again. */
export function useRefreshKey(everyMs?: number): string {
  const current = useSyncExternalStore(subscribe, () => round);
  const [ticks, setTicks] = useState(0);
  useEffect(() => {
    if (everyMs === undefined) return;
    const timer = setInterval(() => {
      if (!document.hidden && !connectionState.isLost && held === 0) setTicks((count) => count + 1);
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return `${current}.${ticks}`;
}
