/** Forwards requests to the provider's own API, with the credentials of an installation's connection. */
import { Readable } from 'node:stream';
import { z } from 'zod';
import type { Row } from '../../../database/statements/tables.ts';
import { DomainError, notFound, unprocessable } from '../../../kernel/errors.ts';
import type { StreamedResponse } from '../../../outbound/client.ts';
import type {
  Provider,
  ProviderRequest,
  ProviderResponse,
  ProviderSession,
} from '../../../providers/contract.ts';
import { findProxyProvider } from '../../../providers/modules.ts';
import { ProviderError } from '../../../providers/provider-error.ts';
import { isTooDeep, LEVELS_MAX, parseBounded } from '../../../work/bounded-parse.ts';
import { findJsonExcess } from '../../../work/json-size.ts';
import type { Call } from '../../access/call.ts';
import { projectRead, read } from '../../access/declared-read.ts';
import { byId, getProjectRow } from '../../access/scope.ts';
import { openProviderSession } from '../../connections/connection/connection-session.ts';
import type { ForwardedRequest } from '../../connections/connection/session/forwarded-request.ts';
import { listCapabilities } from '../../connections/provider/provider.ts';
import { toDomainError } from '../../connections/provider/provider-domain-errors.ts';
import { waitForProviderBeyond } from '../../connections/provider/provider-wait.ts';
import { getConnectionAndContent, getInstallationOfGroup } from './installation.ts';
import { readConfigContent } from './installation-config.ts';

export type { ForwardedRequest, StreamedResponse };

/** An installation by its id, or by its integration and group. */
export type InstallationKey = { projectIdOrName?: string | null | undefined } & (
  | { installationId: string }
  | { integrationIdOrName: string; groupRef: string }
);

/**
 * Resolves as soon as the provider's response begins, whatever its status. The caller needs both `read` and
 * `records:write`, because only the provider knows the effect of a request. Throws UNPROCESSABLE if the integration
 * does not forward requests, and PROVIDER_ERROR or RATE_LIMITED if there is no response.
 */
export const forwardRequest = read(
  'records:write',
  "Forwards a request to the account's provider.",
  async (
    call: Call,
    key: InstallationKey,
    request: ForwardedRequest,
  ): Promise<StreamedResponse> => {
    const { connection, provider } = await getForwarding(call, key);
    return sendForwarding(call, connection, {
      send: () => openProviderSession(call, connection, provider).forward(request),
      waitForEnd: ({ closed }) => closed,
    });
  },
);

interface Forwarding {
  connection: Row<'Connection'>;
  /** The provider or its module, with the address for requests. */
  provider: Provider;
}

/** Throws UNPROCESSABLE if the integration, the config or the provider does not allow forwarded requests. */
export const getForwarding = projectRead(
  'read',
  'Gets the connection and the provider to which an installation forwards requests.',
  async (call, key: InstallationKey, { id: projectId }): Promise<Forwarding> => {
    const noun = 'Installation';
    const installation =
      'installationId' in key
        ? await getProjectRow(call, 'Installation', { projectId, id: key.installationId, noun })
        : await getInstallationOfGroup(call, key);
    const { connection, content } = await getConnectionAndContent(call, installation);
    const [config] = await byId('InstallationConfig')(call, [installation.configId]);
    if (!config) throw notFound(noun, installation.id);
    const { proxy, name, module } = content;
    if (!proxy?.enabled) throw unprocessable(`The integration ${name} does not forward requests.`);
    if (readConfigContent(config).proxy?.enabled === false) {
      throw unprocessable("The installation's config does not allow forwarded requests.");
    }
    const listedProvider = call.catalog.find(connection.provider);
    const provider =
      listedProvider && findProxyProvider(listedProvider, { module, useModule: proxy.useModule });
    if (!provider) {
      throw unprocessable(`Requests to ${connection.provider} are no longer forwarded.`);
    }
    if (!listCapabilities(provider).includes('PROXY')) {
      throw unprocessable(`Requests to ${provider.displayName} are not forwarded.`);
    }
    return { connection, provider };
  },
);

/** Sends a request to the provider. It counts as waiting for the provider until `waitForEnd(response)` settles. */
async function sendForwarding<R>(
  call: Call,
  { projectId, id: connectionId }: Row<'Connection'>,
  { send, waitForEnd }: { send: () => Promise<R>; waitForEnd: (response: R) => Promise<unknown> },
): Promise<R> {
  try {
    return await waitForProviderBeyond(call, { projectId, connectionId }, send, waitForEnd);
  } catch (error) {
    throw error instanceof ProviderError ? toForwardingError(error) : error;
  }
}

/** Creates the error for a request that was not forwarded. */
function toForwardingError(error: ProviderError): DomainError {
  const { code, message, extra } = toDomainError(error);
  switch (error.kind) {
    case 'RATE_LIMITED':
      return new DomainError('RATE_LIMITED', message, extra);
    case 'TIMEOUT':
      return new DomainError(code, message, { ...extra, status: 504 });
    default:
      return new DomainError(code, message, extra);
  }
}

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
    const session = withRetries(openProviderSession(call, connection, provider), request.signal);
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
  const parsed = parseBounded(jsonObject, parseJson(Buffer.concat(chunks).toString('utf8')));
  if (parsed.success && !isTooDeep(parsed.data)) return parsed.data;
  throw new ProviderError(
    'BAD_REQUEST',
    `The body of a paginated POST must be a JSON object with at most ${LEVELS_MAX} levels`,
  );
}

/** Returns undefined for text that is not JSON, or has too many values. */
function parseJson(text: string): unknown {
  if (findJsonExcess(text)) return undefined;
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
