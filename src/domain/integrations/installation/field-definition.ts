/** The input of field definitions, with checks of what a provider supports. */
import { z } from 'zod';
import type { Issue } from '../../../kernel/errors.ts';
import { enumValue, joinTexts, text } from '../../../kernel/text.ts';
import type {
  DefineFieldsCapability,
  FieldAssociation,
} from '../../../providers/defining-fields.ts';
import { orNull } from '../../base/input-schemas.ts';
import { createInputIssue } from '../../base/issues.ts';
import { enumeration } from '../../base/resource.ts';
import { fieldValueType } from './shown-field.ts';

type Association = { [member in keyof FieldAssociation]: NonNullable<FieldAssociation[member]> };

/** Limited so that one mutation finishes in time, because the fields are defined one after the other. */
const FIELDS_MAX = 50;
const OBJECTS_MAX = 10;
const VALUES_MAX = 500;

const optionText = z.string().min(1).max(256);
const longText = z.string().max(1_000);

const stringOptions = z
  .object({
    length: orNull(z.number().int().min(1).max(131_072)).describe(
      'The maximum number of characters.',
    ),
    pattern: orNull(optionText).describe('A regular expression that values must match.'),
    values: orNull(z.array(optionText).min(1).max(VALUES_MAX)).describe(
      'The values of a select field. They are added to the existing values.',
    ),
    valuesRestricted: orNull(z.boolean()).describe(
      'Whether a select field accepts only these values.',
    ),
    defaultValue: orNull(longText).describe('The value of records that are created without one.'),
  })
  .meta({ id: 'StringOptionsInput', description: 'Options of a text or a select field.' });

const numericOptions = z
  .object({
    precision: orNull(z.number().int().min(1).max(18)).describe(
      'The total number of digits, 1 to 18.',
    ),
    scale: orNull(z.number().int().min(0).max(17)).describe(
      'The number of digits of the fraction, 0 to 17.',
    ),
    min: orNull(z.number()).describe('The smallest value.'),
    max: orNull(z.number()).describe('The largest value.'),
    defaultValue: orNull(z.number()).describe('The value of records that are created without one.'),
  })
  .meta({ id: 'NumericOptionsInput', description: 'Options of a numeric field.' });

const cardinality = enumeration(
  'FieldCardinality',
  'The number of records that may refer to one record.',
  {
    MANY_TO_ONE: 'Any number.',
    ONE_TO_ONE: 'One.',
  } satisfies Record<Association['cardinality'], string>,
);

const deletionRule = enumeration(
  'FieldDeletionRule',
  'The consequence for a record whose target is deleted.',
  {
    CASCADE: 'It is deleted too.',
    RESTRICT: 'Its target cannot be deleted.',
    SET_NULL: 'Its reference becomes null.',
  } satisfies Record<Association['onDelete'], string>,
);

const association = z
  .object({
    associationType: optionText.describe('The kind of relation: `lookup`.'),
    targetObject: optionText.describe("The provider's name of the object that is referred to."),
    targetField: orNull(optionText).describe(
      'The field of the target object that values refer to.',
    ),
    cardinality: orNull(cardinality).describe(
      'The number of records that may refer to one record.',
    ),
    onDelete: orNull(deletionRule).describe(
      'The consequence for a record whose target is deleted.',
    ),
    required: orNull(z.boolean()).describe('Whether every record must refer to another record.'),
    reverseLookupFieldName: orNull(optionText).describe(
      'The name under which the target lists the records that refer to it.',
    ),
    labels: orNull(
      z
        .object({
          singular: orNull(optionText).describe('The name of one record.'),
          plural: orNull(optionText).describe('The name of the list of records.'),
        })
        .meta({ id: 'AssociationLabelsInput', description: 'The names that people see.' }),
    ).describe('The names of the records at the target that people see.'),
  })
  .meta({ id: 'FieldAssociationInput', description: 'The object that a field refers to.' });

const fieldDefinition = z
  .object({
    fieldName: optionText.describe(
      "The provider's name of the field. A name for Salesforce must end in `__c`.",
    ),
    displayName: optionText.describe('The name that people see.'),
    valueType: fieldValueType.describe('The type of its values: any but OTHER.'),
    description: orNull(longText).describe('A human-readable description of the field.'),
    required: orNull(z.boolean()).describe('Whether every record must have a value.'),
    unique: orNull(z.boolean()).describe('Whether no two records may have the same value.'),
    indexed: orNull(z.boolean()).describe('Whether the provider indexes it for searches.'),
    stringOptions: orNull(stringOptions).describe('Only for text and select fields.'),
    numericOptions: orNull(numericOptions).describe('Only for numbers.'),
    association: orNull(association).describe('Only for references, which require it.'),
  })
  .meta({
    id: 'FieldDefinitionInput',
    description:
      'A field to create or to update. Options that the provider does not support are refused before any field is created.',
  });
type FieldDefinitionInput = z.input<typeof fieldDefinition>;

export const objectFields = z
  .object({
    objectName: optionText.describe('The name of the object.'),
    fields: z
      .array(fieldDefinition)
      .min(1)
      .max(FIELDS_MAX)
      .describe(`The fields, at most ${FIELDS_MAX}.`),
  })
  .meta({ id: 'ObjectFieldsInput', description: 'Fields of one object.' });
export type ObjectFields = z.output<typeof objectFields>;
type ObjectFieldsInput = z.input<typeof objectFields>;

export const objectsToDefine = z
  .array(objectFields)
  .min(1)
  .max(OBJECTS_MAX)
  .describe(`The objects with their fields, at most ${OBJECTS_MAX}.`);

interface FieldDefiner {
  displayName: string;
  defineFields: DefineFieldsCapability;
}

export function* listDefinitionIssues(
  objects: readonly ObjectFieldsInput[],
  definer: FieldDefiner,
): Generator<Issue> {
  const names = objects.map(({ objectName }) => objectName);
  for (const [objectIndex, { objectName, fields }] of objects.entries()) {
    const path = ['objects', objectIndex];
    if (names.indexOf(objectName) < objectIndex) {
      yield createInputIssue([...path, 'objectName'], 'is named twice.', objectName);
    }
    const fieldNames = new Set<string>();
    for (const [index, field] of fields.entries()) {
      const fieldPath = [...path, 'fields', index];
      const lowerCaseName = field.fieldName.toLowerCase();
      if (fieldNames.has(lowerCaseName)) {
        yield createInputIssue([...fieldPath, 'fieldName'], 'is named twice.', field.fieldName);
      }
      fieldNames.add(lowerCaseName);
      yield* listFieldIssues(field, definer, fieldPath);
    }
  }
}

function* listFieldIssues(
  field: FieldDefinitionInput,
  { displayName, defineFields: { names, types, options } }: FieldDefiner,
  path: PropertyKey[],
): Generator<Issue> {
  const { fieldName, valueType } = field;
  if (!names.pattern.test(fieldName)) {
    yield createInputIssue([...path, 'fieldName'], names.rule, fieldName);
  }
  if (!types.includes(valueType)) {
    const detail = text`must be one of ${joinTexts(types.map(nameType), ', ')}: ${displayName} has no other fields.`;
    yield createInputIssue([...path, 'valueType'], detail, valueType);
    return;
  }
  yield* listMisplacedOptionIssues(field, path);
  for (const { name, value } of listOptions(field)) {
    if (options.includes(name) || options.includes(`${name}:${value}`)) continue;
    const supportedValues = options
      .filter((option) => option.startsWith(`${name}:`))
      .map((option) => option.slice(name.length + 1));
    const detail =
      supportedValues.length === 0
        ? `is not supported by ${displayName}.`
        : `must be ${supportedValues.join(' or ')} for ${displayName}.`;
    yield createInputIssue([...path, ...name.split('.')], detail, value);
  }
}

const nameType = (type: string) => enumValue(type, 'FieldValueType');

/** The value types that each group of options applies to. */
const OPTION_TYPES = {
  stringOptions: ['STRING', 'SINGLE_SELECT', 'MULTI_SELECT'],
  numericOptions: ['INT', 'FLOAT'],
  association: ['REFERENCE'],
};

function* listMisplacedOptionIssues(
  field: FieldDefinitionInput,
  path: PropertyKey[],
): Generator<Issue> {
  for (const [name, types] of Object.entries(OPTION_TYPES)) {
    const value = field[name as keyof typeof OPTION_TYPES];
    if (value == null || types.includes(field.valueType)) continue;
    const detail = text`must be omitted: it is for the types ${joinTexts(types.map(nameType), ', ')}.`;
    yield createInputIssue([...path, name], detail);
  }
  if (field.valueType === 'REFERENCE' && !field.association) {
    yield createInputIssue([...path, 'association'], 'is required for a reference.');
  }
  const isSelect = field.valueType.endsWith('_SELECT');
  const values = field.stringOptions?.values;
  if (isSelect === (values != null)) return;
  const detail = isSelect ? 'is required for a select field.' : 'is only for select fields.';
  yield createInputIssue([...path, 'stringOptions', 'values'], detail);
}

/** Lists the options of a definition by dotted name. Omits flags that are false, because false is their default. */
function* listOptions(field: FieldDefinitionInput): Generator<{ name: string; value: unknown }> {
  const { description, required, unique, indexed, stringOptions, numericOptions, association } =
    field;
  const { labels, ...associationOptions } = association ?? {};
  const membersByPrefix: Record<string, object | null | undefined> = {
    '': {
      description,
      required: required || null,
      unique: unique || null,
      indexed: indexed || null,
    },
    'stringOptions.': stringOptions,
    'numericOptions.': numericOptions,
    'association.': { ...associationOptions, required: association?.required || null },
    'association.labels.': labels,
  };
  for (const [prefix, members] of Object.entries(membersByPrefix)) {
    for (const [member, value] of Object.entries(members ?? {})) {
      if (value != null) yield { name: prefix + member, value };
    }
  }
}
