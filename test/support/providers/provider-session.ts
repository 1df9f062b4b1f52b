/**
 * The smallest session a connector can be tried with: fixed headers, no refresh, no rate limit.
 * It keeps to ProviderSession's promise that every HTTP answer resolves and only its absence throws.
 */
import { stringify } from 'qs';
import { type Dispatcher, errors, request } from 'undici';
import type {
  ProviderRequest,
  ProviderResponse,
  ProviderSession,
} from '../../../src/providers/contract.ts';
import { parseExactly } from '../../../src/providers/exact-json.ts';
import { ProviderError, type ProviderErrorKind } from '../../../src/providers/provider-error.ts';

/** Far above any local answer, far below the test runner's own limit. */
const DEFAULT_TIMEOUT_MS = 2_000;

/** `headers` are sent with every request: `{ authorization: 'Bearer …' }`, say. */
export function plainSession(
  baseUrl: string,
  headers: Record<string, string> = {},
  {
    timeoutMs = DEFAULT_TIMEOUT_MS,
    facts = {},
    now = () => new Date(),
  }: { timeoutMs?: number; facts?: Record<string, string>; now?: () => Date } = {},
): ProviderSession {
  const base = baseUrl.replace(/\/+$/, '');
  return { baseUrl: base, fact: (name) => facts[name] ?? null, now, send };

  async function send(sent: ProviderRequest): Promise<ProviderResponse> {
    const url = requestUrl(base, sent);
    const isForm = sent.bodyFormat === 'form';
    const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
    const write = isForm ? stringify : JSON.stringify;
    const body = sent.body === undefined ? undefined : write(sent.body);
    try {
      const response = await request(url, {
        method: sent.method,
        headers: {
          accept: 'application/json',
          ...(body !== undefined && { 'content-type': type }),
          ...headers,
          ...sent.headers,
        },
        body,
        signal: AbortSignal.timeout(timeoutMs),
      });
      return {
        status: response.statusCode,
        headers: flatHeaders(response.headers),
        body: parseExactly(await response.body.text()),
      };
    } catch (cause) {
      throw new ProviderError(kindOf(cause), `${sent.method} ${sent.path}: ${cause}`, { cause });
    }
  }
}

function requestUrl(base: string, { path, query = {} }: ProviderRequest): URL {
  const url = new URL(path === '' || path.startsWith('/') ? base + path : path);
  if (url.origin !== new URL(base).origin) throw new Error(`${url} is not under ${base}`);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url;
}

function flatHeaders(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
  );
}

const NEVER_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

function kindOf(cause: unknown): ProviderErrorKind {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (NEVER_SENT.has(code)) return 'UNREACHABLE';
  const timedOut =
    (cause instanceof Error && cause.name === 'TimeoutError') ||
    cause instanceof errors.HeadersTimeoutError ||
    cause instanceof errors.BodyTimeoutError;
  return timedOut ? 'TIMEOUT' : 'DISCONNECTED';
}
