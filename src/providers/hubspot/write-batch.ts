/**
 * Writes batches. HubSpot returns results and errors separately and in any order, so they are matched to the records.
 */
import type { ProviderResponse, ProviderSession } from '../contract.ts';
import {
  type BatchWrite,
  createRefusedOutcome,
  createWrittenOutcome,
  type RecordOutcome,
} from '../moving-records.ts';
import { isSuccess, parseResponse, toMessage } from '../read-responses.ts';
import { writeOneByOne } from '../write-one-by-one.ts';
import { createFailure, findRefusal } from './failure.ts';
import { matchResults } from './match-results.ts';
import { paths, toRecordId } from './paths.ts';
import { type BatchError, type BatchResponse, batchResponse } from './wire.ts';
import { ASSOCIATIONS_REFUSAL, hasAssociations, ID_REFUSAL, writeRecord } from './write.ts';

const NO_OUTCOME_REFUSAL = 'HubSpot returned no outcome for this record';
const UNCERTAIN_OUTCOME = "HubSpot's response does not say which records it refused.";

type BatchEntry = BatchWrite['records'][number];

/** Sends the records that HubSpot can accept. The other ones get a refusal of their own. */
export async function writeBatch(
  session: ProviderSession,
  batch: BatchWrite,
): Promise<RecordOutcome[]> {
  const refusals = batch.records.map((entry) => findUpdateRefusal(batch.type, entry));
  const records = batch.records.filter((_, index) => !refusals[index]);
  const outcomes = records.length > 0 ? await sendBatch(session, { ...batch, records }) : [];
  const nextOutcome = outcomes.values();
  return refusals.map((refusal) => refusal ?? nextOutcome.next().value!);
}

function findUpdateRefusal(
  type: BatchWrite['type'],
  { record, associations }: BatchEntry,
): RecordOutcome | null {
  if (type === 'CREATE') return null;
  const recordId = toRecordId(record.id);
  if (recordId === null) return createRefusedOutcome(null, [ID_REFUSAL]);
  return hasAssociations(associations)
    ? createRefusedOutcome(recordId, [ASSOCIATIONS_REFUSAL])
    : null;
}

async function sendBatch(session: ProviderSession, batch: BatchWrite): Promise<RecordOutcome[]> {
  const inputs = batch.type === 'CREATE' ? buildCreateInputs(batch) : buildUpdateInputs(batch);
  const response = await session.send({
    method: 'POST',
    path: paths.batch(batch.objectName, batch.type === 'CREATE' ? 'create' : 'update'),
    body: { inputs },
  });
  if (isSuccess(response)) return listOutcomes(inputs, parseBatchResponse(response));
  const refusal = findRefusal(response);
  if (refusal === null) throw createFailure(response, 'WRITE');
  const isWhole = batch.type === 'CREATE' && batch.allOrNone;
  if (inputs.length === 1 || isWhole) {
    return inputs.map(({ id = null }) => createRefusedOutcome(id, refusal));
  }
  // Despite trace ids, one record can refuse the others: HubSpot documents trace ids of creates only, and it can't parse
  // a request with a nested value. Nothing was written.
  return writeOneByOne(batch, (write) => writeRecord(session, write), toRecordId);
}

interface BatchInput {
  id?: string;
  properties: Record<string, unknown>;
  associations?: unknown[] | undefined;
  objectWriteTraceId?: string;
}

/**
 * HubSpot documents that trace ids make it write the valid records (207). An all-or-none batch must not have them,
 * although its results can then only be matched by content.
 */
function buildCreateInputs({ records, allOrNone }: BatchWrite): BatchInput[] {
  return records.map(({ record, associations }, index) => ({
    properties: record,
    associations,
    ...(!allOrNone && { objectWriteTraceId: String(index) }),
  }));
}

/** Updates always have trace ids. They can't be all-or-none, because HubSpot skips missing ids even without trace ids. */
function buildUpdateInputs({ records }: BatchWrite): BatchInput[] {
  return records.map(({ record: { id, ...properties } }, index) => ({
    id: String(id),
    properties,
    objectWriteTraceId: String(index),
  }));
}

function parseBatchResponse(response: ProviderResponse): BatchResponse {
  const body = parseResponse(batchResponse, response, 'WRITE');
  const errors = body.errors.map((error) => ({
    ...error,
    message: toMessage(error.message, response),
  }));
  return { ...body, errors };
}

/** Assigns errors and results to inputs by trace id, then by id, and the remaining results by content. */
function listOutcomes(inputs: BatchInput[], { results, errors }: BatchResponse): RecordOutcome[] {
  const errorsByTrace = groupMessages(errors, 'objectWriteTraceId');
  const errorsById = groupMessages(errors, 'ids');
  const resultsByTrace = new Map(results.map((result) => [result.objectWriteTraceId, result]));
  const untraced = new Set(results.filter(({ objectWriteTraceId }) => !objectWriteTraceId));
  const resultsById = new Map([...untraced].map((result) => [result.id, result]));
  const outcomes = inputs.map(({ objectWriteTraceId: traceId = '', id = '' }) => {
    const tracedOutcome = findOutcome(id, errorsByTrace.get(traceId), resultsByTrace.get(traceId));
    if (tracedOutcome) return tracedOutcome;
    const result = resultsById.get(id);
    if (result) untraced.delete(result);
    return findOutcome(id, errorsById.get(id), result);
  });
  const openInputs = inputs.filter((_, index) => !outcomes[index]);
  const openOutcomes = listOpenOutcomes(openInputs, { results: [...untraced], errors }).values();
  return outcomes.map((outcome) => outcome ?? openOutcomes.next().value!);
}

function findOutcome(
  id: string,
  refusal: string[] | undefined,
  result: BatchResponse['results'][number] | undefined,
): RecordOutcome | null {
  if (refusal) return createRefusedOutcome(id || null, refusal);
  return result ? createWrittenOutcome(result.id, result.properties) : null;
}

/** Returns the outcomes of inputs that no trace id and no id assigns. */
function listOpenOutcomes(
  inputs: BatchInput[],
  { results, errors }: BatchResponse,
): RecordOutcome[] {
  const matches = matchResults(inputs, results);
  return inputs.map((input) => {
    const { id = null } = input;
    const result = matches.get(input);
    if (result) return createWrittenOutcome(result.id, result.properties);
    // Each of the inputs was written, but which result is its own is uncertain.
    if (inputs.length === results.length) return createWrittenOutcome(id);
    // No error refers to this record, so all messages are returned.
    const messages = [...new Set(errors.map(({ message }) => message))];
    if (results.length > 0) {
      const reasons = [UNCERTAIN_OUTCOME, ...messages];
      return { ...createRefusedOutcome(id, reasons), failure: 'UNKNOWN' };
    }
    return createRefusedOutcome(id, messages.length > 0 ? messages : [NO_OUTCOME_REFUSAL]);
  });
}

function groupMessages(
  errors: BatchError[],
  keyMember: 'objectWriteTraceId' | 'ids',
): Map<string, string[]> {
  const messagesByKey = new Map<string, string[]>();
  for (const { message, context } of errors) {
    for (const key of context?.[keyMember] ?? []) {
      messagesByKey.set(key, [...(messagesByKey.get(key) ?? []), message]);
    }
  }
  return messagesByKey;
}
