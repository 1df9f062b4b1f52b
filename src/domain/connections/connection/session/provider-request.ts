/** Sends one request to a provider. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { stringify } from 'qs';
import type { OutboundRequest, OutboundResponse } from '../../../../outbound/client.ts';
import { OutboundError, type OutboundErrorKind } from '../../../../outbound/outbound-error.ts';
import type {
  Provider,
  ProviderRequest,
  ProviderResponse,
} from '../../../../providers/contract.ts';
import { parseExactJson, quoteLongIntegers } from '../../../../providers/exact-json.ts';
import { ProviderError, type ProviderErrorKind } from '../../../../providers/provider-error.ts';
import { findJsonExcess } from '../../../../work/json-size.ts';
import type { MaskText } from '../../../../work/secret-mask.ts';
import type { Sender } from '../../diagnosis/observed-outbound.ts';
import { matchesHost } from '../../provider/provider-workspace.ts';
import { type AttachedCredentials, HEADER_TEXT } from './attached-credentials.ts';

/** Some providers refuse requests without a user agent. */
export const USER_AGENT = 'integration-gateway';
export const CONTENT_TYPES = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
};

interface RequestToSend {
  provider: Provider;
  url: URL;
  request: ProviderRequest;
  attached: AttachedCredentials;
  /** Masks the secrets that the response may repeat. */
  mask: MaskText;
}

/**
 * Builds the URL of a request. Throws BAD_REQUEST unless the URL has the base URL's origin or a host of `linkHosts`,
 * because the request carries the connection's credentials.
 */
export function createRequestUrl(
  { baseUrl, linkHosts = [] }: { baseUrl: string; linkHosts?: readonly string[] | undefined },
  { path, query = {} }: ProviderRequest,
): URL {
  const url = URL.parse(path === '' || path.startsWith('/') ? baseUrl + path : path);
  const isAllowed =
    url && (url.origin === new URL(baseUrl).origin || isAllowedLink(url, linkHosts));
  if (!isAllowed) {
    throw new ProviderError('BAD_REQUEST', 'The URL does not belong to the connected account.');
  }
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url;
}

/** True for an HTTPS URL on the default port of one of the hosts, without credentials in the URL. */
function isAllowedLink(url: URL, hosts: readonly string[]): boolean {
  const { protocol, hostname, port, username, password } = url;
  const isPlain = port === '' && username === '' && password === '';
  return protocol === 'https:' && isPlain && matchesHost(hosts, hostname);
}

/**
 * Resolves with any response, whatever its status. Without a response, throws a ProviderError whose message contains no
 * credentials.
 */
export async function sendRequest(
  outbound: Sender,
  requestToSend: RequestToSend,
): Promise<ProviderResponse> {
  try {
    const response = await outbound.send(createOutboundRequest(requestToSend));
    return await toProviderResponse(response, requestToSend.mask);
  } catch (error) {
    if (error instanceof OutboundError) throw createNoResponseError(error, requestToSend);
    throw error;
  }
}

function createOutboundRequest({
  provider,
  url,
  request,
  attached,
}: RequestToSend): OutboundRequest {
  const body = serializeBody(request);
  const authenticatedUrl = new URL(url);
  for (const [name, value] of Object.entries(attached.query)) {
    authenticatedUrl.searchParams.set(name, value);
  }
  const { method } = request;
  const headers = {
    accept: 'application/json',
    'user-agent': USER_AGENT,
    ...(body !== undefined && { 'content-type': CONTENT_TYPES[request.bodyFormat ?? 'json'] }),
    ...checkHeaders(request.headers ?? {}),
    ...attached.headers,
  };
  const signed = attached.sign?.({ method, url: authenticatedUrl, headers, body: body ?? '' });
  return {
    method,
    url: authenticatedUrl.href,
    headers: { ...headers, ...signed },
    body,
    timeoutMs: provider.limits.timeoutMs,
    responseBytesMax: provider.limits.responseBytesMax,
    requiresWholeBody: true,
  };
}

function serializeBody({ body, bodyFormat }: ProviderRequest): string | undefined {
  if (body === undefined) return undefined;
  return bodyFormat === 'form' ? stringify(body) : JSON.stringify(body);
}

/**
 * Returns the headers with names in lower case. Throws BAD_REQUEST if a value could end its header: values may contain the
 * connection's metadata and cursors of the provider.
 */
function checkHeaders(headers: Record<string, string>): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => {
    if (HEADER_TEXT.test(value)) return [name.toLowerCase(), value];
    const detail = `The value of the header ${name} contains characters that are invalid in a header.`;
    throw new ProviderError('BAD_REQUEST', detail);
  });
  return Object.fromEntries(entries);
}

/** Creates an error that names the request without its query, which may contain credentials. */
export function createNoResponseError(
  error: OutboundError,
  { provider, request }: { provider: Provider; request: { method: string; path: string } },
): ProviderError {
  const [path] = request.path.split('?');
  const requestName = `${provider.displayName}, ${request.method} ${path}`;
  return new ProviderError(toErrorKind(error.kind, request), `${requestName}: ${error.message}`);
}

function toErrorKind(kind: OutboundErrorKind, { method }: { method: string }): ProviderErrorKind {
  switch (kind) {
    case 'REFUSED_ADDRESS':
      return 'BAD_REQUEST';
    case 'TOO_LARGE':
      // A retried read would be as large. The outcome of a write is unknown.
      return method === 'GET' ? 'BAD_REQUEST' : 'DISCONNECTED';
    default:
      return kind;
  }
}

/** Longer responses are parsed in several turns of the event loop. */
const ONE_STEP_LENGTH_MAX = 1024 * 1024;

/**
 * Parses the body as JSON. A body that is not JSON stays a string, and an empty body becomes null. Throws TOO_LARGE for a
 * body with too many values.
 */
export async function toProviderResponse(
  { status, headers, body }: OutboundResponse,
  mask: MaskText,
): Promise<ProviderResponse> {
  const text = body.toString('utf8');
  const yieldIfLong = text.length > ONE_STEP_LENGTH_MAX ? yieldToEventLoop : async () => {};
  const excess = findJsonExcess(text);
  if (excess) throw new OutboundError('TOO_LARGE', `The response ${excess}`);
  await yieldIfLong();
  const exactText = quoteLongIntegers(text);
  await yieldIfLong();
  const json = parseExactJson(text, exactText);
  await yieldIfLong();
  return { status, headers, body: json, mask };
}
