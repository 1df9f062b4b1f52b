/** The URL by which the client of a request reaches the gateway. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Config } from '../../config.ts';
import { isAnyAddress } from '../../setting-kinds.ts';

/** Null if links use the configured URL, `Services.publicUrl`. */
export type GatewayUrl = (headers: Pick<IncomingHttpHeaders, 'host'>) => string | null;

/** True if the gateway listens on all addresses and PUBLIC_URL names none of them. */
export function isUrlUnknown({ PUBLIC_URL, HOST }: Pick<Config, 'PUBLIC_URL' | 'HOST'>): boolean {
  return PUBLIC_URL === undefined && isAnyAddress(HOST);
}

export function createGatewayUrl(config: Pick<Config, 'PUBLIC_URL' | 'HOST'>): GatewayUrl {
  if (!isUrlUnknown(config)) return () => null;
  return ({ host }) => (host === undefined ? null : (URL.parse(`http://${host}`)?.origin ?? null));
}
