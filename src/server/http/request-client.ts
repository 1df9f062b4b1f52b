/** Describes the client of a request or of a WebSocket's upgrade. */
import type { IncomingMessage } from 'node:http';
import type { Services } from '../../domain/call.ts';
import { createOriginCache } from '../../domain/project/origin-cache.ts';
import type { SessionCredential } from '../../domain/viewer/console-session.ts';
import { HOUR_MS } from '../../work/durations.ts';
import { createAddressFinder } from './client-address.ts';
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
  session: SessionCredential | null;
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
  const findAddress = createAddressFinder(config);
  const findGatewayUrl = createGatewayUrlFinder(config);
  return {
    cors,
    sessionCookie,
    readClient(request) {
      const { headers } = request;
      const secret = sessionCookie.read(headers.cookie);
      return {
        address: findAddress(request),
        page: cors.findForeignPage(headers),
        gatewayUrl: findGatewayUrl(headers),
        session:
          secret === undefined ? null : { secret, isFromOwnPage: cors.isFromOwnPage(headers) },
      };
    },
  };
}
