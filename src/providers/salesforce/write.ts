/** Creates, updates and deletes records. Salesforce's responses never contain the record. */
import type { ProviderResponse, ProviderSession } from '../contract.ts';
import {
  type BatchWrite,
  createRefusedOutcome,
  createWrittenOutcome,
  type RecordOutcome,
  type RecordRemoval,
  type RecordWrite,
} from '../moving-records.ts';
import { ProviderError } from '../provider-error.ts';
import { isSuccess, parseResponse } from '../read-responses.ts';
import { createFailure, findRefusal, formatMessage, listMessages } from './failure.ts';
import { checkObjectName, toRecordId } from './object-names.ts';
import { paths } from './paths.ts';
import { collectionResponse, createResponse } from './wire.ts';

export function writeRecord(session: ProviderSession, write: RecordWrite): Promise<RecordOutcome> {
  return write.type === 'CREATE' ? createRecord(session, write) : updateRecord(session, write);
}

async function createRecord(session: ProviderSession, write: RecordWrite): Promise<RecordOutcome> {
  const response = await session.send({
    method: 'POST',
    path: paths.records(write.objectName),
    headers: createHeaders(write.headers),
    body: write.record,
  });
  if (!isSuccess(response)) return refuseOrThrow(response, null);
  const { id } = parseResponse(createResponse, response, 'WRITE');
  return createWrittenOutcome(id);
}

async function updateRecord(
  session: ProviderSession,
  { objectName, record, headers }: RecordWrite,
): Promise<RecordOutcome> {
  const { id, ...fields } = record;
  const recordId = toRecordId(id);
  if (recordId === null)
    return createRefusedOutcome(null, ['An update needs the id of a Salesforce record']);
  const response = await session.send({
    method: 'POST',
    path: paths.record(objectName, recordId),
    query: { _HttpMethod: 'PATCH' },
    headers: createHeaders(headers),
    body: fields,
  });
  return isSuccess(response) ? createWrittenOutcome(recordId) : refuseOrThrow(response, recordId);
}

export async function deleteRecord(
  session: ProviderSession,
  { objectName, id, headers }: RecordRemoval,
): Promise<RecordOutcome> {
  const recordId = toRecordId(id);
  if (recordId === null)
    return createRefusedOutcome(null, ['No Salesforce record can have that id']);
  const response = await session.send({
    method: 'DELETE',
    path: paths.record(objectName, recordId),
    headers: createHeaders(headers),
  });
  return isSuccess(response) ? createWrittenOutcome(recordId) : refuseOrThrow(response, recordId);
}

export async function writeBatch(
  session: ProviderSession,
  batch: BatchWrite,
): Promise<RecordOutcome[]> {
  const attributes = { type: checkObjectName(batch.objectName) };
  const response = await session.send({
    method: batch.type === 'CREATE' ? 'POST' : 'PATCH',
    path: paths.collection,
    headers: createHeaders(batch.headers),
    body: {
      allOrNone: batch.allOrNone,
      // `attributes` comes last, so that no record can override the object type of the batch.
      records: batch.records.map(({ record }) => ({ ...record, attributes })),
    },
  });
  const ids = batch.records.map(({ record }) => toRecordId(record.id));
  if (isSuccess(response)) return parseBatchOutcomes(response, ids);
  const refusal = findRefusal(response);
  if (refusal === null) throw createFailure(response);
  return ids.map((id) => createRefusedOutcome(id, refusal));
}

function parseBatchOutcomes(response: ProviderResponse, ids: (string | null)[]): RecordOutcome[] {
  const results = parseResponse(collectionResponse.length(ids.length), response, 'WRITE');
  return results.map(({ id, success, errors }, index) => {
    const recordId = id ?? ids[index] ?? null;
    if (success) return createWrittenOutcome(recordId);
    const messages = errors.map((error) =>
      formatMessage({ ...error, errorCode: error.statusCode }, response),
    );
    return createRefusedOutcome(
      recordId,
      messages.length > 0 ? messages : ['Salesforce gave no reason'],
    );
  });
}

/**
 * Returns the outcome of a refused write. Throws if the reason is not the record. A 404 means that the record is
 * missing.
 */
function refuseOrThrow(response: ProviderResponse, recordId: string | null): RecordOutcome {
  const error = createFailure(response);
  const isMissing = error.kind === 'MISSING_OBJECT' && recordId !== null;
  const refusal = isMissing ? listMessages(response) : findRefusal(response);
  if (refusal === null) throw error;
  return createRefusedOutcome(recordId, refusal);
}

/** Permitted header names that a caller adds to a write, such as Sforce-Duplicate-Rule-Header. */
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]{1,100}$/;
/** Permitted values: printable ASCII, because control characters could end the header. */
const HEADER_VALUE = /^[\t\x20-\x7e]{0,1000}$/;
/** Headers that the session and HTTP itself set. Callers must not replace them. */
const RESERVED_NAME =
  /^(?:authorization|cookie|host|accept|accept-.*|content-.*|connection|expect|forwarded|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|via|x-forwarded-.*)$/i;

/**
 * Returns the headers to send. Throws BAD_REQUEST if one is not permitted, because a write without it could differ from
 * the request.
 */
function createHeaders(headers: { key: string; value: string }[] = []): Record<string, string> {
  const refusedHeader = headers.find(
    ({ key, value }) =>
      !HEADER_NAME.test(key) || RESERVED_NAME.test(key) || !HEADER_VALUE.test(value),
  );
  if (refusedHeader) {
    const name = JSON.stringify(refusedHeader.key.slice(0, 100));
    throw new ProviderError('BAD_REQUEST', `The header ${name} cannot be sent to Salesforce`);
  }
  return Object.fromEntries(headers.map(({ key, value }) => [key.toLowerCase(), value]));
}
