import type { z } from 'zod';
import type {
  FieldDescription,
  FieldValueType,
  ObjectDescription,
  ProviderSession,
} from '../contract.ts';
import type {
  FieldValue,
  PageRead,
  ProviderRecord,
  RecordPage,
  RecordsRead,
} from '../moving-records.ts';
import { parseResponse } from '../read-responses.ts';
import {
  type fieldSchema,
  objectSchema,
  pageSchema,
  recordsSchema,
  requireSuccess,
} from './wire.ts';

export async function describeObject(
  session: ProviderSession,
  objectName: string,
): Promise<ObjectDescription> {
  const response = await session.send({ method: 'GET', path: getObjectPath(objectName) });
  const body = parseResponse(objectSchema, requireSuccess(response), 'READ');
  const { name, displayName, fields } = body;
  return { name, displayName, fields: fields.map(describeField) };
}

export async function readPage(session: ProviderSession, read: PageRead): Promise<RecordPage> {
  const response = await session.send({
    method: 'GET',
    path: `${getObjectPath(read.objectName)}/records`,
    query: {
      limit: read.pageSize,
      fields: read.fields.join(',') || undefined,
      cursor: read.cursor,
      updated_since: read.since?.toISOString(),
      updated_until: read.until?.toISOString(),
      where: read.filters?.length ? JSON.stringify(createConditions(read.filters)) : undefined,
    },
  });
  const body = parseResponse(pageSchema, requireSuccess(response), 'READ');
  const { records, nextCursor, total } = body;
  return {
    records: records.map((raw) => ({ id: raw.id, fields: selectFields(raw, read.fields), raw })),
    nextCursor,
    estimatedTotal: total,
  };
}

function createConditions(filters: readonly FieldValue[]): Record<string, unknown> {
  return Object.fromEntries(filters.map(({ fieldName, value }) => [fieldName, value]));
}

export async function readRecords(
  session: ProviderSession,
  { objectName, fields, ids }: RecordsRead,
): Promise<ProviderRecord[]> {
  const path = `${getObjectPath(objectName)}/batch/read`;
  const response = await session.send({ method: 'POST', path, body: { ids } });
  const { records } = parseResponse(recordsSchema, requireSuccess(response), 'READ');
  return records.map((raw) => ({ id: raw.id, fields: selectFields(raw, fields), raw }));
}

export function getObjectPath(objectName: string): string {
  return `/objects/${encodeURIComponent(objectName)}`;
}

const VALUE_TYPES = new Map<string, FieldValueType>([
  ['text', 'STRING'],
  ['email', 'STRING'],
  ['boolean', 'BOOLEAN'],
  ['select', 'SINGLE_SELECT'],
  ['multiselect', 'MULTI_SELECT'],
  ['date', 'DATE'],
  ['datetime', 'DATETIME'],
  ['integer', 'INT'],
  ['decimal', 'FLOAT'],
  ['reference', 'REFERENCE'],
]);

function describeField(field: z.output<typeof fieldSchema>): FieldDescription {
  return {
    fieldName: field.name,
    displayName: field.displayName,
    valueType: VALUE_TYPES.get(field.type) ?? 'OTHER',
    providerType: field.type,
    readOnly: field.readOnly,
    isCustom: field.custom,
    isRequired: field.required,
    values:
      field.options?.map(({ value, displayName }) => ({ value, displayValue: displayName })) ??
      null,
    referenceTo: field.references ?? null,
  };
}

function selectFields(record: Record<string, unknown>, fields: string[]): Record<string, unknown> {
  return Object.fromEntries(fields.map((name) => [name, record[name] ?? null]));
}
