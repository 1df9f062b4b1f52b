/** The client's address: the peer's, or the one that a trusted proxy names. */
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import type { Config } from '../../config.ts';

export interface ClientAddresses {
  of(req: Pick<IncomingMessage, 'headers' | 'socket'>): string;
}

/** For requests over a Unix socket, which has no address. */
const LOCAL = 'local';

/**
 * Only TRUSTED_PROXIES are believed. X-Forwarded-For and Forwarded are read from their ends, where each proxy adds the
 * address that it saw: the first address that is not a trusted proxy's is the client's. X-Forwarded-For counts if both are
 * present, so a proxy that writes Forwarded must remove it. Fastify's trustProxy reads neither Forwarded nor addresses
 * with a port, which some proxies write.
 */
export function createClientAddresses({
  TRUSTED_PROXIES,
}: Pick<Config, 'TRUSTED_PROXIES'>): ClientAddresses {
  const ranges = TRUSTED_PROXIES.map((cidr) => ipaddr.parseCIDR(cidr));
  const isProxy = (address: string | undefined) => {
    if (ranges.length === 0 || address === undefined || !ipaddr.isValid(address)) return false;
    const parsed = ipaddr.process(address);
    return ranges.some(
      ([range, bits]) => range.kind() === parsed.kind() && parsed.match(range, bits),
    );
  };
  return {
    of({ headers, socket }) {
      let client = socket.remoteAddress ?? LOCAL;
      if (ranges.length === 0) return client;
      for (const named of namedBy(headers).reverse()) {
        const address = addressIn(named);
        if (!isProxy(client) || address === null) break;
        client = address;
      }
      return client;
    },
  };
}

/** Addresses from the farthest to the nearest. */
function namedBy(headers: IncomingMessage['headers']): string[] {
  const list = headers['x-forwarded-for'];
  if (list !== undefined) return String(list).split(',');
  const forwarded = headers.forwarded;
  if (forwarded === undefined) return [];
  return forwarded.split(',').map((hop) => /(?:^|;)\s*for\s*=\s*([^;]*)/i.exec(hop)?.[1] ?? '');
}

/** `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]:80`, each quoted or not; null for anything else. */
function addressIn(text: string): string | null {
  const bare = text.trim().replace(/^"(.*)"$/, '$1');
  const [, host] = /^\[([^\]]*)\](?::\d+)?$/.exec(bare) ??
    /^([\d.]+):\d+$/.exec(bare) ?? [bare, bare];
  return host && ipaddr.isValid(host) && /[.:].*[.:]/.test(host) ? host : null;
}
