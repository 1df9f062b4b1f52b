/** Batch creates and updates of the HubSpot test server, including partial successes. */
import { z } from 'zod';
import { type HubspotRecord, HubspotRefusal, type HubspotStore } from './hubspot-store.ts';
import type { ServedRequest, ServedResponse } from './provider-server.ts';

const INPUTS_MAX = 100;
const STARTED_AT = '2026-01-01T00:00:00.000Z';

const properties = z.record(z.string(), z.unknown());
const createBody = z.strictObject({
  inputs: z.array(
    z.strictObject({
      properties,
      associations: z.array(z.unknown()).optional(),
      objectWriteTraceId: z.string().optional(),
    }),
  ),
});
const updateBody = z.strictObject({
  inputs: z.array(z.strictObject({ id: z.string(), properties })),
});

interface BatchError {
  status: 'error';
  category: string;
  message: string;
  context: Record<string, string[]>;
}

/** Without trace IDs, one invalid input fails the whole batch. */
export function createBatch(
  store: HubspotStore,
  { body }: ServedRequest,
  [name = '']: string[],
): ServedResponse {
  const { inputs } = createBody.parse(body);
  store.getObject(name);
  checkSize(inputs);
  const isPartial = inputs.every((input) => input.objectWriteTraceId !== undefined);
  if (!isPartial) for (const input of inputs) store.checkProperties(name, input.properties);
  const results: (HubspotRecord & { objectWriteTraceId?: string })[] = [];
  const errors: BatchError[] = [];
  for (const { objectWriteTraceId, ...input } of inputs) {
    try {
      const record = store.create(name, input.properties);
      if (input.associations) record.associations = input.associations;
      results.push({ ...record, objectWriteTraceId });
    } catch (refusal) {
      errors.push(createBatchError(refusal, { objectWriteTraceId: [objectWriteTraceId ?? ''] }));
    }
  }
  return createBatchResponse(201, results, errors);
}

/** Returns the results in another order than the inputs, as HubSpot may. */
export function updateBatch(
  store: HubspotStore,
  { body }: ServedRequest,
  [name = '']: string[],
): ServedResponse {
  const { inputs } = updateBody.parse(body);
  store.getObject(name);
  checkSize(inputs);
  checkDistinctIds(inputs);
  const results: HubspotRecord[] = [];
  const errors: BatchError[] = [];
  for (const { id, properties } of inputs) {
    const record = store.find(name, id);
    try {
      if (!record) throw new HubspotRefusal(404, 'OBJECT_NOT_FOUND', 'Could not get some objects');
      results.unshift(store.update(name, record, properties));
    } catch (refusal) {
      errors.push(createBatchError(refusal, { ids: [id] }));
    }
  }
  return createBatchResponse(200, results, errors);
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

function createBatchError(refusal: unknown, context: Record<string, string[]>): BatchError {
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
