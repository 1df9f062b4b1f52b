/** Simulates a browser's cookies, by host. */
export interface CookieJar {
  /** Cookies by host and name. */
  cookies: Map<string, Map<string, string>>;
  /** Values of the headers Set-Cookie, in the order of their arrival. */
  received: string[];
  /** Sends a request with the cookies of its host, and stores those of the response. */
  fetch(url: string, init?: RequestInit): Promise<Response>;
}

export function createCookieJar(): CookieJar {
  const cookies: CookieJar['cookies'] = new Map();
  const receivedCookies: string[] = [];
  const fetch = async (url: string, init: RequestInit = {}) => {
    const { host } = new URL(url);
    const hostCookies = cookies.get(host) ?? new Map<string, string>();
    cookies.set(host, hostCookies);
    const headers = new Headers(init.headers);
    const cookie = [...hostCookies].map(([name, value]) => `${name}=${value}`).join('; ');
    if (cookie !== '' && !headers.has('cookie')) headers.set('cookie', cookie);
    const response = await globalThis.fetch(url, { redirect: 'manual', ...init, headers });
    for (const header of response.headers.getSetCookie()) {
      receivedCookies.push(header);
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(header) ?? [];
      if (value === '') hostCookies.delete(name);
      else hostCookies.set(name, value);
    }
    return response;
  };
  return { cookies, received: receivedCookies, fetch };
}
