/**
 * Forwards a request to a connection's account with the connection's credentials. The bodies are unchanged. The headers
 * of the request and of the response are filtered.
 */
import type { Readable } from 'node:stream';
import type { StreamedResponse } from '../../../../outbound/client.ts';
import { CONNECTION_HEADERS } from '../../../../outbound/exchange.ts';
import { OutboundError } from '../../../../outbound/outbound-error.ts';
import type { Provider } from '../../../../providers/contract.ts';
import { ProviderError } from '../../../../providers/provider-error.ts';
import type { Sender } from '../../diagnosis/observed-outbound.ts';
import type { AttachedCredentials } from './attached-credentials.ts';
import { createNoResponseError, USER_AGENT } from './provider-request.ts';
import type { RepeatableBody } from './repeatable-body.ts';

type Headers = Record<string, string | string[]>;

/** Request headers that are meant for the gateway: credentials, routing and earlier hops. */
const GATEWAY_REQUEST_HEADERS = new Set([
  ...CONNECTION_HEADERS,
  'authorization',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'via',
  'x-api-key',
  'x-real-ip',
]);
/** `x-amp-` begins the headers of the reference API's proxy. */
const GATEWAY_REQUEST_PREFIXES = ['x-forwarded-', 'x-amp-'];
/** Response headers that a provider may not set on the gateway's origin, or that the gateway sets itself. */
const GATEWAY_RESPONSE_HEADERS = new Set([
  ...CONNECTION_HEADERS,
  'alt-svc',
  'clear-site-data',
  'ratelimit',
  'ratelimit-policy',
  'set-cookie',
  'strict-transport-security',
  'x-request-id',
]);

export interface ForwardedRequest {
  method: string;
  /** The path and query after the account's base URL, exactly as the caller wrote them, like `/v3/contacts?limit=1`. */
  target: string;
  /** All headers of the incoming request, by lower-case name. */
  headers: Record<string, string | string[] | undefined>;
  body: Readable | null;
  /** Aborts the request, which then fails with the signal's reason. */
  signal: AbortSignal;
}

interface Forwarding {
  provider: Provider;
  url: URL;
  request: ForwardedRequest;
  body: RepeatableBody;
  attached: AttachedCredentials;
  timeoutMs: number;
}

/** Returns the URL of a target. Throws BAD_REQUEST if it is not below the account's base URL. */
export function createForwardedUrl(baseUrl: string, target: string): URL {
  const base = new URL(baseUrl);
  const url = URL.parse(baseUrl + target);
  const root = base.pathname.replace(/\/$/, '');
  const isBelowBase = url?.pathname === root || url?.pathname.startsWith(`${root}/`);
  if (url && url.origin === base.origin && isBelowBase) return url;
  throw new ProviderError('BAD_REQUEST', "The path is outside of the account's base URL.");
}

/** Resolves when the response begins. Throws ProviderError without credentials in its message if there is no response. */
export async function sendForwarded(
  outbound: Sender,
  { provider, url, request, body, attached, timeoutMs }: Forwarding,
): Promise<StreamedResponse> {
  const { method, signal } = request;
  const authenticatedUrl = withQuery(url, attached.query);
  const headers = { ...filterRequestHeaders(request.headers), ...attached.headers };
  const signed = attached.sign?.({
    method,
    url: authenticatedUrl,
    headers,
    // Evaluated only if the credentials sign the request.
    body: await body.read(),
  });
  try {
    const response = await outbound.stream({
      method,
      url: authenticatedUrl.href,
      headers: { ...headers, ...signed },
      body: body.open(),
      idleMs: provider.limits.timeoutMs,
      timeoutMs,
      signal,
    });
    const responseHeaders = filterResponseHeaders(response.headers);
    const secretNames = Object.keys(attached.query);
    return { ...response, headers: withoutSecrets(responseHeaders, authenticatedUrl, secretNames) };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    throw createNoResponseError(error, { provider, request: { method, path: url.pathname } });
  }
}

/** Removes the gateway's headers and the caller's credentials from a request. */
function filterRequestHeaders(headers: ForwardedRequest['headers']): Headers {
  const forwardedHeaders = omitHeaders(
    headers,
    (name) =>
      GATEWAY_REQUEST_HEADERS.has(name) ||
      GATEWAY_REQUEST_PREFIXES.some((prefix) => name.startsWith(prefix)),
  );
  return { 'user-agent': USER_AGENT, ...forwardedHeaders };
}

function filterResponseHeaders(headers: Headers): Headers {
  return omitHeaders(
    headers,
    (name) => GATEWAY_RESPONSE_HEADERS.has(name) || name.startsWith('access-control-'),
  );
}

/** Omits headers for which `isOmitted` is true, and hop-by-hop headers (RFC 9110, section 7.6.1). */
function omitHeaders(
  headers: ForwardedRequest['headers'],
  isOmitted: (name: string) => boolean,
): Headers {
  const hopHeaders = [headers.connection ?? []]
    .flat()
    .join(',')
    .toLowerCase()
    .split(/[\s,]+/);
  const remainingHeaders = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || hopHeaders.includes(name) || isOmitted(name)
      ? []
      : [[name, value] as const],
  );
  return Object.fromEntries(remainingHeaders);
}

/** Returns the URL with the query parameters of secrets. Other parameters stay exactly as the caller wrote them. */
function withQuery(url: URL, query: AttachedCredentials['query']): URL {
  const secrets = Object.entries(query);
  if (secrets.length === 0) return url;
  const callerPairs = url.search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '' && !setsSecret(query, pair));
  const secretPairs = secrets.map((pair) => pair.map(encodeURIComponent).join('='));
  const authenticatedUrl = new URL(url);
  authenticatedUrl.search = [...callerPairs, ...secretPairs].join('&');
  return authenticatedUrl;
}

function setsSecret(query: AttachedCredentials['query'], pair: string): boolean {
  const [name = ''] = new URLSearchParams(pair).keys();
  return Object.hasOwn(query, name);
}

/** Removes secrets from a redirect, which may repeat the query of the request. */
function withoutSecrets(
  headers: StreamedResponse['headers'],
  requestUrl: URL,
  secretNames: string[],
): StreamedResponse['headers'] {
  const { location } = headers;
  if (typeof location !== 'string' || secretNames.length === 0) return headers;
  const url = URL.parse(location, requestUrl.href);
  if (!url) return headers;
  for (const name of secretNames) url.searchParams.delete(name);
  return { ...headers, location: url.href };
}
