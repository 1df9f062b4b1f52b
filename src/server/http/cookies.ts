/** Cookies of the gateway's pages: their names, their attributes, and how they are read. */
import type { Config } from '../../config.ts';

export interface Cookie {
  /** Returns the value in the `Cookie` header of a request. Null if there is none. */
  read(header: string | undefined): string | null;
  /** Returns the header that sets the cookie. A lifetime of 0 removes it. */
  serialize(value: string, lifetimeMs: number): string;
}

/**
 * Creates a cookie that scripts can't read. Over HTTPS its name has the prefix `__Host-`, so that no neighboring host
 * can set it (RFC 6265bis). When a page of another site leads to the gateway, browsers send a `Lax` cookie and omit a
 * `Strict` one.
 */
export function createCookie(
  { PUBLIC_URL }: Pick<Config, 'PUBLIC_URL'>,
  { name: baseName, sameSite }: { name: string; sameSite: 'Lax' | 'Strict' },
): Cookie {
  const isSecure = PUBLIC_URL?.startsWith('https:') ?? false;
  const name = isSecure ? `__Host-${baseName}` : baseName;
  return {
    read(header) {
      if (!header) return null;
      const pairs = header.split(';').map((pair) => pair.trim());
      const pair = pairs.find((candidate) => candidate.startsWith(`${name}=`));
      return pair?.slice(name.length + 1) || null;
    },
    serialize: (value, lifetimeMs) =>
      [
        `${name}=${value}`,
        'Path=/',
        `Max-Age=${Math.floor(lifetimeMs / 1_000)}`,
        'HttpOnly',
        `SameSite=${sameSite}`,
        ...(isSecure ? ['Secure'] : []),
      ].join('; '),
  };
}
