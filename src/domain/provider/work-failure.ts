/** Logs failures of background work for operators, and returns the reason for users. */
import { DomainError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { ProviderError } from '../../providers/provider-error.ts';
import { toStorableString } from '../storable-json.ts';

interface WorkFailure {
  /** The reason for users. It contains no details of an unexpected error. */
  reason: string;
  /** True if a retry can succeed without a user's action. */
  isTemporary: boolean;
}

interface FailureLog {
  /** Fields of the log line that identify the work. */
  fields: object;
  /** The name of the log line for an expected error, which is retried. Null if users see it elsewhere. */
  delayed: string | null;
  /** The name of the log line for a defect. */
  failed: string;
}

export function logFailure(
  log: Log,
  error: unknown,
  { fields: about, delayed, failed }: FailureLog,
): WorkFailure {
  if (error instanceof DomainError || error instanceof ProviderError) {
    if (delayed !== null) log.warn({ ...about, err: error }, delayed);
    const mayPass = error instanceof DomainError || error.isTemporary;
    return { reason: toStorableString(error.message), isTemporary: mayPass };
  }
  log.error({ ...about, err: error }, failed);
  return { reason: 'Internal error.', isTemporary: true };
}
