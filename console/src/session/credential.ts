/**
 * The reader's credential: the session of the browser, an API key or a bearer token. Keys and tokens are kept in this
 * tab only, and never in a URL.
 */

import { BASE } from '../network/connection-state.ts';
import type { HeaderMap } from '../network/fetch-graphql.ts';

const KEY = 'gateway.credential';

/** Stands for the session of the browser, whose cookie the browser adds to requests. */
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

/** The demo's own credential, which the gateway gives to browsers on its machine; null for others. */
export async function findDemoCredentials(): Promise<DemoCredentials | null> {
  try {
    const response = await fetch(`${BASE}/console/demo.json`);
    return response.ok ? ((await response.json()) as DemoCredentials) : null;
  } catch {
    return null;
  }
}

/** The gateway's demo tokens expire after an hour. */
const RENEW_MS = 30 * 60_000;
const DEMO_ISSUER = 'urn:integration-gateway:local-issuer';
const DEMO_SUBJECT = 'demo';

/**
 * Renews a demo token in place: requests and reconnects read `headers` each time. Does nothing for other credentials.
 * Returns a function that stops the renewal.
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
