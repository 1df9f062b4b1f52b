/** Stores whether the gateway is reachable, by the last request and the state of the WebSocket. */
type Listener = () => void;

let isLost = false;
const listeners = new Set<Listener>();

export const connectionState = {
  get isLost() {
    return isLost;
  },
  setLost(isNowLost: boolean) {
    if (isNowLost === isLost) return;
    isLost = isNowLost;
    for (const listener of listeners) listener();
  },
  subscribe(listener: Listener) {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
};

/** The gateway's base URL. The page may be served below a proxy's path. */
export const BASE = /^(.*?)\/(?:console|connect)(?:\/|$)/.exec(location.pathname)?.[1] ?? '';
export const GRAPHQL_URL = `${BASE}/graphql`;
