/** Formats the message about changed fields of an object. */
import { z } from 'zod';
import { showField, WIRE_VALUE_TYPES } from '../installation/shown-field.ts';
import { installationMessage } from '../operation/read/read-message.ts';
import type { SchemaDifference } from './schema-difference.ts';

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
