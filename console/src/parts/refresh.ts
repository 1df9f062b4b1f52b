/** Refreshes pages after each change by the user, and regularly while the page is visible. */
import { useEffect, useState, useSyncExternalStore } from 'react';
import { connectionState } from '../network/connection-state.ts';

let refreshKey = 0;
const listeners = new Set<() => void>();

/** Refreshes the data of all visible pages. */
export function refreshAll(): void {
  refreshKey += 1;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

// While the connection was lost, no page has received changes.
connectionState.subscribe(() => {
  if (!connectionState.isLost) refreshAll();
});

let holdCount = 0;

/** Stops regular refreshes. They would drop the pages of a list that the user has loaded. */
export function useRefreshHold(isHeld: boolean): void {
  useEffect(() => {
    if (!isHeld) return;
    holdCount += 1;
    return () => {
      holdCount -= 1;
    };
  }, [isHeld]);
}

/** A number that changes when the page must refresh. */
export function useRefreshKey(everyMs?: number): string {
  const current = useSyncExternalStore(subscribe, () => refreshKey);
  const [ticks, setTicks] = useState(0);
  useEffect(() => {
    if (everyMs === undefined) return;
    const timer = setInterval(() => {
      if (!document.hidden && !connectionState.isLost && holdCount === 0)
        setTicks((count) => count + 1);
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return `${current}.${ticks}`;
}
