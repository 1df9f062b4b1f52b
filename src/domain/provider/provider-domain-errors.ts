/** Converts a provider's error to the error that a caller receives. No other module does. */
import { DomainError, unprocessable } from '../../errors.ts';
import { ProviderError, type ProviderErrorKind } from '../../providers/provider-error.ts';

/** A retry can't succeed before the request, the account or its permissions change. */
const UNPROCESSABLE = new Set<ProviderErrorKind>([
  'AUTH_INVALIDATED',
  'FORBIDDEN',
  'API_DISABLED',
  'BAD_REQUEST',
  'MISSING_FIELD',
  'MISSING_OBJECT',
]);

/**
 * Returns UNPROCESSABLE for a permanent error, and PROVIDER_ERROR for any other error, with the wait before a retry if
 * the provider states it.
 */
export function toDomainError({ kind, message, retryAfterMs }: ProviderError): DomainError {
  if (UNPROCESSABLE.has(kind)) return unprocessable(message);
  const retry = retryAfterMs === null ? {} : { retryAfterSeconds: Math.ceil(retryAfterMs / 1_000) };
  return new DomainError('PROVIDER_ERROR', message, { reason: kind, ...retry });
}

/** Runs work that calls a provider. Converts a ProviderError to the error for the caller. */
export async function withDomainErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ProviderError ? toDomainError(error) : error;
  }
}
