/** The session of the browser, which the gateway keeps: its cookie can't be read by scripts. All tabs share it. */
import { BASE } from '../network/connection-state.ts';

export interface BrowserSession {
  name: string | null;
  email: string | null;
  secondsLeft: number;
  /** False if activity can't extend the session, because it already lasts until its maximum lifetime. */
  isExtensible: boolean;
}

export interface SignInState {
  /** OpenID providers, and the links that begin a sign-in at each. */
  issuers: { name: string; url: string }[];
  /** True if the local issuer signs people in with its password. */
  hasLocalSignIn: boolean;
  /** Null if no person is signed in. */
  session: BrowserSession | null;
}

const SESSION_URL = `${BASE}/session`;

/** Null if the gateway is unreachable. */
export async function readSignInState(): Promise<SignInState | null> {
  try {
    const response = await fetch(SESSION_URL);
    return response.ok ? ((await response.json()) as SignInState) : null;
  } catch {
    return null;
  }
}

/** Extends the session. The result is null if the gateway is unreachable; its `session` is null if it has ended. */
export async function extendSession(): Promise<Pick<SignInState, 'session'> | null> {
  try {
    const response = await fetch(SESSION_URL, { method: 'POST' });
    if (response.status === 401) return { session: null };
    return response.ok ? ((await response.json()) as Pick<SignInState, 'session'>) : null;
  } catch {
    return null;
  }
}

/** Signs the browser out in all tabs. False if the gateway is unreachable, so that the session continues. */
export async function endSession(): Promise<boolean> {
  try {
    const { ok } = await fetch(SESSION_URL, { method: 'DELETE' });
    if (ok) tabs.postMessage('ended');
    return ok;
  } catch {
    return false;
  }
}

/** Returns the reason of a refusal, or null after success. */
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
    // A proxy's refusal has no JSON.
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

/** The link that begins a sign-in at an OpenID provider and leads back to this page. */
export function createSignInLink(url: string): string {
  const { pathname, search } = location;
  const link = new URL(url);
  link.searchParams.set('return', `${pathname.slice(BASE.length)}${search}`);
  return link.href;
}
