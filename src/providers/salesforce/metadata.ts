/** Describes an object's fields by `describe` of the REST API. */
import type {
  FieldDescription,
  FieldValueType,
  ObjectDescription,
  ProviderSession,
} from '../contract.ts';
import { parseResponse } from '../read-responses.ts';
import { getInComposite } from './composite.ts';
import { requireSuccess } from './failure.ts';
import { paths } from './paths.ts';
import { describeResponse, type SalesforceField } from './wire.ts';

export async function describeObject(
  session: ProviderSession,
  objectName: string,
): Promise<ObjectDescription> {
  const response = await getInComposite(session, paths.description(objectName));
  const { label, fields } = parseResponse(describeResponse, requireSuccess(response), 'READ');
  return { name: objectName, displayName: label ?? null, fields: fields.map(describeField) };
}

const VALUE_TYPES: Record<string, FieldValueType> = {
  string: 'STRING',
  textarea: 'STRING',
  url: 'STRING',
  email: 'STRING',
  id: 'STRING',
  phone: 'STRING',
  boolean: 'BOOLEAN',
  picklist: 'SINGLE_SELECT',
  combobox: 'SINGLE_SELECT',
  multipicklist: 'MULTI_SELECT',
  date: 'DATE',
  datetime: 'DATETIME',
  int: 'INT',
  double: 'FLOAT',
  currency: 'FLOAT',
  percent: 'FLOAT',
  reference: 'REFERENCE',
};

function describeField(field: SalesforceField): FieldDescription {
  const valueType = VALUE_TYPES[field.type] ?? 'OTHER';
  const isSelect = valueType === 'SINGLE_SELECT' || valueType === 'MULTI_SELECT';
  const isGenerated = field.autoNumber || field.calculated;
  return {
    fieldName: field.name.toLowerCase(),
    displayName: field.label ?? null,
    valueType,
    providerType: field.type,
    readOnly: isGenerated || !(field.createable || field.updateable),
    isCustom: field.custom,
    isRequired: field.createable && !field.nillable && !field.defaultedOnCreate && !isGenerated,
    values: isSelect ? listActiveValues(field) : null,
    referenceTo: valueType === 'REFERENCE' ? field.referenceTo : null,
  };
}

function listActiveValues({
  picklistValues,
}: SalesforceField): { value: string; displayValue: string }[] {
  return picklistValues
    .filter(({ active }) => active)
    .map(({ value, label }) => ({ value, displayValue: label ?? value }));
}
