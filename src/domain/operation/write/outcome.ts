/** Outcomes of records: how they are stored, returned, and described in texts. */
import type { RecordOutcome } from '../../../providers/moving-records.ts';
import { storableJson, storableText } from '../../storable-json.ts';
import type { StoredOperationMetadata } from '../operation.ts';

export interface StoredOutcome extends RecordOutcome {
  /** True if the provider may have executed the write. */
  isUnknown?: true;
  /** True if the record did not have the expected version, so that nothing was written. */
  isStale?: true;
}

/** A larger copy of the record from the provider is not stored. Callers can read the record itself. */
const DATA_BYTES_MAX = 256 * 1024;
const ERRORS_MAX = 20;
const ERROR_LENGTH = 500;

/** Limits the size of an outcome, and removes what PostgreSQL can't store. */
export function storableOutcome({ success, recordId, data, errors }: RecordOutcome): StoredOutcome {
  const storedData =
    data && Buffer.byteLength(JSON.stringify(data)) <= DATA_BYTES_MAX ? data : null;
  return {
    success,
    recordId: recordId === null ? null : storableText(recordId),
    data: storableJson(storedData),
    errors: errors.slice(0, ERRORS_MAX).map(errorText),
  };
}

export function failedOutcome(recordId: string | null, reason: string): StoredOutcome {
  return { success: false, recordId, data: null, errors: [errorText(reason)] };
}

/** The outcome of a write that must not be repeated: the caller has to check whether it was executed. */
export function unknownOutcome(recordId: string | null, reason: string): StoredOutcome {
  const text = `The outcome is unknown: the provider may have written the record. ${reason}`;
  return { ...failedOutcome(recordId, text), isUnknown: true };
}

/** Limits the length of a text, and removes what PostgreSQL can't store. */
export function errorText(text: string): string {
  const storable = storableText(text);
  return storable.length > ERROR_LENGTH ? `${storable.slice(0, ERROR_LENGTH - 1)}…` : storable;
}

/** The outcome of a write that expected another version of the record. */
export function staleOutcome(recordId: string): StoredOutcome {
  const reason = 'The record has changed since the write was proposed, so it was not written.';
  return { ...failedOutcome(recordId, reason), isStale: true };
}

export interface WriteSummary {
  status: 'SUCCESS' | 'FAILURE';
  /** A sentence for people. */
  result: string;
  successfulRecordIds: string[];
  successCount: number;
  failureCount: number;
  errors: string[];
}

const RESULT_VERBS = { CREATE: 'created', UPDATE: 'updated', DELETE: 'deleted' } as const;

/**
 * Summarizes the outcomes of a write. A batch is a success if at least one of its records was written, as in the
 * reference API.
 */
export function summarize(
  { objectName, type }: { objectName: string; type: keyof typeof RESULT_VERBS },
  outcomes: readonly StoredOutcome[],
): WriteSummary {
  const written = outcomes.filter(({ success }) => success);
  const [successCount, failureCount] = [written.length, outcomes.length - written.length];
  const errors = outcomes.flatMap((outcome) => (outcome.success ? [] : outcome.errors));
  const [first] = outcomes;
  const result =
    outcomes.length !== 1 || !first
      ? `[${objectName}] Batch write completed (${successCount} succeeded, ${failureCount} failed)`
      : first.success
        ? `[${objectName}] ${['Record', first.recordId, RESULT_VERBS[type]].filter(Boolean).join(' ')}`
        : `[${objectName}] ${first.isUnknown ? '' : 'Error writing to provider: '}${first.errors.join(' ')}`;
  return {
    status: successCount > 0 ? 'SUCCESS' : 'FAILURE',
    result,
    successfulRecordIds: written.flatMap(({ recordId }) => recordId ?? []),
    successCount,
    failureCount,
    errors,
  };
}

/** An operation's metadata, ready to be stored. */
export function writeMetadata({
  objectName,
  successfulRecordIds = [],
  retry,
}: {
  objectName: string;
  successfulRecordIds?: string[];
  retry?: { attempts: number; lastAttempt: Date };
}): StoredOperationMetadata {
  return {
    objects: [objectName],
    successfulRecordIds,
    ...(retry && { retry: { ...retry, lastAttempt: retry.lastAttempt.toISOString() } }),
  };
}
