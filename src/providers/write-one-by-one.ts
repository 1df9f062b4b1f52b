/** Writes the records of a batch in single requests. */
import {
  type BatchWrite,
  createRefusedOutcome,
  type RecordOutcome,
  type RecordWrite,
} from './moving-records.ts';
import { ProviderError } from './provider-error.ts';

/**
 * Writes records one by one. If the first record fails, throws its error, because nothing was written. If a later record
 * fails, it and the records after it get failed outcomes, which the caller can retry. `parseId` returns the id of an
 * updated record, or null.
 */
export async function writeOneByOne(
  { type, objectName, records, idempotencyKey }: BatchWrite,
  writeRecord: (write: RecordWrite) => Promise<RecordOutcome>,
  parseId: (id: unknown) => string | null,
): Promise<RecordOutcome[]> {
  const ids = records.map(({ record }) => (type === 'CREATE' ? null : parseId(record.id)));
  const outcomes: RecordOutcome[] = [];
  for (const [index, entry] of records.entries()) {
    const key = idempotencyKey && { idempotencyKey: `${idempotencyKey}-${index}` };
    try {
      outcomes.push(await writeRecord({ type, objectName, ...entry, ...key }));
    } catch (error) {
      if (!(error instanceof ProviderError) || outcomes.length === 0) throw error;
      const outcome = error.isOutcomeUnknown ? 'It may have been written' : 'It was not written';
      const skippedError = 'Not attempted, because an earlier record failed';
      return [
        ...outcomes,
        createRefusedOutcome(ids[index] ?? null, [`${outcome}: ${error.message}`]),
        ...ids.slice(index + 1).map((id) => createRefusedOutcome(id, [skippedError])),
      ];
    }
  }
  return outcomes;
}
