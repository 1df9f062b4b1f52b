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
import { getObjectPath } from './read.ts';
import {
  batchSchema,
  createRefusalError,
  isRecordRefusal,
  listMessages,
  listRefusalMessages,
  writtenSchema,
} from './wire.ts';

/** The prefix of headers that callers may set. Other headers belong to the session or may be secret. */
const HEADER_PREFIX = 'x-sandbox-';

export async function writeRecord(
  session: ProviderSession,
  write: RecordWrite,
): Promise<RecordOutcome> {
  const { id, ...values } = write.record;
  const isUpdate = write.type === 'UPDATE';
  const recordId = isUpdate ? String(id ?? '') : null;
  const record = isUpdate ? values : write.record;
  const errors = listHeaderErrors(write.headers);
  if (recordId === '') errors.push('An update needs the id of its record');
  if (errors.length > 0) return refuseRecord(recordId, errors);
  const path = `${getObjectPath(write.objectName)}/records`;
  const response = await session.send({
    method: isUpdate ? 'PATCH' : 'POST',
    path: recordId === null ? path : `${path}/${encodeURIComponent(recordId)}`,
    headers: createHeaders(write),
    body: { record, associations: write.associations },
  });
  if (!isSuccess(response)) return refuseOrThrow(response, recordId);
  const written = parseResponse(writtenSchema, response, 'WRITE');
  return toOutcome(written.record, written.echoedHeaders);
}

export async function writeBatch(
  session: ProviderSession,
  write: BatchWrite,
): Promise<RecordOutcome[]> {
  const isUpdate = write.type === 'UPDATE';
  const ids = write.records.map(({ record: { id } }) => (isUpdate ? String(id ?? '') : null));
  const errors = listHeaderErrors(write.headers);
  if (errors.length > 0) return ids.map((id) => refuseRecord(id, errors));
  const response = await session.send({
    method: 'POST',
    path: `${getObjectPath(write.objectName)}/batch/${write.type.toLowerCase()}`,
    headers: createHeaders(write),
    body: {
      records: write.records.map(({ record, associations }, index) => ({
        record: isUpdate ? { ...record, id: ids[index] } : record,
        associations,
      })),
      allOrNone: write.allOrNone,
    },
  });
  if (!isSuccess(response)) return ids.map((id) => refuseOrThrow(response, id));
  return parseBatchOutcomes(response, ids);
}

export async function deleteRecord(
  session: ProviderSession,
  { objectName, id, headers }: RecordRemoval,
): Promise<RecordOutcome> {
  const errors = listHeaderErrors(headers);
  if (errors.length > 0) return refuseRecord(id, errors);
  const response = await session.send({
    method: 'DELETE',
    path: `${getObjectPath(objectName)}/records/${encodeURIComponent(id)}`,
    headers: createHeaders({ headers }),
  });
  if (!isSuccess(response)) return refuseOrThrow(response, id);
  return createWrittenOutcome(id);
}

function parseBatchOutcomes(response: ProviderResponse, ids: (string | null)[]): RecordOutcome[] {
  const { results, echoedHeaders } = parseResponse(batchSchema, response, 'WRITE');
  return ids.map((id, index) => {
    const result = results[index];
    if (result === undefined) {
      const message = `The response has ${results.length} results for ${ids.length} records`;
      throw new ProviderError('DISCONNECTED', message, { status: response.status });
    }
    if (result.success) return toOutcome(result.record, echoedHeaders);
    return refuseRecord(id, listMessages(result.errors, response));
  });
}

function listHeaderErrors(headers: RecordWrite['headers'] = []): string[] {
  return headers
    .filter(({ key }) => !key.toLowerCase().startsWith(HEADER_PREFIX))
    .map(({ key }) => `The sandbox accepts only headers that start with ${HEADER_PREFIX}: ${key}`);
}

function createHeaders({
  headers = [],
  idempotencyKey,
}: Pick<RecordWrite, 'headers' | 'idempotencyKey'>): Record<string, string> {
  const callerHeaders = Object.fromEntries(
    headers.map(({ key, value }) => [key.toLowerCase(), value]),
  );
  return idempotencyKey === undefined
    ? callerHeaders
    : { ...callerHeaders, 'idempotency-key': idempotencyKey };
}

/**
 * Creates the outcome of a write. `data` includes the headers that the sandbox echoed, so that callers see that they
 * arrived.
 */
function toOutcome(
  record: Record<string, unknown> & { id: string },
  echoedHeaders: Record<string, string>,
): RecordOutcome {
  const data = Object.keys(echoedHeaders).length > 0 ? { ...record, echoedHeaders } : record;
  return createWrittenOutcome(record.id, data);
}

function refuseOrThrow(response: ProviderResponse, recordId: string | null): RecordOutcome {
  if (!isRecordRefusal(response)) throw createRefusalError(response);
  return refuseRecord(recordId, listRefusalMessages(response));
}

/** Creates the outcome of a refused record. An empty id means that the record has none. */
function refuseRecord(recordId: string | null, errors: string[]): RecordOutcome {
  return createRefusedOutcome(recordId || null, errors);
}
