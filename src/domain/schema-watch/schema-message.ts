/** Builds the message about changed fields of an object. */
import { z } from 'zod';
import { showField, VALUE_TYPE_WORDS } from '../installation/shown-field.ts';
import { installationMessage } from '../operation/read/read-message.ts';
import type { SchemaDifference } from './schema-difference.ts';

const field = z
  .object({
    fieldName: z.string().describe("The provider's name of the field."),
    displayName: z.string().describe('The name that people see.'),
    valueType: z.enum(VALUE_TYPE_WORDS).describe('What kind of value it holds.'),
    providerType: z.string().optional().describe("The provider's own name of the type."),
    readOnly: z.boolean().describe("Whether it can't be written."),
    isCustom: z.boolean().describe('Whether the account has added it.'),
    isRequired: z.boolean().describe('Whether a new record must have a value.'),
    values: z
      .array(
        z.object({
          value: z.string().describe('The value as records hold it.'),
          displayValue: z.string().describe('The value as people see it.'),
        }),
      )
      .optional()
      .describe('Only for select types: what it may hold.'),
    referenceTo: z
      .array(z.string())
      .optional()
      .describe('Only for references: the objects that it may point to.'),
  })
  .describe('A field, as the provider describes it.');

/** The body of a message, as the documentation describes it. */
export const schemaMessage = installationMessage.extend({
  action: z.literal('schema.watch').describe('Always `schema.watch`.'),
  result: z
    .array(
      z.object({
        createdFields: z.array(field).describe('Fields that are new.'),
        deletedFields: z.array(field).describe('Fields that are gone.'),
        changedFields: z
          .array(z.object({ oldSchema: field, newSchema: field }))
          .describe('Fields whose description at the provider has changed.'),
      }),
    )
    .describe('One entry: what has changed since the look before.'),
});

/** The body as it is sent. */
export function schemaBody(head: object, difference: SchemaDifference): string {
  const { createdFields, deletedFields, changedFields } = difference;
  const shown = {
    createdFields: createdFields.map(showField),
    deletedFields: deletedFields.map(showField),
    changedFields: changedFields.map(({ oldSchema, newSchema }) => ({
      oldSchema: showField(oldSchema),
      newSchema: showField(newSchema),
    })),
  };
  const resultInfo = { type: 'inline', numRecords: 1 };
  return JSON.stringify({ action: 'schema.watch', ...head, resultInfo, result: [shown] });
}
