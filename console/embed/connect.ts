/**
 * `/connect.js`: opens the connect page in a frame or a window, and tells what happens there. It uses no cookie and
 * stores nothing. Messages are taken from the page that it opened alone.
 */
type Kind = 'connected' | 'installed' | 'failed' | 'closed';

interface Message {
  type: Kind;
  [fact: string]: unknown;
}

interface Options {
  /** `connectUrl` of createSessionToken. */
  connectUrl: string;
  /** Where the frame goes; default: a window of its own. */
  container?: HTMLElement;
  onEvent?: (message: Message) => void;
}

interface Opened {
  close(): void;
}

const WATCH_MS = 500;

/** The page's own origin hears what happens; the project tells the server who may frame the page. */
function addressOf(connectUrl: string): URL {
  const url = new URL(connectUrl);
  const token = new URLSearchParams(url.hash.slice(1)).get('token') ?? '';
  const payload = (token.split('.')[1] ?? '').replace(/-/g, '+').replace(/_/g, '/');
  url.searchParams.set('project', JSON.parse(atob(payload)).project);
  url.searchParams.set('origin', location.origin);
  return url;
}

function open({ connectUrl, container, onEvent }: Options): Opened {
  const url = addressOf(connectUrl);
  const frame = container ? document.createElement('iframe') : null;
  let popup: Window | null = null;
  let isOver = false;

  const tell = (message: Message) => onEvent?.(message);
  const close = () => {
    if (isOver) return;
    isOver = true;
    clearInterval(timer);
    removeEventListener('message', hear);
    frame?.remove();
    popup?.close();
    tell({ type: 'closed' });
  };
  const hear = ({ origin, source, data }: MessageEvent) => {
    const page = frame ? frame.contentWindow : popup;
    if (origin !== url.origin || source !== page || data?.source !== 'integration-gateway') return;
    const { source: _source, ...message } = data;
    if (message.type === 'closed') close();
    else tell(message);
  };
  addEventListener('message', hear);
  if (frame && container) {
    frame.src = url.href;
    frame.title = 'Connect an account';
    frame.style.cssText = 'border:0;width:100%;min-height:560px';
    container.append(frame);
  } else {
    popup = window.open(url.href, 'connect', 'popup,width=640,height=800');
    if (!popup) tell({ type: 'failed', detail: 'The browser has blocked the window.' });
  }
  const timer = setInterval(() => popup?.closed && close(), WATCH_MS);
  return { close };
}

Object.assign(window, { IntegrationGateway: { open } });
