/** Batch creates and updates of the HubSpot test server, including partial successes. */
import { z } from 'zod';
import {
  type HubspotRecord,
  HubspotRefusal,
  type HubspotStore,
  recordProperties,
} from './hubspot-store.ts';
import type { ServedRequest, ServedResponse } from './provider-server.ts';

const INPUTS_MAX = 100;
const STARTED_AT = '2026-01-01T00:00:00.000Z';

const objectWriteTraceId = z.string().optional();
const createBody = z.strictObject({
  inputs: z.array(
    z.strictObject({
      properties: recordProperties,
      associations: z.array(z.unknown()).optional(),
      objectWriteTraceId,
    }),
  ),
});
const updateBody = z.strictObject({
  inputs: z.array(
    z.strictObject({ id: z.string(), properties: recordProperties, objectWriteTraceId }),
  ),
});

interface BatchError {
  status: 'error';
  category: string;
  message: string;
  context: { objectWriteTraceId?: string[]; ids?: string[] };
}

type BatchResult = HubspotRecord & { objectWriteTraceId?: string | undefined };

/** Without trace IDs, one invalid input fails the whole batch. Returns the results in another order, as HubSpot may. */
export function createBatch(
  store: HubspotStore,
  { body }: ServedRequest,
  [name = '']: string[],
): ServedResponse {
  const { inputs } = createBody.parse(body);
  store.getObject(name);
  checkSize(inputs);
  if (!isPartial(inputs)) for (const input of inputs) store.checkProperties(name, input.properties);
  const results: BatchResult[] = [];
  const errors: BatchError[] = [];
  for (const { objectWriteTraceId, ...input } of inputs) {
    try {
      const record = store.create(name, input.properties);
      if (input.associations) record.associations = input.associations;
      results.unshift(createResult(record, objectWriteTraceId));
    } catch (refusal) {
      errors.push(createBatchError(refusal, { objectWriteTraceId: [objectWriteTraceId ?? ''] }));
    }
  }
  return createBatchResponse(201, results, errors);
}

/**
 * Without trace IDs, one invalid input fails the whole batch, but a missing record does not. Returns the results in
 * another order than the inputs, as HubSpot may.
 */
export function updateBatch(
  store: HubspotStore,
  { body }: ServedRequest,
  [name = '']: string[],
): ServedResponse {
  const { inputs } = updateBody.parse(body);
  store.getObject(name);
  checkSize(inputs);
  checkDistinctIds(inputs);
  if (!isPartial(inputs)) {
    for (const { id, properties } of inputs) store.checkProperties(name, properties, id);
  }
  const results: BatchResult[] = [];
  const errors: BatchError[] = [];
  for (const { id, properties, objectWriteTraceId } of inputs) {
    const record = store.find(name, id);
    const context = record ? { objectWriteTraceId: [objectWriteTraceId ?? ''] } : { ids: [id] };
    try {
      if (!record) throw new HubspotRefusal(404, 'OBJECT_NOT_FOUND', 'Could not get some objects');
      results.unshift(createResult(store.update(name, record, properties), objectWriteTraceId));
    } catch (refusal) {
      errors.push(createBatchError(refusal, context));
    }
  }
  return createBatchResponse(200, results, errors);
}

function isPartial(inputs: { objectWriteTraceId?: string | undefined }[]): boolean {
  return inputs.every(({ objectWriteTraceId }) => objectWriteTraceId !== undefined);
}

/** Returns values as HubSpot does: as texts, with email addresses in lower case. */
function createResult(record: HubspotRecord, objectWriteTraceId: string | undefined): BatchResult {
  const entries = Object.entries(record.properties).map(([name, value]) => {
    const text = value === null ? null : String(value);
    return [name, name === 'email' ? text?.toLowerCase() : text];
  });
  return { ...record, properties: Object.fromEntries(entries), objectWriteTraceId };
}

function checkSize({ length }: unknown[]): void {
  if (length <= INPUTS_MAX) return;
  throw new HubspotRefusal(400, 'VALIDATION_ERROR', `The maximum batch size is ${INPUTS_MAX}`);
}

/** One repeated id fails the whole batch, with or without trace IDs. */
function checkDistinctIds(inputs: { id: string }[]): void {
  const ids = inputs.map(({ id }) => id);
  const repeatedIds = ids.filter((id, index) => ids.indexOf(id) < index);
  if (repeatedIds.length === 0) return;
  const message = `Duplicate IDs found in batch input: [${repeatedIds.join(', ')}]. IDs must be unique`;
  throw new HubspotRefusal(400, 'VALIDATION_ERROR', message);
}

function createBatchError(refusal: unknown, context: BatchError['context']): BatchError {
  if (!(refusal instanceof HubspotRefusal)) throw refusal;
  const { category } = z.object({ category: z.string() }).parse(refusal.response.body);
  return { status: 'error', category, message: refusal.message, context };
}

function createBatchResponse(
  status: number,
  results: unknown[],
  errors: BatchError[],
): ServedResponse {
  return {
    status: errors.length > 0 ? 207 : status,
    body: {
      status: 'COMPLETE',
      results,
      ...(errors.length > 0 && { numErrors: errors.length, errors }),
      startedAt: STARTED_AT,
      completedAt: STARTED_AT,
    },
  };
}
