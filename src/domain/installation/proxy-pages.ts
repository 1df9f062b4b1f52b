/** All pages of a provider's list, as one stream of records: for forwarded requests with `paginate=true`. */
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
import { waitingBeyond } from '../provider/provider-wait.ts';
import { type ForwardedRequest, getForwarding, type InstallationKey, refusal } from './proxy.ts';

const PARAMETER = 'paginate';
const TOO_MANY = 429;
/** Tries of a page that the provider puts off. Between them the session waits as long as the provider says. */
const TRIES_MAX = 5;

/** Whether a request asks for all pages. */
export function isPaginated({
  method,
  target,
}: Pick<ForwardedRequest, 'method' | 'target'>): boolean {
  const isPossible = method === 'GET' || method === 'POST';
  return isPossible && queryOf(target).get(PARAMETER) === 'true';
}

/**
 * The records of all pages, each as a line of JSON: destroy the stream if it is not read to its end. Resolves with the
 * first page, and throws as forwardRequest does. Null if the provider's lists are not known: then the parameter is the
 * provider's own.
 */
export const forwardPages = read(
  'records:write',
  async (
    call: Call,
    key: InstallationKey,
    request: Pick<ForwardedRequest, 'method' | 'target' | 'body' | 'signal'>,
  ): Promise<Readable | null> => {
    const { connection, provider } = await getForwarding(call, key);
    const listPages = provider.capabilities.listPages;
    if (!listPages) return null;
    const [path = ''] = request.target.split('?');
    const query = queryOf(request.target);
    query.delete(PARAMETER);
    const session = patient(openSession(call, connection, provider), request.signal);
    const readFirst = async () => {
      const body = request.method === 'POST' ? await bodyOf(request) : undefined;
      const pages = listPages(session, { path, query: Object.fromEntries(query), body });
      const first = await pages.next();
      return Readable.from(linesOf(first, pages));
    };
    try {
      const { id: connectionId, projectId } = connection;
      return await waitingBeyond(call, { projectId, connectionId }, readFirst, closedOf);
    } catch (error) {
      throw error instanceof ProviderError ? refusal(error) : error;
    }
  },
);

function closedOf(stream: Readable): Promise<void> {
  return new Promise((resolve) => void stream.once('close', resolve));
}

/** More than any query needs: it is sent again for each page. */
const BODY_BYTES_MAX = 256 * 1024;

/** Throws BAD_REQUEST for what is no JSON object. */
async function bodyOf({ body }: Pick<ForwardedRequest, 'body'>): Promise<Record<string, unknown>> {
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
  const parsed = jsonObject.safeParse(jsonIn(Buffer.concat(parts).toString('utf8')));
  if (parsed.success) return parsed.data;
  throw new ProviderError('BAD_REQUEST', 'The body of a paginated POST must be a JSON object');
}

const jsonObject = z.record(z.string(), z.unknown());

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function queryOf(target: string): URLSearchParams {
  const [, query = ''] = target.split('?');
  return new URLSearchParams(query);
}

/** Ends when the caller leaves, and requests a page again if the provider puts it off. */
function patient(session: ProviderSession, signal: AbortSignal): ProviderSession {
  const send = async (request: ProviderRequest, tries = 1): Promise<ProviderResponse> => {
    signal.throwIfAborted();
    const response = await session.send(request);
    return response.status === TOO_MANY && tries < TRIES_MAX ? send(request, tries + 1) : response;
  };
  return {
    baseUrl: session.baseUrl,
    fact: (name) => session.fact(name),
    now: () => session.now(),
    send,
  };
}

type Row = Record<string, unknown>;

async function* linesOf(
  first: IteratorResult<Row[], unknown>,
  pages: AsyncGenerator<Row[]>,
): AsyncGenerator<string> {
  if (first.done) return;
  yield textOf(first.value);
  for await (const rows of pages) yield textOf(rows);
}

function textOf(rows: Row[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}
