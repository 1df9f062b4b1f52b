/**
 * Why a provider gave no usable answer, and so what to do about it.
 * - AUTH_INVALIDATED: the credentials are refused: the connection is BAD_CREDENTIALS.
 * - FORBIDDEN, API_DISABLED, BAD_REQUEST, MISSING_FIELD, MISSING_OBJECT: can't pass by waiting.
 * - CURSOR_GONE: the read must start its page sequence again.
 * - RATE_LIMITED, MIGRATING, SERVER_ERROR, RETRYABLE: may pass later.
 * - TIMEOUT, DISCONNECTED: sent, but no answer came: a write's outcome is unknown.
 * - UNREACHABLE: never sent.
 */
export const PROVIDER_ERROR_KINDS = [
  'AUTH_INVALIDATED',
  'FORBIDDEN',
  'API_DISABLED',
  'BAD_REQUEST',
  'MISSING_FIELD',
  'MISSING_OBJECT',
  'CURSOR_GONE',
  'RATE_LIMITED',
  'MIGRATING',
  'SERVER_ERROR',
  'RETRYABLE',
  'TIMEOUT',
  'DISCONNECTED',
  'UNREACHABLE',
] as const;
export type ProviderErrorKind = (typeof PROVIDER_ERROR_KINDS)[number];

const PASSES_LATER = new Set<ProviderErrorKind>([
  'RATE_LIMITED',
  'MIGRATING',
  'SERVER_ERROR',
  'RETRYABLE',
  'TIMEOUT',
  'DISCONNECTED',
  'UNREACHABLE',
]);
const OUTCOME_UNKNOWN = new Set<ProviderErrorKind>(['TIMEOUT', 'DISCONNECTED', 'SERVER_ERROR']);

export class ProviderError extends Error {
  override name = 'ProviderError';
  readonly kind: ProviderErrorKind;
  readonly status: number | null;
  /** The wait that the provider demands, in milliseconds. */
  readonly retryAfterMs: number | null;

  constructor(
    kind: ProviderErrorKind,
    message: string,
    options: { status?: number; retryAfterMs?: number | null; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.status = options.status ?? null;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }

  /** Trying again later can help. */
  get passesLater(): boolean {
    return PASSES_LATER.has(this.kind);
  }

  /** The provider may have carried out the request. */
  get outcomeUnknown(): boolean {
    return OUTCOME_UNKNOWN.has(this.kind);
  }
}
