/** Whether the gateway can be reached, as the last request and the socket have found. */
type Listener = () => void;

let isLost = false;
const listeners = new Set<Listener>();

export const connectionState = {
  get isLost() {
    return isLost;
  },
  set(lost: boolean) {
    if (lost === isLost) return;
    isLost = lost;
    for (const listener of listeners) listener();
  },
  subscribe(listener: Listener) {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
};

/** Where the gateway is: the page may lie below a proxy's path. */
export const BASE = /^(.*?)\/(?:console|connect)(?:\/|$)/.exec(location.pathname)?.[1] ?? '';
export const GRAPHQL_URL = `${BASE}/graphql`;
