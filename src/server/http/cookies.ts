/** Cookies of the gateway's pages: their names, their attributes, and how they are read. */
import type { Config } from '../../settings/config.ts';

export interface Cookie {
  /** Returns the value in the `Cookie` header of a request. Undefined if there is none. */
  read(header: string | undefined): string | undefined;
  /** Returns the header that sets the cookie. */
  set(value: string): string;
  /** Returns the header that removes the cookie. */
  remove(): string;
}

interface CookieAttributes {
  name: string;
  sameSite: 'Lax' | 'Strict';
  lifetimeMs: number;
}

/**
 * Creates a cookie that scripts can't read. Over HTTPS its name has the prefix `__Host-`, so that no neighboring host
 * can set it (RFC 6265bis). When a page of another site leads to the gateway, browsers send a `Lax` cookie and omit a
 * `Strict` one.
 */
export function createCookie(
  { PUBLIC_URL }: Pick<Config, 'PUBLIC_URL'>,
  { name: baseName, sameSite, lifetimeMs }: CookieAttributes,
): Cookie {
  const isSecure = PUBLIC_URL?.startsWith('https:') ?? false;
  const prefix = `${isSecure ? '__Host-' : ''}${baseName}=`;
  const serialize = (value: string, ms: number) =>
    [
      `${prefix}${value}`,
      'Path=/',
      `Max-Age=${Math.floor(ms / 1_000)}`,
      'HttpOnly',
      `SameSite=${sameSite}`,
      ...(isSecure ? ['Secure'] : []),
    ].join('; ');
  return {
    read(header) {
      if (!header) return undefined;
      const pairs = header.split(';').map((pair) => pair.trim());
      return pairs.find((pair) => pair.startsWith(prefix))?.slice(prefix.length) || undefined;
    },
    set: (value) => serialize(value, lifetimeMs),
    remove: () => serialize('', 0),
  };
}
