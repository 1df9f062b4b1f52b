/** An object's fields, as the account lists them. */
import type {
  FieldDescription,
  FieldValueType,
  ObjectDescription,
  ProviderSession,
} from '../contract.ts';
import { ProviderError } from '../provider-error.ts';
import type { Declaration, ObjectDeclaration } from './declaration/declaration.ts';
import type { FieldList } from './declaration/object-declaration.ts';
import type { Vendor } from './failure.ts';
import { isObject, valueAt } from './json.ts';
import { sendRequest } from './send-request.ts';
import { fillPath, fillQuery } from './template.ts';

/** What an account's own objects may be called: a segment of a path. */
const OBJECT_NAME = /^[\w-]{1,200}$/;

/** Those that it names, and the one that stands for any other. */
export function allObjects({
  objects,
  anyObject,
}: Pick<Declaration, 'objects' | 'anyObject'>): ObjectDeclaration[] {
  return [...Object.values(objects), ...(anyObject ? [anyObject] : [])];
}

/** Throws MISSING_OBJECT for an object that the declaration does not have. */
export function findObject({ displayName, declaration }: Vendor, name: string): ObjectDeclaration {
  const object = Object.hasOwn(declaration.objects, name) ? declaration.objects[name] : undefined;
  const found = object ?? (OBJECT_NAME.test(name) ? declaration.anyObject : undefined);
  if (found) return found;
  throw new ProviderError('MISSING_OBJECT', `${displayName} has no object ${name}`);
}

export async function describeObject(
  vendor: Vendor,
  session: ProviderSession,
  objectName: string,
): Promise<ObjectDescription> {
  const { displayName, fields, known = {} } = findObject(vendor, objectName);
  if (!fields && Object.keys(known).length === 0) {
    throw new ProviderError('BAD_REQUEST', `${vendor.displayName} does not describe ${objectName}`);
  }
  const told = fields ? await describedFields(vendor, session, { list: fields, objectName }) : [];
  const all = uniqueByName([...knownFields(known), ...told]);
  return { name: objectName, displayName, fields: all, ...(!fields && { isPartial: true }) };
}

function knownFields(known: Record<string, FieldValueType>): FieldDescription[] {
  return Object.entries(known).map(([fieldName, valueType]) => ({
    fieldName,
    displayName: null,
    valueType,
    providerType: null,
    readOnly: false,
    isCustom: false,
    isRequired: false,
    values: valueType.endsWith('_SELECT') ? [] : null,
    referenceTo: valueType === 'REFERENCE' ? [] : null,
  }));
}

async function describedFields(
  vendor: Vendor,
  session: ProviderSession,
  { list, objectName }: { list: FieldList; objectName: string },
): Promise<FieldDescription[]> {
  const response = await sendRequest(vendor, session, {
    method: 'GET',
    path: fillPath(list.path, { object: objectName }, session),
    query: fillQuery(list.query, { object: objectName }, session),
  });
  const at = valueAt(response.body, list.fields);
  // Some list them by name.
  const found = isObject(at) ? Object.values(at) : at;
  if (!Array.isArray(found)) {
    throw new ProviderError('RETRYABLE', 'The answer has no list of fields');
  }
  return found.filter(isObject).map((field) => describeField(list, field));
}

function describeField(list: FieldList, field: Record<string, unknown>): FieldDescription {
  const providerType = textAt(field, list.type);
  const valueType = list.types[providerType ?? ''] ?? 'OTHER';
  const isWritable = flagAt(field, list.isWritable) ?? !flagAt(field, list.isReadOnly);
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
