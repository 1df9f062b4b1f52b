/**
 * The smallest session that a connector can run with: fixed headers, no token refresh and no rate limit. As
 * `ProviderSession` demands, every HTTP response resolves, and only a missing response throws.
 */

import { stringify } from 'qs';
import { type Dispatcher, errors, request } from 'undici';
import type { Behavior } from '../../../src/providers/behavior.ts';
import type {
  ProviderRequest,
  ProviderResponse,
  ProviderSession,
} from '../../../src/providers/contract.ts';
import { parseExactJson } from '../../../src/providers/exact-json.ts';
import { ProviderError, type ProviderErrorKind } from '../../../src/providers/provider-error.ts';
import { createMask } from '../../../src/work/secret-mask.ts';

/** Far longer than any local response takes on a busy machine, and shorter than the timeout of a test. */
const DEFAULT_TIMEOUT_MS = 30_000;

/** Returns a session that sends `headers` with every request, such as `{ authorization: 'Bearer …' }`. */
export function createPlainSession(
  baseUrl: string,
  headers: Record<string, string> = {},
  {
    timeoutMs = DEFAULT_TIMEOUT_MS,
    metadata = {},
    now = () => new Date(),
  }: { timeoutMs?: number; metadata?: Record<string, string>; now?: () => Date } = {},
): ProviderSession {
  const base = baseUrl.replace(/\/+$/, '');
  return { baseUrl: base, findMetadata: (name) => metadata[name] ?? null, now, send };

  async function send(providerRequest: ProviderRequest): Promise<ProviderResponse> {
    const url = buildRequestUrl(base, providerRequest);
    const isForm = providerRequest.bodyFormat === 'form';
    const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
    const write = isForm ? stringify : JSON.stringify;
    const body = providerRequest.body === undefined ? undefined : write(providerRequest.body);
    try {
      const response = await request(url, {
        method: providerRequest.method,
        headers: {
          accept: 'application/json',
          ...(body !== undefined && { 'content-type': type }),
          ...headers,
          ...providerRequest.headers,
        },
        body,
        signal: AbortSignal.timeout(timeoutMs),
      });
      return {
        status: response.statusCode,
        headers: flattenHeaders(response.headers),
        body: parseExactJson(await response.body.text()),
        mask: createMask([]),
      };
    } catch (cause) {
      throw new ProviderError(
        classifyError(cause),
        `${providerRequest.method} ${providerRequest.path}: ${cause}`,
        { cause },
      );
    }
  }
}

function buildRequestUrl(base: string, { path, query = {} }: ProviderRequest): URL {
  const url = new URL(path === '' || path.startsWith('/') ? base + path : path);
  if (url.origin !== new URL(base).origin) throw new Error(`${url} is not under ${base}`);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url;
}

function flattenHeaders(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
  );
}

const UNREACHABLE_CODES = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function classifyError(cause: unknown): ProviderErrorKind {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (UNREACHABLE_CODES.has(code)) return 'UNREACHABLE';
  const timedOut =
    (cause instanceof Error && cause.name === 'TimeoutError') ||
    cause instanceof errors.HeadersTimeoutError ||
    cause instanceof errors.BodyTimeoutError;
  return timedOut ? 'TIMEOUT' : 'DISCONNECTED';
}

/** The vendor documents only how its filter compares times. */
export const UNDOCUMENTED: Behavior = {
  shortPage: 'notDocumented',
  timeFilter: { precision: 'format', zone: 'utc', bounds: 'inclusive', column: 'changedAt' },
  visibility: 'notDocumented',
  expiredCursor: 'notDocumented',
  depthLimit: 'notDocumented',
  fieldsMax: 'notDocumented',
  urlBytesMax: 'notDocumented',
  nestedLists: 'notDocumented',
  rateLimits: 'notDocumented',
};
