/** Logs failures of background work for operators, and derives the reason that users see. */
import { DomainError } from '../../../kernel/errors.ts';
import type { Log } from '../../../kernel/log.ts';
import type { Text } from '../../../kernel/text.ts';
import { ProviderError } from '../../../providers/provider-error.ts';
import { toStorableJson } from '../../base/storable-json.ts';

interface WorkFailure {
  /** The reason for users. It contains no details of an unexpected error. */
  reason: Text;
  /** True if a retry can succeed without a user's action. */
  isTemporary: boolean;
}

interface FailureLog {
  /** Fields of the log line that identify the work. */
  fields: object;
  /** The name of the log line for an expected error, which is retried. Null if users see it elsewhere. */
  retryEvent: string | null;
  /** The name of the log line for a defect. */
  defectEvent: string;
}

export function logWorkFailure(
  log: Log,
  error: unknown,
  { fields, retryEvent, defectEvent }: FailureLog,
): WorkFailure {
  if (error instanceof DomainError || error instanceof ProviderError) {
    if (retryEvent !== null) log.warn({ ...fields, err: error }, retryEvent);
    const isTemporary = error instanceof DomainError || error.isTemporary;
    const reason = error instanceof DomainError ? error.detail : error.message;
    return { reason: toStorableJson(reason), isTemporary };
  }
  log.error({ ...fields, err: error }, defectEvent);
  return { reason: 'Internal error.', isTemporary: true };
}
