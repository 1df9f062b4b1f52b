type PermanentKind =
  | 'AUTH_INVALIDATED'
  | 'FORBIDDEN'
  | 'API_DISABLED'
  | 'BAD_REQUEST'
  | 'MISSING_FIELD'
  | 'MISSING_OBJECT'
  | 'CURSOR_GONE';
const TEMPORARY_KINDS = [
  'RATE_LIMITED',
  'MIGRATING',
  'SERVER_ERROR',
  'RETRYABLE',
  'TIMEOUT',
  'DISCONNECTED',
  'UNREACHABLE',
] as const;
/**
 * Kinds of failures of a request to a provider, and how to handle them.
 * - AUTH_INVALIDATED: the provider rejected the credentials. If the health check confirms it, the connection becomes
 *   BAD_CREDENTIALS.
 * - FORBIDDEN, API_DISABLED, BAD_REQUEST, MISSING_FIELD, MISSING_OBJECT: permanent. Do not retry.
 * - CURSOR_GONE: restart the read at its first page.
 * - RATE_LIMITED, MIGRATING, RETRYABLE: temporary, and the request was not executed. Retry later.
 * - TIMEOUT, DISCONNECTED, SERVER_ERROR: temporary, but the request may have been executed, so the outcome of a write is
 *   unknown.
 * - UNREACHABLE: temporary. The request was never sent.
 */
export type ProviderErrorKind = PermanentKind | (typeof TEMPORARY_KINDS)[number];

const TEMPORARY = new Set<ProviderErrorKind>(TEMPORARY_KINDS);
const OUTCOME_UNKNOWN = new Set<ProviderErrorKind>(['TIMEOUT', 'DISCONNECTED', 'SERVER_ERROR']);

export class ProviderError extends Error {
  override name = 'ProviderError';
  readonly kind: ProviderErrorKind;
  readonly status: number | null;
  /** How long to wait before a retry, in milliseconds. Null if the provider does not say. */
  readonly retryAfterMs: number | null;
  /** The provider's own explanation, without the gateway's words. Null if there is none. */
  readonly providerMessage: string | null;

  constructor(
    kind: ProviderErrorKind,
    message: string,
    options: {
      status?: number;
      retryAfterMs?: number | null;
      providerMessage?: string | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.status = options.status ?? null;
    this.retryAfterMs = options.retryAfterMs ?? null;
    this.providerMessage = options.providerMessage || null;
  }

  /** True if a retry may succeed. */
  get isTemporary(): boolean {
    return TEMPORARY.has(this.kind);
  }

  /** True if the provider may have executed the request. */
  get isOutcomeUnknown(): boolean {
    return OUTCOME_UNKNOWN.has(this.kind);
  }
}
