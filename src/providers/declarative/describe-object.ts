/** An object's fields, as the account tells them. */
import {
  FIELD_VALUE_TYPES,
  type FieldDescription,
  type FieldValueType,
  type ObjectDescription,
  ProviderError,
  type ProviderSession,
} from '../contract.ts';
import type { FieldList } from './declaration.ts';
import { failure, hasSucceeded, type Vendor } from './failure.ts';
import { findObject } from './find-object.ts';
import { isObject, valueAt } from './json.ts';

export async function describeObject(
  vendor: Vendor,
  session: ProviderSession,
  objectName: string,
): Promise<ObjectDescription> {
  const { displayName, fields } = findObject(vendor, objectName);
  if (!fields) {
    throw new ProviderError('BAD_REQUEST', `${vendor.displayName} does not describe ${objectName}`);
  }
  const { path, query } = fields;
  const { headers } = vendor.declaration;
  const answer = await session.send({ method: 'GET', path, query, headers });
  if (!hasSucceeded(vendor, answer)) throw failure(vendor, answer, 'READ');
  const found = valueAt(answer.body, fields.fields);
  if (!Array.isArray(found)) {
    throw new ProviderError('RETRYABLE', 'The answer has no list of fields');
  }
  const described = found.filter(isObject).map((field) => describeField(fields, field));
  return { name: objectName, displayName, fields: uniqueByName(described) };
}

function describeField(list: FieldList, field: Record<string, unknown>): FieldDescription {
  const providerType = textAt(field, list.type);
  const valueType = valueTypeOf(list.types[providerType ?? '']);
  const isWritable = flagAt(field, list.isWritable) ?? true;
  return {
    fieldName: `${list.prefix}${textAt(field, list.name)}`,
    displayName: textAt(field, list.displayName),
    valueType,
    providerType,
    readOnly: !isWritable,
    isCustom: flagAt(field, list.isCustom) ?? false,
    isRequired: flagAt(field, list.isRequired) ?? false,
    values: valueType.endsWith('_SELECT') ? optionsOf(list, field) : null,
    referenceTo: valueType === 'REFERENCE' ? [] : null,
  };
}

function valueTypeOf(name: string | undefined): FieldValueType {
  return FIELD_VALUE_TYPES.find((type) => type === name) ?? 'OTHER';
}

function optionsOf({ options }: FieldList, field: Record<string, unknown>) {
  const found = options ? valueAt(field, options.at) : undefined;
  if (!options || !Array.isArray(found)) return [];
  return found.map((option) => ({
    value: String(valueAt(option, options.value)),
    displayValue: String(valueAt(option, options.displayValue)),
  }));
}

function textAt(field: Record<string, unknown>, pointer: string | undefined): string | null {
  const value = pointer === undefined ? undefined : valueAt(field, pointer);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}

function flagAt(field: Record<string, unknown>, pointer: string | undefined): boolean | null {
  const value = pointer === undefined ? undefined : valueAt(field, pointer);
  return typeof value === 'boolean' ? value : null;
}

function uniqueByName(fields: FieldDescription[]): FieldDescription[] {
  return [...new Map(fields.map((field) => [field.fieldName, field])).values()];
}
