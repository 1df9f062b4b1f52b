/** A request that is forwarded to a connection's account as it came, with the connection's credentials. */
import type { Readable } from 'node:stream';
import type { Outbound, StreamedResponse } from '../../../outbound/client.ts';
import { OutboundError } from '../../../outbound/error.ts';
import { CONNECTION_HEADERS } from '../../../outbound/exchange.ts';
import type { Provider } from '../../../providers/contract.ts';
import { ProviderError } from '../../../providers/provider-error.ts';
import type { Attached } from './attached-credentials.ts';
import { unanswered } from './provider-request.ts';
import type { RepeatableBody } from './repeatable-body.ts';

/** Which headers of a forwarded request go on to the provider, and which of its answer's come back. */

type Headers = Record<string, string | string[]>;

/** For the gateway alone: credentials, routing and the hops before it. */
const FOR_US = new Set([
  ...CONNECTION_HEADERS,
  'authorization',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'via',
  'x-api-key',
  'x-group-ref',
  'x-installation-id',
  'x-integration-name',
  'x-project-id',
  'x-proxy-version',
  'x-rate-limiter-mode',
  'x-real-ip',
]);
/** Headers that a provider may not set for the gateway's origin, and those that the gateway sets itself. */
const OURS_TO_SAY = new Set([
  ...CONNECTION_HEADERS,
  'alt-svc',
  'clear-site-data',
  'ratelimit',
  'ratelimit-policy',
  'set-cookie',
  'strict-transport-security',
  'x-request-id',
]);

/** Some providers refuse requests without one. */
const USER_AGENT = 'integration-gateway';

/** A request's headers without credentials: the connection's are added later. */
function requestHeaders(given: Record<string, string | string[] | undefined>): Headers {
  const kept = without(given, (name) => FOR_US.has(name) || name.startsWith('x-forwarded-'));
  return { 'user-agent': USER_AGENT, ...kept };
}

/** Of an answer. */
function responseHeaders(given: Headers): Headers {
  return without(given, (name) => OURS_TO_SAY.has(name) || name.startsWith('access-control-'));
}

/** Also drops headers that Connection lists: they are for one hop (RFC 9110, 7.6.1). */
function without(
  given: Record<string, string | string[] | undefined>,
  isLeftOut: (name: string) => boolean,
): Headers {
  const listed = [given.connection ?? []]
    .flat()
    .join(',')
    .toLowerCase()
    .split(/[\s,]+/);
  const kept = Object.entries(given).flatMap(([name, value]) =>
    value === undefined || listed.includes(name) || isLeftOut(name) ? [] : [[name, value] as const],
  );
  return Object.fromEntries(kept);
}

export interface ForwardedRequest {
  method: string;
  /** What follows the account's base URL, as it was written: `/v3/contacts?limit=1`, or nothing. */
  target: string;
  /** All headers that came, by lower-case name. */
  headers: Record<string, string | string[] | undefined>;
  body: Readable | null;
  /** Ends it; it then fails with the signal's reason. */
  signal: AbortSignal;
}

export interface Forwarding {
  provider: Provider;
  url: URL;
  request: ForwardedRequest;
  body: RepeatableBody;
  attached: Attached;
  timeoutMs: number;
}

/** Throws BAD_REQUEST for an address that is not below the account's base URL. */
export function forwardedUrl(baseUrl: string, target: string): URL {
  const base = new URL(baseUrl);
  const url = URL.parse(baseUrl + target);
  const root = base.pathname.replace(/\/$/, '');
  const isBelow = url?.pathname === root || url?.pathname.startsWith(`${root}/`);
  if (url && url.origin === base.origin && isBelow) return url;
  throw new ProviderError('BAD_REQUEST', 'The path is not below the address of the account.');
}

/** Resolves as soon as the answer begins; throws ProviderError, which names no credentials, if it doesn't. */
export async function sendForwarded(
  outbound: Outbound,
  { provider, url, request, body, attached, timeoutMs }: Forwarding,
): Promise<StreamedResponse> {
  const { method, signal } = request;
  const target = withQuery(url, attached.query);
  try {
    const response = await outbound.stream({
      method,
      url: target.href,
      headers: { ...requestHeaders(request.headers), ...attached.headers },
      body: body.open(),
      idleMs: provider.limits.timeoutMs,
      timeoutMs,
      signal,
    });
    const headers = responseHeaders(response.headers);
    return { ...response, headers: withoutSecrets(headers, target, Object.keys(attached.query)) };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    throw unanswered(error, { provider, request: { method, path: url.pathname } });
  }
}

/** The others stay as they were written. */
function withQuery(url: URL, query: Attached['query']): URL {
  const secrets = Object.entries(query);
  if (secrets.length === 0) return url;
  const kept = url.search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '' && !isIn(query, pair));
  const added = secrets.map((pair) => pair.map(encodeURIComponent).join('='));
  const target = new URL(url);
  target.search = [...kept, ...added].join('&');
  return target;
}

function isIn(query: Attached['query'], pair: string): boolean {
  const [name = ''] = new URLSearchParams(pair).keys();
  return Object.hasOwn(query, name);
}

/** Redirects repeat the query of the request. */
function withoutSecrets(
  headers: StreamedResponse['headers'],
  target: URL,
  secrets: string[],
): StreamedResponse['headers'] {
  const { location } = headers;
  if (typeof location !== 'string' || secrets.length === 0) return headers;
  const url = URL.parse(location, target.href);
  if (!url) return headers;
  for (const name of secrets) url.searchParams.delete(name);
  return { ...headers, location: url.href };
}
