/**
 * In the reference API, reads and writes have the same path on different hosts. In the gateway, the path of reads ends in
 * `:read`. On the host of READ_URL, clients may omit it.
 */
import type { IncomingMessage } from 'node:http';
import type { Config } from '../../config.ts';
import { DomainError } from '../../errors.ts';
import type { Parts } from '../endpoint/endpoint.ts';

const OBJECT_URL = /^(\/v1\/projects\/[^/?]+\/integrations\/[^/?]+\/objects\/[^/?:]+)(\?.*)?$/;

/** Creates a function that returns the URL of a request, with `:read` added if it was sent to READ_URL's host. */
export function createUrlRewriter({ READ_URL }: Pick<Config, 'READ_URL'>) {
  const readHost = READ_URL && new URL(READ_URL).host;
  return ({ url = '/', method, headers }: Pick<IncomingMessage, 'url' | 'method' | 'headers'>) =>
    readHost && method === 'POST' && headers.host === readHost
      ? url.replace(OBJECT_URL, '$1:read$2')
      : url;
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
