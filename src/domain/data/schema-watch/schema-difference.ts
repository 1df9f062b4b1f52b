/** Compares two descriptions of an object, and formats the message about its changed fields. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { FieldDescription, ObjectDescription } from '../../../providers/contract.ts';
import { showField, WIRE_VALUE_TYPES } from '../../integrations/installation/shown-field.ts';
import type { WatchSchema } from '../../integrations/integration/integration-content.ts';
import { installationMessage } from '../operation/read/read-message.ts';

/** Fields by their names. */
type KnownFields = Record<string, FieldDescription>;
/** The fields of each object with a complete description. */
export type KnownObjects = Record<string, KnownFields>;

interface SchemaDifference {
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

const field = z
  .object({
    fieldName: z.string().describe("The provider's name of the field."),
    displayName: z.string().describe('The display name.'),
    valueType: z.enum(WIRE_VALUE_TYPES).describe('The type of its values.'),
    providerType: z.string().optional().describe("The provider's own name of the type."),
    readOnly: z.boolean().describe('Whether it is read-only.'),
    isCustom: z.boolean().describe('Whether it is a custom field of the account.'),
    isRequired: z.boolean().describe('Whether a new record requires a value.'),
    values: z
      .array(
        z.object({
          value: z.string().describe('The value that records contain.'),
          displayValue: z.string().describe('The display name of the value.'),
        }),
      )
      .optional()
      .describe('For select types: the values that records may contain.'),
    referenceTo: z
      .array(z.string())
      .optional()
      .describe('For references: the objects that it may point to.'),
  })
  .describe('A field, as the provider describes it.');

/** The schema of a message's body, from which its documentation is generated. */
export const schemaMessage = installationMessage.extend({
  action: z.literal('schema.watch').describe('Always `schema.watch`.'),
  result: z
    .array(
      z.object({
        createdFields: z.array(field).describe('Fields that were added.'),
        deletedFields: z.array(field).describe('Fields that were removed.'),
        changedFields: z
          .array(z.object({ oldSchema: field, newSchema: field }))
          .describe('Fields whose description at the provider has changed.'),
      }),
    )
    .describe('The changes since the previous poll, as one entry.'),
});

export function formatSchemaMessage(head: object, difference: SchemaDifference): string {
  const { createdFields, deletedFields, changedFields } = difference;
  const changes = {
    createdFields: createdFields.map(showField),
    deletedFields: deletedFields.map(showField),
    changedFields: changedFields.map(({ oldSchema, newSchema }) => ({
      oldSchema: showField(oldSchema),
      newSchema: showField(newSchema),
    })),
  };
  const resultInfo = { type: 'inline', numRecords: 1 };
  return JSON.stringify({ action: 'schema.watch', ...head, resultInfo, result: [changes] });
}
