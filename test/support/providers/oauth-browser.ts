/** Simulates a person's browser during an OAuth flow. It keeps the gateway's cookies. */
import { expect } from 'vitest';
import type { TestApp } from '../app.ts';

/** Browsers send this header if the connect page or the console opens the link. */
const FROM_OWN_PAGE = { 'sec-fetch-site': 'same-origin' };

export type OAuthBrowser = ReturnType<typeof createOAuthBrowser>;

export function createOAuthBrowser({ fetch: fetchGateway }: Pick<TestApp, 'fetch'>) {
  const cookies = new Map<string, string>();
  /** Sends a request to the gateway. Ignores the host of the URL. */
  const send = async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const { pathname, search } = new URL(url);
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...(cookie && { cookie }), ...init.headers };
    const response = await fetchGateway(pathname + search, { ...init, headers });
    for (const text of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(text) as unknown as [string, string, string];
      cookies.set(name, value);
    }
    return response;
  };
  /**
   * Opens the link of an OAuth flow. Returns the URL of the provider's consent page, to which the gateway
   * redirects.
   */
  const open = async (link: string | URL): Promise<URL> => {
    const response = await send(link, { headers: FROM_OWN_PAGE });
    expect(response.status).toBe(302);
    return new URL(response.headers.get('location') as string);
  };
  return {
    send,
    open,
    /** Opens the link, approves or denies at the sandbox, and returns to the callback. */
    async connect(link: string | URL, isApproved = true): Promise<Response> {
      return send(await submitConsent(await open(link), isApproved));
    },
  };
}

/** Approves or denies on the sandbox's consent page. Returns the URL of the callback. */
export async function submitConsent(consentUrl: URL, isApproved = true): Promise<URL> {
  const url = new URL(consentUrl);
  url.searchParams.set('approve', isApproved ? '1' : '0');
  const { headers } = await fetch(url, { redirect: 'manual' });
  return new URL(headers.get('location') as string);
}
