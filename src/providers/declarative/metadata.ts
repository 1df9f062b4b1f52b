/** Lists the account's objects and describes their fields, from the declaration and from the vendor's own lists. */
import type {
  FieldDescription,
  FieldValueType,
  ObjectDescription,
  ObjectSummary,
  ProviderSession,
} from '../contract.ts';
import { ProviderError } from '../provider-error.ts';
import { objectDeclaration } from './declaration/declaration.ts';
import type { FieldList } from './declaration/object-declaration.ts';
import { findValue, parseId, readOwn } from './json.ts';
import { listAccountFields } from './reading/field-pages.ts';
import { readList } from './reading/list-page.ts';
import { getObject, type Vendor } from './vendor.ts';

/** Ends reading a list whose pages never end. No account has as many objects. */
const OBJECTS_MAX = 10_000;
const OBJECT_PAGES_MAX = 1_000;

/** Returns the declared objects, and the objects of the account if the vendor lists them. */
export async function listObjects(
  vendor: Vendor,
  session: ProviderSession,
): Promise<ObjectSummary[]> {
  const { objects, writeOnlyObjects, objectList } = vendor.declaration;
  const summaries = new Map(
    Object.entries({ ...objects, ...writeOnlyObjects }).map(([name, { displayName }]) => [
      name,
      { name, displayName },
    ]),
  );
  if (!objectList) return [...summaries.values()];
  const { list, name, displayName } = objectList;
  const object = objectDeclaration.parse({ displayName: 'Objects', id: name, list });
  const pageSize = list.pageSize?.max ?? OBJECTS_MAX;
  let cursor: string | undefined;
  let pagesRead = 0;
  do {
    const read = { objectName: 'objects', fields: [], pageSize, cursor };
    const page = await readList(vendor, session, { object, read, variables: {} });
    for (const { id, raw } of page.records) {
      summaries.set(id, { name: id, displayName: parseId(findValue(raw, displayName)) ?? id });
    }
    cursor = page.nextCursor ?? undefined;
    pagesRead += 1;
  } while (cursor !== undefined && summaries.size < OBJECTS_MAX && pagesRead < OBJECT_PAGES_MAX);
  return [...summaries.values()];
}

export async function describeObject(
  vendor: Vendor,
  session: ProviderSession,
  objectName: string,
): Promise<ObjectDescription> {
  const { displayName, fieldList, standardFields = {} } = getObject(vendor, objectName);
  if (!fieldList && Object.keys(standardFields).length === 0) {
    throw new ProviderError('BAD_REQUEST', `${vendor.displayName} does not describe ${objectName}`);
  }
  const listedFields = fieldList
    ? (await listAccountFields(vendor, session, { fieldList, objectName })).map((field) =>
        describeField(fieldList, field),
      )
    : [];
  // A listed field replaces the standard field of the same name.
  const fieldsByName = new Map(
    [...describeStandardFields(standardFields), ...listedFields].map((field) => [
      field.fieldName,
      field,
    ]),
  );
  return {
    name: objectName,
    displayName,
    fields: [...fieldsByName.values()],
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

function describeField(fieldList: FieldList, field: Record<string, unknown>): FieldDescription {
  const providerType = findString(field, fieldList.type);
  const valueType = readOwn(fieldList.types, providerType ?? '') ?? 'OTHER';
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

function parseOptions(
  { options }: FieldList,
  field: Record<string, unknown>,
): FieldDescription['values'] {
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
