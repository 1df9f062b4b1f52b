/**
 * The hosts of the reference API, which has one for reads and one for forwarded requests. In the gateway, the path of
 * reads ends in `:read`, which clients may omit on the host of READ_URL. On the host of PROXY_URL, every path is a
 * provider's.
 */
import type { IncomingMessage } from 'node:http';
import { DomainError } from '../../kernel/errors.ts';
import type { Config } from '../../settings/config.ts';
import type { Parts } from './endpoint.ts';

const OBJECT_URL = /^(\/v1\/projects\/[^/?]+\/integrations\/[^/?]+\/objects\/[^/?:]+)(\?.*)?$/;
/** The path before a provider's path in a request to PROXY_URL, below `/v1`. */
export const PROXY_HOST_PATH = '/proxy';

type RequestHead = Pick<IncomingMessage, 'url' | 'method' | 'headers'>;

/** Creates a function that returns the URL of a request, with the path that the gateway has for it. */
export function createUrlRewriter({ READ_URL, PROXY_URL }: Pick<Config, 'READ_URL' | 'PROXY_URL'>) {
  const readHost = READ_URL && new URL(READ_URL).host;
  const proxyHost = PROXY_URL && new URL(PROXY_URL).host;
  return ({ url = '/', method, headers: { host } }: RequestHead): string => {
    if (host === undefined) return url;
    if (host === proxyHost) return `/v1${PROXY_HOST_PATH}${url}`;
    return host === readHost && method === 'POST' ? url.replace(OBJECT_URL, '$1:read$2') : url;
  };
}

/** Refuses a read that was sent to the path of writes. */
export function refuseRead(parts: Parts): Parts {
  const { mode, type, ...body } = (parts.body ?? {}) as Record<string, unknown>;
  const isRead = mode === 'async' || 'sinceTimestamp' in body || 'untilTimestamp' in body;
  if (type !== undefined || !isRead) return parts;
  throw new DomainError(
    'BAD_USER_INPUT',
    "This path writes records. To read records, add `:read` to the path, or send the request to the server's READ_URL.",
  );
}
