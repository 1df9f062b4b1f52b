/** Routes that change records. */
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import {
  parseInput,
  parseJsonBody,
  type SandboxRequest,
  type SandboxResponse,
} from '../request.ts';
import { createRecordView } from './record-view.ts';
import type { StoredRecord } from './table.ts';
import type { RecordChange, Workspace } from './workspace.ts';

/** The usual batch limit of CRMs. */
const BATCH_SIZE_MAX = 100;
const ASSOCIATIONS_MAX = 100;
/** Exceeds the fields of every object. Limits the problems in a response, because each unknown field adds one. */
const FIELDS_MAX = 100;

const associationSchema = z.strictObject({
  to: z.strictObject({ id: z.string().min(1).max(64) }),
  types: z
    .array(
      z.strictObject({
        associationCategory: z.string().min(1).max(64),
        associationTypeId: z.int(),
      }),
    )
    .max(ASSOCIATIONS_MAX),
});
const fieldsSchema = z
  .record(z.string(), z.unknown())
  .refine(
    (record) => Object.keys(record).length <= FIELDS_MAX,
    `has more than ${FIELDS_MAX} fields`,
  );
const changeSchema = z.strictObject({
  record: fieldsSchema,
  associations: z.array(associationSchema).max(ASSOCIATIONS_MAX).optional(),
});
/** Treats a missing id as an unknown one, so that the batch refuses only this record. */
const updateSchema = changeSchema.extend({
  record: fieldsSchema.pipe(z.looseObject({ id: z.string().default('') })),
});

export function createRecord(workspace: Workspace, request: SandboxRequest): SandboxResponse {
  const { record: values, associations } = parseInput(changeSchema, parseJsonBody(request));
  return writeRecord(workspace, request, { values, associations });
}

export function updateRecord(workspace: Workspace, request: SandboxRequest): SandboxResponse {
  const { record: values, associations } = parseInput(changeSchema, parseJsonBody(request));
  return writeRecord(workspace, request, { id: request.params.id!, values, associations });
}

function writeRecord(
  workspace: Workspace,
  { params, headers }: SandboxRequest,
  change: RecordChange,
): SandboxResponse {
  const record = workspace.write(params.object!, change);
  const view = createObjectView(workspace, params);
  return {
    status: change.id === undefined ? 201 : 200,
    json: { record: view(record), echoedHeaders: selectEchoedHeaders(headers) },
  };
}

export function deleteRecord(
  workspace: Workspace,
  { params, headers }: SandboxRequest,
): SandboxResponse {
  workspace.delete(params.object!, params.id!);
  return { status: 200, json: { id: params.id, echoedHeaders: selectEchoedHeaders(headers) } };
}

const mergeSchema = z.strictObject({ otherId: z.string().min(1).max(64) });

export function mergeRecords(workspace: Workspace, request: SandboxRequest): SandboxResponse {
  const { object, id } = request.params;
  const { otherId } = parseInput(mergeSchema, parseJsonBody(request));
  const record = workspace.merge(object!, id!, otherId);
  return buildRecordResponse(workspace, request, record);
}

export function restoreRecord(workspace: Workspace, request: SandboxRequest): SandboxResponse {
  const { object, id } = request.params;
  return buildRecordResponse(workspace, request, workspace.restore(object!, id!));
}

function buildRecordResponse(
  workspace: Workspace,
  { params }: SandboxRequest,
  record: StoredRecord,
): SandboxResponse {
  const view = createObjectView(workspace, params);
  return { status: 200, json: { record: view(record) } };
}

export function createBatch(workspace: Workspace, request: SandboxRequest): SandboxResponse {
  const { records, allOrNone } = parseInput(
    createBatchSchema(changeSchema),
    parseJsonBody(request),
  );
  const changes = records.map(({ record, associations }) => ({ values: record, associations }));
  return buildBatchResponse(workspace, request, { changes, allOrNone });
}

export function updateBatch(workspace: Workspace, request: SandboxRequest): SandboxResponse {
  const { records, allOrNone } = parseInput(
    createBatchSchema(updateSchema),
    parseJsonBody(request),
  );
  const changes = records.map(({ record: { id, ...values }, associations }) => ({
    id,
    values,
    associations,
  }));
  return buildBatchResponse(workspace, request, { changes, allOrNone });
}

function createBatchSchema<Change extends z.ZodType>(change: Change) {
  return z.strictObject({
    records: z.array(change).min(1).max(BATCH_SIZE_MAX),
    allOrNone: z.boolean().default(false),
  });
}

/** Returns status 200 with one result for each record, in order. */
function buildBatchResponse(
  workspace: Workspace,
  { params, headers }: SandboxRequest,
  { changes, allOrNone }: { changes: RecordChange[]; allOrNone: boolean },
): SandboxResponse {
  const view = createObjectView(workspace, params);
  const results = workspace
    .writeBatch(params.object!, changes, allOrNone)
    .map((result) =>
      'record' in result
        ? { success: true, record: view(result.record) }
        : { success: false, errors: result.problems },
    );
  return { status: 200, json: { results, echoedHeaders: selectEchoedHeaders(headers) } };
}

/** Returns a function that formats records of the request's object. */
function createObjectView(workspace: Workspace, { object }: SandboxRequest['params']) {
  return createRecordView(workspace.getTable(object!).definition);
}

/**
 * Returns the request's `x-sandbox-` headers. Other headers belong to the transport or are secret. Needs no limit of its
 * own: Node limits headers to 16 KiB.
 */
function selectEchoedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const echoedEntries = Object.entries(headers).filter(([name]) => name.startsWith('x-sandbox-'));
  return Object.fromEntries(echoedEntries.map(([name, value]) => [name, String(value)]));
}
