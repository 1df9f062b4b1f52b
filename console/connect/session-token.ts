/** The end user's token, which only the fragment of the address has: no log and no other page sees it. */
export interface Session {
  token: string;
  projectId: string;
  returnUrl: string | null;
}

interface Claims {
  project?: unknown;
  returnUrl?: unknown;
}

/** What the token says for this page; the gateway alone checks it. Null if there is no token. */
export function readSession(fragment: string): Session | null {
  const token = new URLSearchParams(fragment.replace(/^#/, '')).get('token');
  if (!token) return null;
  try {
    const { project, returnUrl } = claimsOf(token);
    return {
      token,
      projectId: String(project),
      returnUrl: typeof returnUrl === 'string' ? returnUrl : null,
    };
  } catch {
    return null;
  }
}

function claimsOf(token: string): Claims {
  const payload = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
  return JSON.parse(
    new TextDecoder().decode(Uint8Array.from(atob(payload), (c) => c.charCodeAt(0))),
  );
}

const KEPT = 'connect.session';
const FACTS = ['connectionId', 'error', 'error_description'];

/** The provider leads the browser back to this address. The token is in none that others see: it stays in the tab. */
export function leaveFor(authorizeUrl: string): void {
  sessionStorage.setItem(KEPT, location.hash);
  location.assign(authorizeUrl);
}

/** Where a consent in this window leads back to. */
export const returnAddress = () => location.origin + location.pathname + location.search;

/** What a consent in this window has come to. */
export interface Returned {
  connectionId: string | null;
  /** Why nothing was connected; null if something was. */
  failure: string | null;
}

/** After a consent in this window, puts the token back, so that the page can be loaded again. Null at other times. */
export function takeReturned(): Returned | null {
  const url = new URL(location.href);
  const kept = sessionStorage.getItem(KEPT);
  const [connectionId, error, detail] = FACTS.map((name) => url.searchParams.get(name));
  if (kept === null || !(connectionId || error)) return null;
  sessionStorage.removeItem(KEPT);
  for (const name of FACTS) url.searchParams.delete(name);
  url.hash = kept;
  history.replaceState(null, '', url);
  return {
    connectionId: connectionId ?? null,
    failure: connectionId ? null : (detail ?? error ?? ''),
  };
}
