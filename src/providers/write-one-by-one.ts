/** Writes the records of a batch in single requests. */
import {
  type BatchWrite,
  createRefusedOutcome,
  type RecordOutcome,
  type RecordWrite,
} from './moving-records.ts';
import { ProviderError } from './provider-error.ts';

/**
 * Writes records one by one. If the first record fails, throws its error if the batch can be repeated. Otherwise, the
 * failed record and the records after it get outcomes with their `failure`. `parseId` returns the id of an updated
 * record, or null.
 */
export async function writeOneByOne(
  batch: BatchWrite,
  writeRecord: (write: RecordWrite) => Promise<RecordOutcome>,
  parseId: (id: unknown) => string | null,
): Promise<RecordOutcome[]> {
  const { type, objectName, records, idempotencyKey } = batch;
  const ids = records.map(({ record }) => (type === 'CREATE' ? null : parseId(record.id)));
  const outcomes: RecordOutcome[] = [];
  for (const [index, entry] of records.entries()) {
    const key = idempotencyKey && { idempotencyKey: `${idempotencyKey}-${index}` };
    try {
      outcomes.push(await writeRecord({ type, objectName, ...entry, ...key }));
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      if (index === 0 && isRepeatable(batch, error)) throw error;
      return [...outcomes, ...createFailedOutcomes(ids.slice(index), error)];
    }
  }
  return outcomes;
}

/**
 * True if a repetition of the batch creates no record twice, after its first record failed. A batch of a single record
 * counts as repeatable, because its error describes its only record.
 */
function isRepeatable(
  { type, records, idempotencyKey }: BatchWrite,
  { isOutcomeUnknown }: ProviderError,
): boolean {
  return (
    !isOutcomeUnknown || type === 'UPDATE' || idempotencyKey !== undefined || records.length === 1
  );
}

/** Creates the outcomes of the first id, whose record failed, and of the other ids, whose records were not sent. */
function createFailedOutcomes(
  [failedId = null, ...unsentIds]: (string | null)[],
  { message, isOutcomeUnknown }: ProviderError,
): RecordOutcome[] {
  const failedOutcome: RecordOutcome = isOutcomeUnknown
    ? { ...createRefusedOutcome(failedId, [message]), failure: 'UNKNOWN' }
    : {
        ...createRefusedOutcome(failedId, [`It was not written: ${message}`]),
        failure: 'NOT_EXECUTED',
      };
  const unsentError = 'Not attempted, because an earlier record failed';
  return [
    failedOutcome,
    ...unsentIds.map((id) => ({
      ...createRefusedOutcome(id, [unsentError]),
      failure: 'NOT_EXECUTED' as const,
    })),
  ];
}
