/** Compares two descriptions of an object. */
import { isDeepStrictEqual } from 'node:util';
import type { FieldDescription, ObjectDescription } from '../../providers/contract.ts';
import type { WatchSchema } from '../integration/integration-content.ts';

/** Fields by their names. */
type KnownFields = Record<string, FieldDescription>;
/** The fields of each object with a complete description. */
export type KnownObjects = Record<string, KnownFields>;

export interface SchemaDifference {
  createdFields: FieldDescription[];
  deletedFields: FieldDescription[];
  changedFields: { oldSchema: FieldDescription; newSchema: FieldDescription }[];
}

export function toKnownFields({ fields }: ObjectDescription): KnownFields {
  return Object.fromEntries(fields.map((field) => [field.fieldName, field]));
}

/** Returns the changes of the watched kinds, sorted by field name. Null if there are none. */
export function findSchemaDifference(
  before: KnownFields,
  after: KnownFields,
  { fieldCreated, fieldDeleted, fieldChanged }: WatchSchema['allObjects'],
): SchemaDifference | null {
  const listFieldsOnlyIn = (fields: KnownFields, others: KnownFields) =>
    listNames(fields).flatMap((name) => (Object.hasOwn(others, name) ? [] : (fields[name] ?? [])));
  const changedFields = listNames(after).flatMap((name) => {
    const [oldSchema, newSchema] = [before[name], after[name]];
    const hasChanged = oldSchema && newSchema && !isDeepStrictEqual(oldSchema, newSchema);
    return hasChanged ? [{ oldSchema, newSchema }] : [];
  });
  const difference = {
    createdFields: fieldCreated ? listFieldsOnlyIn(after, before) : [],
    deletedFields: fieldDeleted ? listFieldsOnlyIn(before, after) : [],
    changedFields: fieldChanged ? changedFields : [],
  };
  return Object.values(difference).some((fields) => fields.length > 0) ? difference : null;
}

function listNames(fields: KnownFields): string[] {
  return Object.keys(fields).toSorted();
}
