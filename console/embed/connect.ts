/**
 * `/connect.js`: opens the connect page in a frame or a window and reports its events. It uses no cookie and stores
 * nothing. It accepts messages only from the page that it opened.
 */
type MessageKind = 'connected' | 'installed' | 'failed' | 'closed';

interface ConnectMessage {
  type: MessageKind;
  [fact: string]: unknown;
}

interface ConnectOptions {
  /** `connectUrl` of createSessionToken. */
  connectUrl: string;
  /** The element for the frame; default: a new window. */
  container?: HTMLElement;
  onEvent?: (message: ConnectMessage) => void;
}

interface ConnectHandle {
  close(): void;
}

const WATCH_MS = 500;
/** The time after `onload` in which the page's message `ready` must arrive. The page sends it before `onload`. */
const READY_TIMEOUT_MS = 3_000;
const FRAME_BLOCKED = `The connect page did not open in the frame. Add ${location.origin} to allowedOrigins of the project.`;

/** Adds the origin of this page, to which messages are sent, and the project, whose settings permit frames by origin. */
function createPageUrl(connectUrl: string): URL {
  const url = new URL(connectUrl);
  const token = new URLSearchParams(url.hash.slice(1)).get('token') ?? '';
  const payload = (token.split('.')[1] ?? '').replace(/-/g, '+').replace(/_/g, '/');
  url.searchParams.set('project', JSON.parse(atob(payload)).project);
  url.searchParams.set('origin', location.origin);
  return url;
}

function open({ connectUrl, container, onEvent }: ConnectOptions): ConnectHandle {
  const url = createPageUrl(connectUrl);
  const frame = container ? document.createElement('iframe') : null;
  let popup: Window | null = null;
  let isClosed = false;
  let isReady = false;
  let readyTimer: ReturnType<typeof setTimeout> | undefined;

  const notify = (message: ConnectMessage) => onEvent?.(message);
  /** Also writes a warning to the console, for developers whose page has no listener yet. */
  const fail = (detail: string) => {
    console.warn(`Integration gateway: ${detail}`);
    notify({ type: 'failed', detail });
  };
  const close = () => {
    if (isClosed) return;
    isClosed = true;
    clearInterval(popupTimer);
    clearTimeout(readyTimer);
    removeEventListener('message', onMessage);
    frame?.remove();
    popup?.close();
    notify({ type: 'closed' });
  };
  const onMessage = ({ origin, source, data }: MessageEvent) => {
    const page = frame ? frame.contentWindow : popup;
    if (origin !== url.origin || source !== page || data?.source !== 'integration-gateway') return;
    const { source: _source, ...message } = data;
    if (message.type === 'ready') isReady = true;
    else if (message.type === 'closed') close();
    else notify(message);
  };
  addEventListener('message', onMessage);
  if (frame && container) {
    frame.src = url.href;
    frame.title = 'Connect an account';
    frame.style.cssText = 'border:0;width:100%;min-height:560px';
    // `onload` also fires if the browser refuses to frame the page, so only the message `ready` shows success.
    frame.onload = () => {
      readyTimer = setTimeout(() => isReady || fail(FRAME_BLOCKED), READY_TIMEOUT_MS);
    };
    container.append(frame);
  } else {
    popup = window.open(url.href, 'connect', 'popup,width=640,height=800');
    if (!popup) fail('The browser blocked the window. Open it from a click, or allow pop-ups.');
  }
  const popupTimer = setInterval(() => popup?.closed && close(), WATCH_MS);
  return { close };
}

Object.assign(window, { IntegrationGateway: { open } });
