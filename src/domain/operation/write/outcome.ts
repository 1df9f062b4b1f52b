/** Outcomes of records, as they are stored, answered and shown to people. */
import type { RecordOutcome } from '../../../providers/moving-records.ts';
import { storableJson, storableText } from '../../storable-json.ts';
import type { StoredOperationMetadata } from '../operation.ts';

export interface StoredOutcome extends RecordOutcome {
  /** The provider may have done it. */
  isUnknown?: true;
}

/** A provider's copy of the record beyond this is not kept: the record itself is there to be read. */
const DATA_BYTES_MAX = 256 * 1024;
const ERRORS_MAX = 20;
const ERROR_LENGTH = 500;

/** Bounded, and in a form that can be stored. */
export function storableOutcome({ success, recordId, data, errors }: RecordOutcome): StoredOutcome {
  const kept = data && Buffer.byteLength(JSON.stringify(data)) <= DATA_BYTES_MAX ? data : null;
  return {
    success,
    recordId: recordId === null ? null : storableText(recordId),
    data: storableJson(kept),
    errors: errors.slice(0, ERRORS_MAX).map(errorText),
  };
}

export function failedOutcome(recordId: string | null, reason: string): StoredOutcome {
  return { success: false, recordId, data: null, errors: [errorText(reason)] };
}

/** For a write that must not be repeated: the caller has to check whether it was done. */
export function unknownOutcome(recordId: string | null, reason: string): StoredOutcome {
  const text = `The outcome is unknown: the provider may have written the record. ${reason}`;
  return { ...failedOutcome(recordId, text), isUnknown: true };
}

/** Bounded, and in a form that can be stored. */
export function errorText(text: string): string {
  const storable = storableText(text);
  return storable.length > ERROR_LENGTH ? `${storable.slice(0, ERROR_LENGTH - 1)}…` : storable;
}

export interface WriteSummary {
  status: 'SUCCESS' | 'FAILURE';
  /** For people. */
  result: string;
  successfulRecordIds: string[];
  successCount: number;
  failureCount: number;
  errors: string[];
}

const DONE = { CREATE: 'created', UPDATE: 'updated', DELETE: 'deleted' } as const;

/** A batch is a success if at least one of its records was written, as in the reference API. */
export function summarize(
  { objectName, type }: { objectName: string; type: keyof typeof DONE },
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
        ? `[${objectName}] ${['Record', first.recordId, DONE[type]].filter(Boolean).join(' ')}`
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

/** An operation's metadata, to be stored. */
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
