/** What a call's failure means. */
import { type ServiceError, status } from '@grpc/grpc-js';
import { ProviderError, type ProviderErrorKind } from '../../provider-error.ts';
import { bounded } from '../../reading-answers.ts';

const KINDS: Partial<Record<status, ProviderErrorKind>> = {
  [status.UNAUTHENTICATED]: 'AUTH_INVALIDATED',
  [status.PERMISSION_DENIED]: 'FORBIDDEN',
  [status.NOT_FOUND]: 'MISSING_OBJECT',
  [status.INVALID_ARGUMENT]: 'BAD_REQUEST',
  [status.RESOURCE_EXHAUSTED]: 'RATE_LIMITED',
  [status.DEADLINE_EXCEEDED]: 'TIMEOUT',
  [status.UNAVAILABLE]: 'UNREACHABLE',
  [status.CANCELLED]: 'DISCONNECTED',
};

/** The service tells by a code of its own that a position is too old, or was never one. */
const BAD_POSITION = /replayid/i;

export function streamFailure(error: unknown): unknown {
  if (!isServiceError(error)) return error;
  const [code] = error.metadata.get('error-code');
  const told = code === undefined ? error.details : `${error.details} (${code})`;
  const kind = BAD_POSITION.test(`${code ?? ''}`) ? 'CURSOR_GONE' : KINDS[error.code];
  const message = `Salesforce's Pub/Sub API answered ${status[error.code]}: ${told}`;
  return new ProviderError(kind ?? 'SERVER_ERROR', bounded(message));
}

/** The service had ended its stream when it was asked for more, which grpc-js tells as a failure of ours. */
export function isEnd(error: unknown): boolean {
  return (
    isServiceError(error) &&
    error.code === status.INTERNAL &&
    error.details === 'Write error: write after end'
  );
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'code' in error && 'metadata' in error && 'details' in error;
}
