/** Which error a caller gets if a provider gave no usable answer: the one place that decides it. */
import { DomainError, unprocessable } from '../../errors.ts';
import { ProviderError, type ProviderErrorKind } from '../../providers/provider-error.ts';

/** The request, the account or its rights have to change: a retry can't help. */
const UNPROCESSABLE = new Set<ProviderErrorKind>([
  'AUTH_INVALIDATED',
  'FORBIDDEN',
  'API_DISABLED',
  'BAD_REQUEST',
  'MISSING_FIELD',
  'MISSING_OBJECT',
]);

/** UNPROCESSABLE for what can't pass, else PROVIDER_ERROR, which says when to try again if that is known. */
export function providerRefusal({ kind, message, retryAfterMs }: ProviderError): DomainError {
  if (UNPROCESSABLE.has(kind)) return unprocessable(message);
  const retry = retryAfterMs === null ? {} : { retryAfterSeconds: Math.ceil(retryAfterMs / 1_000) };
  return new DomainError('PROVIDER_ERROR', message, { reason: kind, ...retry });
}

/** Runs work that calls a provider; its failures become refusals. */
export async function refusingForProvider<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ProviderError ? providerRefusal(error) : error;
  }
}
