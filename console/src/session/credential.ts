/**
 * The credential of the user: the browser session, an API key or a bearer token. Keys and tokens are kept
 * only in this tab, and never in a URL.
 */

import { BASE } from '../network/connection-state.ts';
import type { HeaderMap } from '../network/fetch-graphql.ts';

const KEY = 'gateway.credential';

/** Stands for the browser session. The browser adds its cookie to requests. */
export const BROWSER_SESSION = { kind: 'BROWSER_SESSION' } as const;
export type Credential = string | typeof BROWSER_SESSION;

export function readStoredCredential(): string | null {
  return sessionStorage.getItem(KEY);
}

export function storeCredential(credential: Credential | null): void {
  if (typeof credential !== 'string') sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, credential);
}

/** An API key begins with `ik_`. Any other string is a bearer token. */
export function createHeaders(credential: Credential): HeaderMap {
  if (typeof credential !== 'string') return {};
  return credential.startsWith('ik_')
    ? { 'x-api-key': credential }
    : { authorization: `Bearer ${credential}` };
}

export interface DemoCredentials {
  apiKey: string;
  bearerToken?: string;
}

/**
 * Returns the demo's credential, which the gateway sends only to browsers on its own machine. Null for other
 * browsers.
 */
export async function findDemoCredentials(): Promise<DemoCredentials | null> {
  try {
    const response = await fetch(`${BASE}/console/demo.json`);
    return response.ok ? ((await response.json()) as DemoCredentials) : null;
  } catch {
    return null;
  }
}

/** Well below the hour after which demo tokens expire. */
const RENEW_MS = 30 * 60_000;
const DEMO_ISSUER = 'urn:integration-gateway:local-issuer';
const DEMO_SUBJECT = 'demo';

/**
 * Renews a demo token. The new token is stored in the same object, because requests and reconnects read
 * `headers` each time. Does nothing for other credentials. Returns a function that stops the renewal.
 */
export function keepDemoTokenFresh(credential: Credential, headers: HeaderMap): () => void {
  if (typeof credential !== 'string' || !isDemoToken(credential)) return () => {};
  const timer = setInterval(async () => {
    const bearerToken = (await findDemoCredentials())?.bearerToken;
    if (bearerToken === undefined) return;
    storeCredential(bearerToken);
    Object.assign(headers, createHeaders(bearerToken));
  }, RENEW_MS);
  return () => clearInterval(timer);
}

function isDemoToken(credential: string): boolean {
  const [, payload] = credential.split('.');
  if (payload === undefined) return false;
  try {
    const { iss, sub } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')));
    return iss === DEMO_ISSUER && sub === DEMO_SUBJECT;
  } catch {
    return false;
  }
}
