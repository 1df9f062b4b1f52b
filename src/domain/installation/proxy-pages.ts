/** Streams the records of all pages of a provider's list, for forwarded requests with `paginate=true`. */
import { Readable } from 'node:stream';
import { z } from 'zod';
import type {
  ProviderRequest,
  ProviderResponse,
  ProviderSession,
} from '../../providers/contract.ts';
import { ProviderError } from '../../providers/provider-error.ts';
import type { Call } from '../call.ts';
import { openSession } from '../connection/connection-session.ts';
import { read } from '../declared-read.ts';
import { waitForProviderBeyond } from '../provider/provider-wait.ts';
import {
  type ForwardedRequest,
  getForwarding,
  type InstallationKey,
  toForwardingError,
} from './proxy.ts';

const PARAMETER = 'paginate';
const TOO_MANY = 429;
/**
 * The most tries of a page that the provider rate-limits. Between tries the session waits as long as the provider
 * requires.
 */
const TRIES_MAX = 5;

/** True if a request has `paginate=true`. */
export function isPaginated({
  method,
  target,
}: Pick<ForwardedRequest, 'method' | 'target'>): boolean {
  const isPossible = method === 'GET' || method === 'POST';
  return isPossible && parseQuery(target).get(PARAMETER) === 'true';
}

/**
 * Streams the records of all pages, each as a line of JSON. Destroy the stream if it is not read to its end. Resolves
 * with the first page, and throws the same errors as forwardRequest. Null if the gateway can't page through the
 * provider's lists. The parameter then belongs to the provider.
 */
export const forwardPages = read(
  'records:write',
  "Forwards a request to the account's provider, and the requests for the following pages.",
  async (
    call: Call,
    key: InstallationKey,
    request: Pick<ForwardedRequest, 'method' | 'target' | 'body' | 'signal'>,
  ): Promise<Readable | null> => {
    const { connection, provider } = await getForwarding(call, key);
    const listPages = provider.capabilities.listPages;
    if (!listPages) return null;
    const [path = ''] = request.target.split('?');
    const query = parseQuery(request.target);
    query.delete(PARAMETER);
    const session = withRetries(openSession(call, connection, provider), request.signal);
    const readFirst = async () => {
      const body = request.method === 'POST' ? await readBody(request) : undefined;
      const pages = listPages(session, { path, query: Object.fromEntries(query), body });
      const first = await pages.next();
      return Readable.from(formatPages(first, pages));
    };
    try {
      const { id: connectionId, projectId } = connection;
      return await waitForProviderBeyond(
        call,
        { projectId, connectionId },
        readFirst,
        waitForClose,
      );
    } catch (error) {
      throw error instanceof ProviderError ? toForwardingError(error) : error;
    }
  },
);

function waitForClose(stream: Readable): Promise<void> {
  return new Promise((resolve) => void stream.once('close', resolve));
}

/** Exceeds the size of any query. The body is kept because each page sends it. */
const BODY_BYTES_MAX = 256 * 1024;

/** Throws BAD_REQUEST if the body is not a JSON object. */
async function readBody({
  body,
}: Pick<ForwardedRequest, 'body'>): Promise<Record<string, unknown>> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of body ?? []) {
    parts.push(part);
    length += part.length;
    if (length > BODY_BYTES_MAX) {
      throw new ProviderError(
        'BAD_REQUEST',
        `A paginated request has at most ${BODY_BYTES_MAX} bytes`,
      );
    }
  }
  const parsed = jsonObject.safeParse(parseJson(Buffer.concat(parts).toString('utf8')));
  if (parsed.success) return parsed.data;
  throw new ProviderError('BAD_REQUEST', 'The body of a paginated POST must be a JSON object');
}

const jsonObject = z.record(z.string(), z.unknown());

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parseQuery(target: string): URLSearchParams {
  const [, query = ''] = target.split('?');
  return new URLSearchParams(query);
}

/** A session that stops when the caller disconnects, and that retries a page if the provider rate-limits it. */
function withRetries(session: ProviderSession, signal: AbortSignal): ProviderSession {
  const send = async (request: ProviderRequest, tries = 1): Promise<ProviderResponse> => {
    signal.throwIfAborted();
    const response = await session.send(request);
    return response.status === TOO_MANY && tries < TRIES_MAX ? send(request, tries + 1) : response;
  };
  return {
    baseUrl: session.baseUrl,
    findMetadata: (name) => session.findMetadata(name),
    now: () => session.now(),
    send,
  };
}

type Row = Record<string, unknown>;

async function* formatPages(
  first: IteratorResult<Row[], unknown>,
  pages: AsyncGenerator<Row[]>,
): AsyncGenerator<string> {
  if (first.done) return;
  yield formatRows(first.value);
  for await (const rows of pages) yield formatRows(rows);
}

function formatRows(rows: Row[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}
