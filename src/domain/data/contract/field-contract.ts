/** The field of an object in a contract, as the API returns it. */
import { z } from 'zod';
import { enumeration, resource } from '../../base/resource.ts';
import { fieldValueResource } from '../../integrations/installation/shown-field.ts';
import { contractFieldType } from './field-type.ts';

const fieldOrigin = enumeration('FieldOrigin', 'The reason why a contract has a field.', {
  REQUIRED: 'The integration requires it of every installation.',
  OPTIONAL: 'The integration offers it, and installations select it.',
  MAPPED: "The name is the integration's, and each installation maps a provider's field to it.",
  EXTRA: 'A field of the account that the integration does not name.',
});

export const fieldContractResource = resource(
  'FieldContract',
  'A field of an object in a contract.',
  {
    name: z
      .string()
      .describe("The builder's name of the field, or the provider's if none is mapped."),
    providerField: z
      .string()
      .nullable()
      .describe(
        "The provider's field. {Null} if installations map one, or if the project's integrations map different fields.",
      ),
    type: contractFieldType.describe('The type of its values.'),
    isTypeKnown: z
      .boolean()
      .describe(
        'False if no manifest, provider or account has a type for the field, or if they contradict each other.',
      ),
    isList: z.boolean().describe('Whether a value is a list.'),
    isRequired: z.boolean().describe('Whether a new record must have a value.'),
    isReadOnly: z.boolean().describe('Whether a write cannot set the field by this name.'),
    isWriteOnly: z
      .boolean()
      .describe('Whether writes accept the name but records that are read do not have it.'),
    isAlwaysRead: z
      .boolean()
      .describe('Whether every record that is read has the field. Its value may be {null}.'),
    values: z
      .array(fieldValueResource)
      .nullable()
      .describe('The values of an enum, with mapped values. {Null} if they are unknown.'),
    references: z
      .array(z.string())
      .nullable()
      .describe(
        'The names of the objects that a reference may point to. {Null} if they are unknown.',
      ),
    description: z
      .string()
      .nullable()
      .describe('A human-readable description. {Null} if there is none.'),
    origin: fieldOrigin.describe('The reason why the contract has the field.'),
  },
);
export type FieldContract = z.output<typeof fieldContractResource>;
