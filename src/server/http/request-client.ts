/** Describes the client of a request or of a WebSocket's upgrade. */
import type { IncomingMessage } from 'node:http';
import type { Services } from '../../domain/call.ts';
import { createOriginCache } from '../../domain/project/origin-cache.ts';
import type { SessionCredential } from '../../domain/viewer/console-session.ts';
import { createAddressFinder } from './client-address.ts';
import { type Cors, createCors } from './cors.ts';
import { createGatewayUrlFinder } from './gateway-url.ts';
import { createSessionCookie, type SessionCookie } from './session-cookie.ts';

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
  sessionCookie: SessionCookie;
  readClient(request: IncomingMessage): RequestClient;
}

export function createClientReaders({
  config,
  database,
}: Pick<Services, 'config' | 'database'>): ClientReaders {
  const cors = createCors(config, createOriginCache(database));
  const sessionCookie = createSessionCookie(config, cors);
  const findAddress = createAddressFinder(config);
  const findGatewayUrl = createGatewayUrlFinder(config);
  return {
    cors,
    sessionCookie,
    readClient: (request) => ({
      address: findAddress(request),
      page: cors.findForeignPage(request.headers),
      gatewayUrl: findGatewayUrl(request.headers),
      session: sessionCookie.find(request.headers),
    }),
  };
}
