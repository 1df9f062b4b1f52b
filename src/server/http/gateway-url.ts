/** Finds the URL by which a client reaches the gateway. Links in responses begin with it. */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { Services } from '../../domain/access/call.ts';
import type { Config } from '../../settings/config.ts';
import { isAnyAddress } from '../../settings/setting-kinds.ts';

/** Returns the URL that the client uses. Null if links begin with the configured URL, `Services.publicUrl`. */
type FindGatewayUrl = (headers: Pick<IncomingHttpHeaders, 'host'>) => string | null;

/** True if the gateway listens on all addresses and PUBLIC_URL is not set. */
export function isUrlUnknown({ PUBLIC_URL, HOST }: Pick<Config, 'PUBLIC_URL' | 'HOST'>): boolean {
  return PUBLIC_URL === undefined && isAnyAddress(HOST);
}

export function createGatewayUrlFinder(
  config: Pick<Config, 'PUBLIC_URL' | 'HOST'>,
): FindGatewayUrl {
  if (!isUrlUnknown(config)) return () => null;
  return ({ host }) => (host === undefined ? null : (URL.parse(`http://${host}`)?.origin ?? null));
}

/** Returns the URL that links in the response to a request begin with, without a trailing slash. */
export function getGatewayUrl(
  { publicUrl }: Pick<Services, 'publicUrl'>,
  { metadata }: Pick<FastifyRequest, 'metadata'>,
): string {
  return metadata.gatewayUrl ?? publicUrl();
}
