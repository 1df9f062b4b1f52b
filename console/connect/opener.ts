/** Reports events to the page that opened this one in a frame or a window. `connect.js` listens. */
type ConnectEvent =
  /** The page has loaded, which `connect.js` expects. It does not report this event. */
  | { type: 'ready' }
  | { type: 'connected'; connectionId: string; provider: string }
  | { type: 'installed'; installationId: string; integration: string }
  | { type: 'failed'; detail: string }
  | { type: 'closed' };

const params = new URLSearchParams(location.search);
/** The origin that may receive messages. The opener names it, and browsers deliver messages to no other origin. */
const origin = params.get('origin');
/** The project whose pages may frame this one. The server named it in its response. */
export const framedProjectId = params.get('project');

/** The connection that a reconnect link names. Its form is open from the start. */
export const reconnectId = params.get('connection');

export const isFramed = window.parent !== window;
const opener: Window | null = isFramed ? window.parent : window.opener;

export function notifyOpener(event: ConnectEvent): void {
  if (opener && origin) opener.postMessage({ source: 'integration-gateway', ...event }, origin);
}

/** True if the opener waits for this page to close. */
export const hasOpener = opener !== null && origin !== null;
