/** Writes many records as declared: in one request if the vendor has one, otherwise one by one. */
import { isObject } from '../../work/is-object.ts';
import type { ProviderResponse, ProviderSession } from '../contract.ts';
import {
  type BatchWrite,
  createRefusedOutcome,
  createWrittenOutcome,
  type RecordOutcome,
} from '../moving-records.ts';
import { ProviderError } from '../provider-error.ts';
import { writeOneByOne } from '../write-one-by-one.ts';
import type { ObjectDeclaration } from './declaration/declaration.ts';
import type { Batch } from './declaration/object-declaration.ts';
import {
  collectMessages,
  createFailure,
  findRefusal,
  hasSucceeded,
  toMessages,
} from './failure.ts';
import { findValue, parseId, withValue } from './json.ts';
import { nestFields } from './nested-fields.ts';
import { fillPath } from './template.ts';
import { getWritableObject, type Vendor, type WritableObject } from './vendor.ts';
import { createHeaders, writeRecord } from './write-record.ts';

export async function writeBatch(
  vendor: Vendor,
  session: ProviderSession,
  write: BatchWrite,
): Promise<RecordOutcome[]> {
  const { type, objectName, records, allOrNone } = write;
  const object = getWritableObject(vendor, objectName);
  const batch = type === 'CREATE' ? object.createMany : object.updateMany;
  if (allOrNone && records.length > 1 && !batch?.partialSuccessQuery) {
    const reason = `${vendor.displayName} can't refuse a batch as a whole`;
    return records.map(({ record }) => createRefusedOutcome(findUpdatedId(type, record), [reason]));
  }
  return batch
    ? writeInOneRequest(vendor, session, { ...write, object, batch })
    : writeOneByOne(write, (single) => writeRecord(vendor, session, single), parseId);
}

async function writeInOneRequest(
  vendor: Vendor,
  session: ProviderSession,
  { object, batch, ...write }: BatchWrite & { object: WritableObject; batch: Batch },
): Promise<RecordOutcome[]> {
  const { type, objectName, records, allOrNone, idempotencyKey } = write;
  const nestedRecords = records.map(({ record }) => nestFields(object.nestedFields, record));
  const response = await session.send({
    method: batch.method,
    path: fillPath(batch.path, { object: objectName }, session),
    query: { ...batch.query, ...(!allOrNone && batch.partialSuccessQuery) },
    headers: createHeaders(vendor.declaration, session, { key: idempotencyKey }),
    body: withValue(batch.body, batch.bodyRecords, nestedRecords),
    bodyFormat: vendor.declaration.bodyFormat,
  });
  const ids = records.map(({ record }) => findUpdatedId(type, record));
  const outcomes = findValue(response.body, batch.outcomes);
  // A vendor that refuses some records may return 207 or even 400, with an outcome for each record.
  const hasOutcomes = hasSucceeded(vendor, response) || findRefusal(vendor, response) !== null;
  if (hasOutcomes && Array.isArray(outcomes) && outcomes.length === records.length) {
    return outcomes.map((outcome, index) =>
      createOutcome(object, batch, { outcome, id: ids[index] ?? null, response }),
    );
  }
  return refuseOrThrow(vendor, response, ids);
}

function findUpdatedId(type: BatchWrite['type'], record: Record<string, unknown>): string | null {
  return type === 'CREATE' ? null : parseId(record.id);
}

function createOutcome(
  object: Pick<ObjectDeclaration, 'displayName'>,
  { success, recordId, record, errors }: Batch,
  { outcome, id, response }: { outcome: unknown; id: string | null; response: ProviderResponse },
): RecordOutcome {
  const writtenId = id ?? parseId(findValue(outcome, recordId));
  if (findValue(outcome, success.at) === success.value && writtenId !== null) {
    const data = record === undefined ? undefined : findValue(outcome, record);
    return createWrittenOutcome(writtenId, isObject(data) ? data : null);
  }
  const messages = errors.flatMap((pointer) => collectMessages(findValue(outcome, pointer)));
  return createRefusedOutcome(
    id,
    messages.length > 0
      ? toMessages(messages, response)
      : [`The provider gave no reason for refusing this record of ${object.displayName}`],
  );
}

function refuseOrThrow(
  vendor: Vendor,
  response: ProviderResponse,
  ids: (string | null)[],
): RecordOutcome[] {
  if (hasSucceeded(vendor, response)) {
    const { status } = response;
    throw new ProviderError('DISCONNECTED', 'The response does not list the written records', {
      status,
    });
  }
  const refusal = findRefusal(vendor, response);
  if (refusal === null) throw createFailure(vendor, response);
  return ids.map((id) => createRefusedOutcome(id, refusal));
}
