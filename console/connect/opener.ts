/** Tells the page that opened this one, in a frame or a window, what has happened. `connect.js` listens. */
export type ConnectEvent =
  | { type: 'connected'; connectionId: string; provider: string }
  | { type: 'installed'; installationId: string; integration: string }
  | { type: 'failed'; detail: string }
  | { type: 'closed' };

const params = new URLSearchParams(location.search);
/** Which page may hear it: it says so itself, and browsers give messages to no other. */
const origin = params.get('origin');
/** Whose pages may frame this one: the server was told, and has answered for that project. */
export const framedFor = params.get('project');

const isFramed = window.parent !== window;
const opener: Window | null = isFramed ? window.parent : window.opener;

export function notifyOpener(event: ConnectEvent): void {
  if (opener && origin) opener.postMessage({ source: 'integration-gateway', ...event }, origin);
}

/** Whether somebody waits for this page to close. */
export const isOpened = opener !== null && origin !== null;
export { isFramed };
