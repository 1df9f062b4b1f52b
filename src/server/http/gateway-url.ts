/** Finds the URL that the client of a request uses for the gateway. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Config } from '../../config.ts';
import { isAnyAddress } from '../../setting-kinds.ts';

/** Returns the URL for links. Null if links use the configured URL, `Services.publicUrl`. */
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
