/** Writes batches. HubSpot returns results and errors separately, so they are matched to the records. */
import type { ProviderSession } from '../contract.ts';
import {
  type BatchWrite,
  createRefusedOutcome,
  createWrittenOutcome,
  type RecordOutcome,
} from '../moving-records.ts';
import { isSuccess, parseResponse, toMessage } from '../read-responses.ts';
import { createFailure, findRefusal } from './failure.ts';
import { paths } from './paths.ts';
import { type BatchError, type BatchResponse, batchResponse } from './wire.ts';
import { refuseAssociations } from './write.ts';

/** `allOrNone` applies to creates only. HubSpot always writes the valid records of an update. */
export async function writeBatch(
  session: ProviderSession,
  batch: BatchWrite,
): Promise<RecordOutcome[]> {
  const isCreate = batch.type === 'CREATE';
  const inputs = isCreate ? buildCreateInputs(batch) : buildUpdateInputs(batch);
  const response = await session.send({
    method: 'POST',
    path: paths.batch(batch.objectName, isCreate ? 'create' : 'update'),
    body: { inputs },
  });
  if (isSuccess(response)) {
    const body = parseResponse(batchResponse, response, 'WRITE');
    const errors = body.errors.map((error) => ({
      ...error,
      message: toMessage(error.message, response),
    }));
    const maskedBody = { ...body, errors };
    return isCreate
      ? listCreateOutcomes(inputs, maskedBody)
      : listUpdateOutcomes(inputs, maskedBody);
  }
  const refusal = findRefusal(response);
  if (refusal === null) throw createFailure(response, 'WRITE');
  return inputs.map(({ id = null }) => createRefusedOutcome(id, refusal));
}

interface BatchInput {
  id?: string;
  properties: Record<string, unknown>;
  associations?: unknown[];
  objectWriteTraceId?: string;
}

/** Trace ids make HubSpot write the valid records (207). Without them, one refused record refuses all. */
function buildCreateInputs({ records, allOrNone }: BatchWrite): BatchInput[] {
  return records.map(({ record, associations }, index) => ({
    properties: record,
    associations,
    ...(!allOrNone && { objectWriteTraceId: String(index) }),
  }));
}

/** A missing id becomes an empty one, which HubSpot refuses for that record only. */
function buildUpdateInputs({ records }: BatchWrite): BatchInput[] {
  return records.map(({ record: { id, ...properties }, associations }) => {
    refuseAssociations(associations);
    return {
      id: typeof id === 'string' || typeof id === 'number' ? String(id) : '',
      properties,
    };
  });
}

/** Assigns results and errors to inputs. Results have the order of the accepted inputs, with or without trace ids. */
function listCreateOutcomes(
  inputs: BatchInput[],
  { results, errors }: BatchResponse,
): RecordOutcome[] {
  const errorsByTrace = groupMessages(errors, 'objectWriteTraceId');
  const resultsByTrace = new Map(results.map((result) => [result.objectWriteTraceId, result]));
  const resultsWithoutTrace = results.filter(({ objectWriteTraceId }) => !objectWriteTraceId);
  return inputs.map(({ objectWriteTraceId: traceId = '' }) => {
    const refusal = errorsByTrace.get(traceId);
    if (refusal) return createRefusedOutcome(null, refusal);
    return toOutcome(resultsByTrace.get(traceId) ?? resultsWithoutTrace.shift(), null, errors);
  });
}

function listUpdateOutcomes(
  inputs: BatchInput[],
  { results, errors }: BatchResponse,
): RecordOutcome[] {
  const errorsById = groupMessages(errors, 'ids');
  const resultsById = new Map(results.map((result) => [result.id, result]));
  return inputs.map(({ id = '' }) => {
    const refusal = errorsById.get(id);
    return refusal
      ? createRefusedOutcome(id || null, refusal)
      : toOutcome(resultsById.get(id), id || null, errors);
  });
}

function toOutcome(
  result: BatchResponse['results'][number] | undefined,
  recordId: string | null,
  errors: BatchError[],
): RecordOutcome {
  if (result) return createWrittenOutcome(result.id, result.properties);
  // No error refers to this record, so all messages are returned.
  const messages = [...new Set(errors.map(({ message }) => message))];
  return createRefusedOutcome(
    recordId,
    messages.length > 0 ? messages : ['HubSpot returned no outcome for this record'],
  );
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
