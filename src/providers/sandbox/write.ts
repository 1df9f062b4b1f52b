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
import { objectPath } from './read.ts';
import {
  batchSchema,
  isRecordRefusal,
  listMessages,
  refusalError,
  refusalMessages,
  writtenSchema,
} from './wire.ts';

/** The prefix of headers that callers may set. Other headers belong to the session or may be secret. */
const HEADER_START = 'x-sandbox-';

export async function writeRecord(
  session: ProviderSession,
  write: RecordWrite,
): Promise<RecordOutcome> {
  const { id, ...values } = write.record;
  const updating = write.type === 'UPDATE';
  const recordId = updating ? String(id ?? '') : null;
  const record = updating ? values : write.record;
  const errors = headerErrors(write.headers);
  if (recordId === '') errors.push('An update needs the id of its record');
  if (errors.length > 0) return refuseRecord(recordId, errors);
  const path = `${objectPath(write.objectName)}/records`;
  const response = await session.send({
    method: updating ? 'PATCH' : 'POST',
    path: recordId === null ? path : `${path}/${encodeURIComponent(recordId)}`,
    headers: requestHeaders(write),
    body: { record, associations: write.associations },
  });
  if (!isSuccess(response)) return refusalOutcome(response, recordId);
  const written = parseResponse(writtenSchema, response, 'WRITE');
  return createAcceptedOutcome(written.record, written.echoedHeaders);
}

export async function writeBatch(
  session: ProviderSession,
  write: BatchWrite,
): Promise<RecordOutcome[]> {
  const updating = write.type === 'UPDATE';
  const ids = write.records.map(({ record: { id } }) => (updating ? String(id ?? '') : null));
  const errors = headerErrors(write.headers);
  if (errors.length > 0) return ids.map((id) => refuseRecord(id, errors));
  const response = await session.send({
    method: 'POST',
    path: `${objectPath(write.objectName)}/batch/${write.type.toLowerCase()}`,
    headers: requestHeaders(write),
    body: {
      records: write.records.map(({ record, associations }, index) => ({
        record: updating ? { ...record, id: ids[index] } : record,
        associations,
      })),
      allOrNone: write.allOrNone,
    },
  });
  if (!isSuccess(response)) return ids.map((id) => refusalOutcome(response, id));
  return batchOutcomes(response, ids);
}

export async function deleteRecord(
  session: ProviderSession,
  { objectName, id, headers }: RecordRemoval,
): Promise<RecordOutcome> {
  const errors = headerErrors(headers);
  if (errors.length > 0) return refuseRecord(id, errors);
  const response = await session.send({
    method: 'DELETE',
    path: `${objectPath(objectName)}/records/${encodeURIComponent(id)}`,
    headers: requestHeaders({ headers }),
  });
  if (!isSuccess(response)) return refusalOutcome(response, id);
  return createWrittenOutcome(id);
}

function batchOutcomes(response: ProviderResponse, ids: (string | null)[]): RecordOutcome[] {
  const { results, echoedHeaders } = parseResponse(batchSchema, response, 'WRITE');
  return ids.map((id, index) => {
    const result = results[index];
    if (result === undefined) {
      const message = `${results.length} results came for ${ids.length} records`;
      throw new ProviderError('DISCONNECTED', message, { status: response.status });
    }
    if (result.success) return createAcceptedOutcome(result.record, echoedHeaders);
    return refuseRecord(id, listMessages(result.errors));
  });
}

function headerErrors(headers: RecordWrite['headers'] = []): string[] {
  return headers
    .filter(({ key }) => !key.toLowerCase().startsWith(HEADER_START))
    .map(({ key }) => `The sandbox takes only headers that start with ${HEADER_START}: ${key}`);
}

function requestHeaders({
  headers = [],
  idempotencyKey,
}: Pick<RecordWrite, 'headers' | 'idempotencyKey'>): Record<string, string> {
  const sent = Object.fromEntries(headers.map(({ key, value }) => [key.toLowerCase(), value]));
  return idempotencyKey === undefined ? sent : { ...sent, 'idempotency-key': idempotencyKey };
}

/**
 * Creates the outcome of a write. `data` includes the headers that the sandbox echoed, so that callers see that they
 * arrived.
 */
function createAcceptedOutcome(
  record: Record<string, unknown> & { id: string },
  echoedHeaders: Record<string, string>,
): RecordOutcome {
  const data = Object.keys(echoedHeaders).length > 0 ? { ...record, echoedHeaders } : record;
  return createWrittenOutcome(record.id, data);
}

function refusalOutcome(response: ProviderResponse, recordId: string | null): RecordOutcome {
  if (!isRecordRefusal(response)) throw refusalError(response);
  return refuseRecord(recordId, refusalMessages(response));
}

/** Creates the outcome of a refused record. An empty id means that the record has none. */
function refuseRecord(recordId: string | null, errors: string[]): RecordOutcome {
  return createRefusedOutcome(recordId || null, errors);
}
