/** Routes that read objects and records. */
import { z } from 'zod';
import {
  parseInput,
  parseJsonBody,
  type SandboxRequest,
  type SandboxResponse,
} from '../request.ts';
import { SandboxRefusal } from '../sandbox-refusal.ts';
import { type CrmField, OBJECT_NAMES, OBJECTS, type ObjectDefinition } from './objects.ts';
import { createRecordView, createSelectedView } from './record-view.ts';
import type { RecordTable, StoredRecord } from './table.ts';
import type { Workspace } from './workspace.ts';

const PAGE_SIZE_MAX = 1_000;

export function listObjects(): SandboxResponse {
  const objects = OBJECT_NAMES.map((name) => {
    const { displayName } = OBJECTS[name];
    return { name, displayName };
  });
  return { status: 200, json: { objects } };
}

export function describeObject(workspace: Workspace, { params }: SandboxRequest): SandboxResponse {
  const { name, displayName, fields } = workspace.getTable(params.object!).definition;
  return { status: 200, json: { name, displayName, fields: fields.map(toFieldView) } };
}

export function toFieldView(field: CrmField) {
  return {
    name: field.name,
    displayName: field.displayName,
    type: field.type,
    required: field.required ?? false,
    unique: field.unique ?? false,
    custom: field.custom ?? false,
    readOnly: field.readOnly ?? false,
    ...(field.description && { description: field.description }),
    ...(field.options && { options: field.options }),
    ...(field.references && { references: [field.references] }),
  };
}

const timeSchema = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
const pageQuerySchema = z.object({
  limit: z.coerce.number().int().min(1).max(PAGE_SIZE_MAX).default(100),
  cursor: z.string().optional(),
  updated_since: timeSchema.optional(),
  updated_until: timeSchema.optional(),
  fields: z
    .string()
    .transform((names) => names.split(','))
    .optional(),
  /** Values by field name, as JSON. Records must have all of them. */
  where: z.string().transform(parseWhere).optional(),
});

function parseWhere(text: string, context: z.RefinementCtx): Record<string, unknown> {
  try {
    const { data } = z.record(z.string(), z.unknown()).safeParse(JSON.parse(text));
    if (data) return data;
  } catch {
    // Reported as the issue below.
  }
  context.addIssue('must be a JSON object.');
  return z.NEVER;
}

export function listRecords(
  workspace: Workspace,
  { params, query }: SandboxRequest,
): SandboxResponse {
  const table = workspace.getTable(params.object!);
  const { limit, cursor, fields, where, ...times } = parseInput(
    pageQuerySchema,
    Object.fromEntries(query),
  );
  const range = {
    sinceMs: times.updated_since,
    untilMs: times.updated_until,
    isMatch: where && createValueFilter(table.definition, where),
  };
  const view = fields
    ? createSelectedView(table.definition, fields)
    : createRecordView(table.definition);
  const { after, total } =
    cursor === undefined ? { after: 0, total: table.count(range) } : parseCursor(table, cursor);
  const { records, hasMore } = table.readPage({ ...range, after, limit });
  const nextCursor = hasMore
    ? formatCursor(table, { after: records.at(-1)!.position, total })
    : null;
  return { status: 200, json: { records: records.map(view), nextCursor, total } };
}

/**
 * Returns a filter for records with these values. Values are compared as strings, so `1` equals `"1"`. Throws a
 * SandboxRefusal for unknown fields.
 */
function createValueFilter(definition: ObjectDefinition, where: Record<string, unknown>) {
  const view = createSelectedView(definition, Object.keys(where));
  const conditions = Object.entries(where).map(([name, value]) => [name, String(value)] as const);
  return (record: StoredRecord) => {
    const fieldValues = view(record);
    return conditions.every(
      ([name, value]) => fieldValues[name] != null && String(fieldValues[name]) === value,
    );
  };
}

export function getRecord(workspace: Workspace, { params }: SandboxRequest): SandboxResponse {
  const view = createRecordView(workspace.getTable(params.object!).definition);
  return { status: 200, json: { record: view(workspace.getRecord(params.object!, params.id!)) } };
}

const BATCH_SIZE_MAX = 100;
const batchSchema = z.strictObject({
  ids: z.array(z.string()).min(1).max(BATCH_SIZE_MAX),
  fields: z.array(z.string()).optional(),
});

/** Returns the existing records, in the order of the ids. */
export function readBatch(workspace: Workspace, request: SandboxRequest): SandboxResponse {
  const table = workspace.getTable(request.params.object!);
  const { ids, fields } = parseInput(batchSchema, parseJsonBody(request));
  const view = fields
    ? createSelectedView(table.definition, fields)
    : createRecordView(table.definition);
  const records = ids.flatMap((id) => table.find(id) ?? []);
  return { status: 200, json: { records: records.map(view) } };
}

/** The position of a read, and the total that its first page returned. */
interface Cursor {
  after: number;
  total: number;
}

function formatCursor({ epoch }: RecordTable, { after, total }: Cursor): string {
  return `${epoch}.${after}.${total}`;
}

/** Parses a cursor. Throws a SandboxRefusal: 400 for an invalid cursor, 410 for one of an earlier run of the server. */
function parseCursor({ epoch }: RecordTable, text: string): Cursor {
  const [, cursorEpoch, after, total] = /^([0-9a-f]{8})\.(\d{1,15})\.(\d{1,15})$/.exec(text) ?? [];
  if (cursorEpoch === undefined) {
    const message = 'The cursor is damaged';
    throw new SandboxRefusal(400, { code: 'invalid_cursor', message, field: 'cursor' });
  }
  if (cursorEpoch !== epoch) {
    const message = 'The cursor is gone: start from the first page';
    throw new SandboxRefusal(410, { code: 'cursor_gone', message, field: 'cursor' });
  }
  return { after: Number(after), total: Number(total) };
}
