/** The reference API has another host for reads (READ_URL), at the same path as writes. Here, the paths differ. */
import type { IncomingMessage } from 'node:http';
import type { Config } from '../../config.ts';
import { DomainError } from '../../errors.ts';
import type { Parts } from '../endpoint/endpoint.ts';

const OBJECT_URL = /^(\/v1\/projects\/[^/?]+\/integrations\/[^/?]+\/objects\/[^/?:]+)(\?.*)?$/;

/** Returns the path of a request. Adds the verb of reads if the request was sent to the host of reads. */
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
    'This path writes records. To read them, add :read to it, or send the request to READ_URL of the server.',
  );
}
