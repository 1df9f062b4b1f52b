/** Describes an object's fields, from the declaration and from the account's own list. */
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
import { findValue, isObject } from './json.ts';
import { sendRequest } from './send-request.ts';
import { fillPath, fillQuery } from './template.ts';

/** Permitted names of objects that are not declared. A name is one segment of a path. */
const OBJECT_NAME = /^[\w-]{1,200}$/;

/** Returns the declared objects, and the declaration for all other objects if there is one. */
export function listDeclaredObjects({
  objects,
  otherObjects,
}: Pick<Declaration, 'objects' | 'otherObjects'>): ObjectDeclaration[] {
  return [...Object.values(objects), ...(otherObjects ? [otherObjects] : [])];
}

/** Finds the declaration of an object. Throws MISSING_OBJECT if there is none. */
export function findObject({ displayName, declaration }: Vendor, name: string): ObjectDeclaration {
  const declaredObject = Object.hasOwn(declaration.objects, name)
    ? declaration.objects[name]
    : undefined;
  const object = declaredObject ?? (OBJECT_NAME.test(name) ? declaration.otherObjects : undefined);
  if (object) return object;
  throw new ProviderError('MISSING_OBJECT', `${displayName} has no object ${name}`);
}

export async function describeObject(
  vendor: Vendor,
  session: ProviderSession,
  objectName: string,
): Promise<ObjectDescription> {
  const { displayName, fieldList, standardFields = {} } = findObject(vendor, objectName);
  if (!fieldList && Object.keys(standardFields).length === 0) {
    throw new ProviderError('BAD_REQUEST', `${vendor.displayName} does not describe ${objectName}`);
  }
  const listedFields = fieldList
    ? await describeListedFields(vendor, session, { fieldList, objectName })
    : [];
  const uniqueFields = removeDuplicates([
    ...describeStandardFields(standardFields),
    ...listedFields,
  ]);
  return {
    name: objectName,
    displayName,
    fields: uniqueFields,
    ...(!fieldList && { isPartial: true }),
  };
}

/** Describes the fields that every account has. They need no request. */
export function describeStandardFields(
  standardFields: Record<string, FieldValueType> = {},
): FieldDescription[] {
  return Object.entries(standardFields).map(([fieldName, valueType]) => ({
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

async function describeListedFields(
  vendor: Vendor,
  session: ProviderSession,
  { fieldList, objectName }: { fieldList: FieldList; objectName: string },
): Promise<FieldDescription[]> {
  const response = await sendRequest(vendor, session, {
    method: 'GET',
    path: fillPath(fieldList.path, { object: objectName }, session),
    query: fillQuery(fieldList.query, { object: objectName }, session),
  });
  const container = findValue(response.body, fieldList.fields);
  // Some vendors return a map by name instead of a list.
  const items = isObject(container) ? Object.values(container) : container;
  if (!Array.isArray(items)) {
    throw new ProviderError('RETRYABLE', 'The response has no list of fields');
  }
  return items.filter(isObject).map((field) => describeField(fieldList, field));
}

function describeField(fieldList: FieldList, field: Record<string, unknown>): FieldDescription {
  const providerType = findString(field, fieldList.type);
  const valueType = fieldList.types[providerType ?? ''] ?? 'OTHER';
  const isWritable =
    findFlag(field, fieldList.isWritable) ?? !findFlag(field, fieldList.isReadOnly);
  return {
    fieldName: `${fieldList.prefix}${findString(field, fieldList.name)}`,
    displayName: findString(field, fieldList.displayName),
    valueType,
    providerType,
    readOnly: !isWritable,
    isCustom: findFlag(field, fieldList.isCustom) ?? false,
    isRequired: findFlag(field, fieldList.isRequired) ?? false,
    values: valueType.endsWith('_SELECT') ? parseOptions(fieldList, field) : null,
    referenceTo: valueType === 'REFERENCE' ? [] : null,
  };
}

function parseOptions({ options }: FieldList, field: Record<string, unknown>) {
  const items = options ? findValue(field, options.at) : undefined;
  if (!options || !Array.isArray(items)) return [];
  return items.map((option) => ({
    value: String(findValue(option, options.value)),
    displayValue: String(findValue(option, options.displayValue)),
  }));
}

function findString(field: Record<string, unknown>, pointer: string | undefined): string | null {
  const value = pointer === undefined ? undefined : findValue(field, pointer);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}

function findFlag(field: Record<string, unknown>, pointer: string | undefined): boolean | null {
  const value = pointer === undefined ? undefined : findValue(field, pointer);
  return typeof value === 'boolean' ? value : null;
}

function removeDuplicates(fields: FieldDescription[]): FieldDescription[] {
  return [...new Map(fields.map((field) => [field.fieldName, field])).values()];
}
