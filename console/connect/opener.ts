/** Reports events to the page that opened this one in a frame or a window. `connect.js` listens. */
type ConnectEvent =
  /** Confirms to `connect.js` that the page has loaded. `connect.js` does not report this event to its page. */
  | { type: 'ready' }
  | { type: 'connected'; connectionId: string; provider: string }
  | { type: 'installed'; installationId: string; integration: string }
  | { type: 'failed'; detail: string }
  | { type: 'closed' };

const params = new URLSearchParams(location.search);
/** The origin of the opener, from the URL. Browsers deliver messages only to a page of this origin. */
const origin = params.get('origin');
/** The project whose allowed origins may frame this page, by the response's Content-Security-Policy. */
export const framedProjectId = params.get('project');

/** The connection that a reconnect link names. Its form is open when the page opens. */
export const reconnectId = params.get('connection');

export const isFramed = window.parent !== window;
const opener: Window | null = isFramed ? window.parent : window.opener;

export function notifyOpener(event: ConnectEvent): void {
  if (opener && origin) opener.postMessage({ source: 'integration-gateway', ...event }, origin);
}

/** True if the opener waits for this page to close. */
export const hasOpener = opener !== null && origin !== null;
