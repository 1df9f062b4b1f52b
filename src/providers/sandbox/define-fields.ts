import { z } from 'zod';
import type { FieldValueType, ProviderSession } from '../contract.ts';
import {
  createFieldOutcome,
  createRefusedField,
  type DefineFieldsCapability,
  type FieldDefinition,
  type FieldDefinitions,
  type FieldOutcome,
} from '../defining-fields.ts';
import { isSuccess, parseResponse } from '../read-responses.ts';
import { getObjectPath } from './read.ts';
import { createRefusalError, isRecordRefusal, listRefusalMessages } from './wire.ts';

const TYPES: Partial<Record<FieldValueType, string>> = {
  STRING: 'text',
  BOOLEAN: 'boolean',
  DATE: 'date',
  DATETIME: 'datetime',
  SINGLE_SELECT: 'select',
  MULTI_SELECT: 'multiselect',
  INT: 'integer',
  FLOAT: 'decimal',
  REFERENCE: 'reference',
};

const ACTIONS = { created: 'CREATE', updated: 'UPDATE', unchanged: 'NONE' } as const;

const responseSchema = z.object({
  action: z.enum(['created', 'updated', 'unchanged']),
  field: z.record(z.string(), z.unknown()),
});

export const defineFields: DefineFieldsCapability = {
  types: Object.keys(TYPES) as FieldValueType[],
  options: [
    'description',
    'required',
    'unique',
    'stringOptions.values',
    'stringOptions.valuesRestricted:true',
    'association.associationType:lookup',
    'association.targetObject',
    'association.cardinality:MANY_TO_ONE',
  ],
  names: {
    pattern: /^[a-z][a-z0-9_]{0,63}$/,
    rule: 'must be lower-case letters, digits and underscores, start with a letter, and have at most 64 characters.',
  },
  define: defineAll,
};

async function defineAll(
  session: ProviderSession,
  { objectName, fields }: FieldDefinitions,
): Promise<FieldOutcome[]> {
  const outcomes: FieldOutcome[] = [];
  for (const field of fields) outcomes.push(await defineField(session, objectName, field));
  return outcomes;
}

async function defineField(
  session: ProviderSession,
  objectName: string,
  field: FieldDefinition,
): Promise<FieldOutcome> {
  const { fieldName, displayName, valueType, description, required, unique } = field;
  const { stringOptions, association } = field;
  const response = await session.send({
    method: 'PUT',
    path: `${getObjectPath(objectName)}/fields/${encodeURIComponent(fieldName)}`,
    body: {
      displayName,
      type: TYPES[valueType],
      description: description ?? undefined,
      required: required ?? undefined,
      unique: unique ?? undefined,
      options: stringOptions?.values ?? undefined,
      references: association?.targetObject,
    },
  });
  if (isSuccess(response)) {
    const { action, field: metadata } = parseResponse(responseSchema, response, 'WRITE');
    return createFieldOutcome(ACTIONS[action], metadata);
  }
  if (!isRecordRefusal(response)) throw createRefusalError(response);
  return createRefusedField(listRefusalMessages(response).join(' '));
}
