/** Who reads: an API key or a bearer token, kept for this tab alone and never in an address. */

import { BASE } from '../network/connection-state.ts';
import type { Headers } from '../network/fetch-graphql.ts';

const KEY = 'gateway.credential';

export function storedCredential(): string | null {
  return sessionStorage.getItem(KEY);
}

export function storeCredential(credential: string | null): void {
  if (credential === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, credential);
}

/** An API key begins with `ik_`; everything else is a bearer token. */
export function headersOf(credential: string): Headers {
  return credential.startsWith('ik_')
    ? { 'x-api-key': credential }
    : { authorization: `Bearer ${credential}` };
}

export interface DemoCredentials {
  apiKey: string;
  bearerToken?: string;
}

/** The demo's own, which the gateway gives to a browser of its machine; null for everybody else. */
export async function findDemo(): Promise<DemoCredentials | null> {
  try {
    const response = await fetch(`${BASE}/console/demo.json`);
    return response.ok ? ((await response.json()) as DemoCredentials) : null;
  } catch {
    return null;
  }
}
