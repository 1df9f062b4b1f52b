/** Converts a provider's error to the error that a caller receives. No other module does. */
import { DomainError, unprocessable } from '../../../kernel/errors.ts';
import { ProviderError } from '../../../providers/provider-error.ts';

/**
 * Returns UNPROCESSABLE if no retry can succeed before the request, the account or its permissions change. Returns
 * PROVIDER_ERROR for any other error, with the wait before a retry if the provider states it. After CURSOR_GONE, a read
 * can start over.
 */
export function toDomainError(error: ProviderError): DomainError {
  const { kind, message, retryAfterMs, providerMessage } = error;
  const explanation = providerMessage === null ? {} : { providerMessage };
  if (!error.isTemporary && kind !== 'CURSOR_GONE') return unprocessable(message, explanation);
  const retry = retryAfterMs === null ? {} : { retryAfterSeconds: Math.ceil(retryAfterMs / 1_000) };
  return new DomainError('PROVIDER_ERROR', message, {
    reason: kind,
    ...explanation,
    ...retry,
  });
}

/** Runs work that calls a provider. Converts a ProviderError to the error for the caller. */
export async function withDomainErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ProviderError ? toDomainError(error) : error;
  }
}
