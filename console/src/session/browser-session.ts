/**
 * The browser session: a cookie that scripts can't read, which all tabs share. The functions call the
 * gateway's sign-in.
 */
import { BASE } from '../network/connection-state.ts';

export interface BrowserSession {
  name: string | null;
  email: string | null;
  secondsLeft: number;
  /** False if activity can no longer extend the session, because it has reached its maximum lifetime. */
  isExtensible: boolean;
}

export interface SignInState {
  /** The OpenID providers, each with the link that begins a sign-in. */
  issuers: { name: string; url: string }[];
  /** True if people can sign in with the local issuer's password. */
  hasLocalSignIn: boolean;
  /** Null if no person is signed in. */
  session: BrowserSession | null;
}

const SESSION_URL = `${BASE}/session`;

/** Returns the session's state. Null if the gateway is unreachable. */
export async function readSignInState(): Promise<SignInState | null> {
  try {
    const response = await fetch(SESSION_URL);
    return response.ok ? ((await response.json()) as SignInState) : null;
  } catch {
    return null;
  }
}

/**
 * Extends the session. Returns null if the gateway is unreachable. If the session has ended, the result's
 * `session` is null.
 */
export async function extendSession(): Promise<Pick<SignInState, 'session'> | null> {
  try {
    const response = await fetch(SESSION_URL, { method: 'POST' });
    if (response.status === 401) return { session: null };
    return response.ok ? ((await response.json()) as Pick<SignInState, 'session'>) : null;
  } catch {
    return null;
  }
}

export interface SignOut {
  /** The URL at which the person signs out at the OpenID provider too. Null if none is known. */
  providerUrl: string | null;
}

/** Signs the browser out in all tabs. Returns null if the gateway is unreachable, and the session continues. */
export async function endSession(): Promise<SignOut | null> {
  try {
    const response = await fetch(SESSION_URL, { method: 'DELETE' });
    if (!response.ok) return null;
    tabs.postMessage('ended');
    return response.status === 200 ? ((await response.json()) as SignOut) : { providerUrl: null };
  } catch {
    return null;
  }
}

/**
 * Signs in with the local issuer's password. Returns the reason if the gateway refuses it, or null after
 * success.
 */
export async function signInLocally(input: {
  email: string;
  name?: string;
  password: string;
}): Promise<string | null> {
  try {
    const response = await fetch(`${BASE}/sign-in/local`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(input),
    });
    if (response.ok) return null;
    // The response may come from a proxy and contain no JSON.
    const body = (await response.json().catch(() => null)) as { detail?: string } | null;
    return body?.detail ?? `Sign-in failed (${response.status}).`;
  } catch {
    return 'The gateway did not respond. Try again.';
  }
}

const tabs = new BroadcastChannel('gateway.session');

/** Calls the listener when another tab signs out. Returns a function that removes it. */
export function onSignedOutElsewhere(listener: () => void): () => void {
  tabs.addEventListener('message', listener);
  return () => tabs.removeEventListener('message', listener);
}

/** Returns the link that begins a sign-in at an OpenID provider. The sign-in returns to this page. */
export function createSignInLink(url: string): string {
  const { pathname, search } = location;
  const link = new URL(url);
  link.searchParams.set('return', `${pathname.slice(BASE.length)}${search}`);
  return link.href;
}
