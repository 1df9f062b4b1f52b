/** Creates and summarizes the outcomes of records. */
import { joinTexts, type Text, text } from '../../../../kernel/text.ts';
import type { RecordOutcome } from '../../../../providers/moving-records.ts';
import { isTooDeep } from '../../../../work/bounded-parse.ts';
import { toStorableJson, toStorableString } from '../../../base/storable-json.ts';
import { shortenText } from '../../../base/stored-text.ts';
import type { StoredOperationMetadata } from '../operation.ts';

export interface StoredOutcome extends Omit<RecordOutcome, 'errors' | 'failure'> {
  errors: Text[];
  /** True if the provider may have executed the write. */
  isUnknown?: true;
  /** True if the record did not have the expected version, so that nothing was written. */
  isStale?: true;
}

/** Larger or deeper records are not stored with the outcome. Callers can read the record from the provider instead. */
const DATA_BYTES_MAX = 256 * 1024;
const ERRORS_MAX = 20;
const ERROR_LENGTH_MAX = 500;

/**
 * Limits the size of an outcome, and removes characters that PostgreSQL can't store. With `wasUncertain`, an earlier
 * attempt may have written a record that the last attempt did not write.
 */
export function toStorableOutcome(
  { success, recordId, data, errors, failure }: RecordOutcome,
  { wasUncertain }: { wasUncertain: boolean },
): StoredOutcome {
  const storableId = recordId === null ? null : toStorableString(recordId);
  const reason = errors.join(' ');
  if (failure === 'UNKNOWN') return createUnknownOutcome(storableId, reason);
  if (failure === 'NOT_EXECUTED' && wasUncertain) {
    return createUnknownOutcome(storableId, `The last attempt failed: ${reason}`);
  }
  const isStored =
    data && !isTooDeep(data) && Buffer.byteLength(JSON.stringify(data)) <= DATA_BYTES_MAX;
  return {
    success,
    recordId: storableId,
    data: isStored ? toStorableJson(data) : null,
    errors: errors.slice(0, ERRORS_MAX).map(toErrorText),
  };
}

export function createFailedOutcome(recordId: string | null, reason: Text): StoredOutcome {
  return { success: false, recordId, data: null, errors: [toErrorText(reason)] };
}

/** Creates the outcome of a record that was never sent, because an earlier request failed for this reason. */
export function createUnsentOutcome(recordId: string | null, reason: Text): StoredOutcome {
  const error = text`Not attempted, because an earlier request failed: ${reason}`;
  return createFailedOutcome(recordId, error);
}

/** Creates the outcome of a write that must not be repeated. The caller has to check whether it was executed. */
export function createUnknownOutcome(recordId: string | null, reason: Text): StoredOutcome {
  const error = text`The outcome is unknown: the provider may have written the record. ${reason}`;
  return { ...createFailedOutcome(recordId, error), isUnknown: true };
}

/** Shortens an error message, and removes characters that PostgreSQL can't store. */
export function toErrorText(content: Text): Text {
  return shortenText(toStorableJson(content), ERROR_LENGTH_MAX);
}

/** Creates the outcome of a write that expected another version of the record. */
export function createStaleOutcome(recordId: string): StoredOutcome {
  const reason = 'The record has changed since the write was proposed, so it was not written.';
  return { ...createFailedOutcome(recordId, reason), isStale: true };
}

export interface WriteSummary {
  status: 'SUCCESS' | 'FAILURE';
  /** A human-readable sentence. */
  result: Text;
  successfulRecordIds: string[];
  successCount: number;
  failureCount: number;
  errors: Text[];
}

const RESULT_VERBS = { CREATE: 'created', UPDATE: 'updated', DELETE: 'deleted' } as const;

/**
 * Summarizes the outcomes of a write. A batch is a success if at least one of its records was written, as in the
 * reference API.
 */
export function summarizeOutcomes(
  { objectName, type }: { objectName: string; type: keyof typeof RESULT_VERBS },
  outcomes: readonly StoredOutcome[],
): WriteSummary {
  const successes = outcomes.filter(({ success }) => success);
  const successCount = successes.length;
  const failureCount = outcomes.length - successCount;
  const errors = outcomes.flatMap((outcome) => (outcome.success ? [] : outcome.errors));
  const [firstOutcome] = outcomes;
  const result =
    outcomes.length === 1 && firstOutcome
      ? describeOutcome(firstOutcome, type)
      : `Batch write completed (${successCount} succeeded, ${failureCount} failed)`;
  return {
    status: successCount > 0 ? 'SUCCESS' : 'FAILURE',
    result: text`[${objectName}] ${result}`,
    successfulRecordIds: successes.flatMap(({ recordId }) => recordId ?? []),
    successCount,
    failureCount,
    errors,
  };
}

function describeOutcome(
  { success, recordId, isUnknown, errors }: StoredOutcome,
  type: keyof typeof RESULT_VERBS,
): Text {
  if (success) return ['Record', recordId, RESULT_VERBS[type]].filter(Boolean).join(' ');
  const reasons = joinTexts(errors, ' ');
  return isUnknown ? reasons : text`Error writing to provider: ${reasons}`;
}

export function createWriteMetadata({
  objectName,
  omittedFields,
  successfulRecordIds = [],
  retry,
}: {
  objectName: string;
  omittedFields: string[];
  successfulRecordIds?: string[];
  retry?: { attempts: number; lastAttemptTime: Date };
}): StoredOperationMetadata {
  return {
    objects: [objectName],
    successfulRecordIds,
    ...(omittedFields.length > 0 && { omittedFields }),
    ...(retry && {
      retry: { attempts: retry.attempts, lastAttempt: retry.lastAttemptTime.toISOString() },
    }),
  };
}
