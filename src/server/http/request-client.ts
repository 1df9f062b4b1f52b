/** Describes the client of a request or of a WebSocket's upgrade: its address, its page, its URL and its session. */
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import type { Services } from '../../domain/access/call.ts';
import { createOriginCache } from '../../domain/access/origins.ts';
import type { ConsoleSessionCredential } from '../../domain/access/viewer/console-session.ts';
import type { Config } from '../../settings/config.ts';
import { HOUR_MS } from '../../work/durations.ts';
import { type Cookie, createCookie } from './cookies.ts';
import { type Cors, createCors } from './cors.ts';
import { createGatewayUrlFinder } from './gateway-url.ts';

export interface RequestClient {
  address: string;
  /** The origin of the page that sends the request. Null for the gateway's own pages and those of CORS_ORIGINS. */
  page: string | null;
  /** The URL that the client uses for the gateway, if it differs from `Services.publicUrl`. */
  gatewayUrl: string | null;
  /** The session of the console that the request's cookie names. */
  session: ConsoleSessionCredential | null;
}

export interface ClientReaders {
  cors: Cors;
  /** The cookie with the secret of the console's session. */
  sessionCookie: Cookie;
  readClient(request: IncomingMessage): RequestClient;
}

export function createClientReaders({
  config,
  database,
}: Pick<Services, 'config' | 'database'>): ClientReaders {
  const cors = createCors(config, createOriginCache(database));
  const sessionCookie = createCookie(config, {
    name: 'console-session',
    // Only requests of the gateway's own pages need the cookie.
    sameSite: 'Strict',
    lifetimeMs: config.CONSOLE_SESSION_HOURS * HOUR_MS,
  });
  const getAddress = createAddressFinder(config);
  const findGatewayUrl = createGatewayUrlFinder(config);
  return {
    cors,
    sessionCookie,
    readClient(request) {
      const { headers } = request;
      const secret = sessionCookie.read(headers.cookie);
      return {
        address: getAddress(request),
        page: cors.findForeignPage(headers),
        gatewayUrl: findGatewayUrl(headers),
        session:
          secret === undefined ? null : { secret, isFromOwnPage: cors.isFromOwnPage(headers) },
      };
    },
  };
}

type FindAddress = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string;

/** The address of requests over a Unix socket, which has none. */
const LOCAL = 'local';

/**
 * Reads X-Forwarded-For or Forwarded if the peer is in TRUSTED_PROXIES. Each proxy appends the address of its peer, so
 * the client's address is the last one that is not a trusted proxy. X-Forwarded-For takes precedence over Forwarded: a
 * proxy that writes Forwarded must remove X-Forwarded-For. Fastify's trustProxy supports neither Forwarded nor
 * addresses with ports.
 */
export function createAddressFinder({
  TRUSTED_PROXIES,
}: Pick<Config, 'TRUSTED_PROXIES'>): FindAddress {
  const ranges = TRUSTED_PROXIES.map((cidr) => ipaddr.parseCIDR(cidr));
  const isProxy = (address: string | undefined) => {
    if (ranges.length === 0 || address === undefined || !ipaddr.isValid(address)) return false;
    const parsed = ipaddr.process(address);
    return ranges.some(
      ([range, bits]) => range.kind() === parsed.kind() && parsed.match(range, bits),
    );
  };
  return ({ headers, socket }) => {
    let client = socket.remoteAddress ?? LOCAL;
    if (ranges.length === 0) return client;
    for (const forwardedAddress of listForwarded(headers).reverse()) {
      const address = parseAddress(forwardedAddress);
      if (!isProxy(client) || address === null) break;
      client = address;
    }
    return client;
  };
}

/** Returns the addresses that the headers name, from the farthest hop to the nearest. */
function listForwarded(headers: IncomingMessage['headers']): string[] {
  const list = headers['x-forwarded-for'];
  if (list !== undefined) return String(list).split(',');
  const forwarded = headers.forwarded;
  if (forwarded === undefined) return [];
  return forwarded.split(',').map((hop) => /(?:^|;)\s*for\s*=\s*([^;]*)/i.exec(hop)?.[1] ?? '');
}

/**
 * Parses `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1` or `[2001:db8::1]:80`, which may be quoted. Null for other strings.
 */
function parseAddress(text: string): string | null {
  const unquoted = text.trim().replace(/^"(.*)"$/, '$1');
  const [, host] = /^\[([^\]]*)\](?::\d+)?$/.exec(unquoted) ??
    /^([\d.]+):\d+$/.exec(unquoted) ?? [unquoted, unquoted];
  return host && ipaddr.isValid(host) && /[.:].*[.:]/.test(host) ? host : null;
}
