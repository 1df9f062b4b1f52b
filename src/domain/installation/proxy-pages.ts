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
import {
  type ForwardedRequest,
  getForwarding,
  type InstallationKey,
  sendForwarding,
} from './proxy.ts';

const PAGINATE_PARAMETER = 'paginate';
/** The maximum number of tries of a rate-limited page. Between tries, the session waits as long as the provider requires. */
const TRIES_MAX = 5;
/** Exceeds the size of any query. The body is kept in memory, because each page sends it. */
const BODY_BYTES_MAX = 256 * 1024;

/** True if a request has `paginate=true`. */
export function isPaginated({
  method,
  target,
}: Pick<ForwardedRequest, 'method' | 'target'>): boolean {
  const canPaginate = method === 'GET' || method === 'POST';
  return canPaginate && parseQuery(target).get(PAGINATE_PARAMETER) === 'true';
}

/**
 * Streams the records of all pages, each as a line of JSON. Destroy the stream if it is not read to its end. Resolves
 * when the first page has arrived, and throws the same errors as forwardRequest. Returns null if the gateway can't page
 * through the provider's lists: the parameter is then part of the provider's API.
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
    query.delete(PAGINATE_PARAMETER);
    const session = withRetries(openSession(call, connection, provider), request.signal);
    const openStream = async () => {
      const body = request.method === 'POST' ? await readBody(request) : undefined;
      const pages = listPages(session, { path, query: Object.fromEntries(query), body });
      const firstPage = await pages.next();
      return Readable.from(formatPages(firstPage, pages));
    };
    return sendForwarding(call, connection, { send: openStream, waitForEnd: waitForClose });
  },
);

function waitForClose(stream: Readable): Promise<void> {
  return new Promise((resolve) => void stream.once('close', resolve));
}

const jsonObject = z.record(z.string(), z.unknown());

/** Throws BAD_REQUEST if the body is not a JSON object. */
async function readBody({
  body,
}: Pick<ForwardedRequest, 'body'>): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > BODY_BYTES_MAX) {
      throw new ProviderError(
        'BAD_REQUEST',
        `The body of a paginated request must have at most ${BODY_BYTES_MAX} bytes`,
      );
    }
  }
  const parsed = jsonObject.safeParse(parseJson(Buffer.concat(chunks).toString('utf8')));
  if (parsed.success) return parsed.data;
  throw new ProviderError('BAD_REQUEST', 'The body of a paginated POST must be a JSON object');
}

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

/** Returns a session that stops when the caller disconnects, and that retries requests that the provider rate-limits. */
function withRetries(session: ProviderSession, signal: AbortSignal): ProviderSession {
  const send = async (request: ProviderRequest, tries = 1): Promise<ProviderResponse> => {
    signal.throwIfAborted();
    const response = await session.send(request);
    return response.status === 429 && tries < TRIES_MAX ? send(request, tries + 1) : response;
  };
  return {
    baseUrl: session.baseUrl,
    findMetadata: (name) => session.findMetadata(name),
    now: () => session.now(),
    send,
  };
}

type ListedRecord = Record<string, unknown>;

async function* formatPages(
  firstPage: IteratorResult<ListedRecord[], unknown>,
  pages: AsyncGenerator<ListedRecord[]>,
): AsyncGenerator<string> {
  if (firstPage.done) return;
  yield formatRecords(firstPage.value);
  for await (const records of pages) yield formatRecords(records);
}

function formatRecords(records: ListedRecord[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}
