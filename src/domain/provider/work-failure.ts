/** Why work that nobody waits for has failed, as its people are told, and as the log tells operators. */
import { DomainError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { ProviderError } from '../../providers/provider-error.ts';
import { storableText } from '../storable-json.ts';

interface WorkFailure {
  /** For people. What nobody expected says nothing of itself. */
  reason: string;
  /** Whether it may pass without a person. */
  mayPass: boolean;
}

interface Told {
  /** What the work was about. */
  about: object;
  /** The name of the log line for what was expected, which is tried again; null if people are told in another way. */
  delayed: string | null;
  /** The name of the log line for a defect. */
  failed: string;
}

export function logFailure(
  log: Log,
  error: unknown,
  { about, delayed, failed }: Told,
): WorkFailure {
  if (error instanceof DomainError || error instanceof ProviderError) {
    if (delayed !== null) log.warn({ ...about, err: error }, delayed);
    const mayPass = error instanceof DomainError || error.isTemporary;
    return { reason: storableText(error.message), mayPass };
  }
  log.error({ ...about, err: error }, failed);
  return { reason: 'An internal error.', mayPass: true };
}
