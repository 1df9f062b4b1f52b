/** Describes an object's fields by `describe` of the REST API. */
import type {
  FieldDescription,
  FieldValueType,
  ObjectDescription,
  ProviderResponse,
  ProviderSession,
} from '../contract.ts';
import { parseResponse } from '../read-responses.ts';
import { requireSuccess } from './failure.ts';
import { paths } from './paths.ts';
import { compositeResult, describeResponse, type SalesforceField } from './wire.ts';

export async function describeObject(
  session: ProviderSession,
  objectName: string,
): Promise<ObjectDescription> {
  const url = paths.description(objectName);
  const response = await session.send({
    method: 'POST',
    path: paths.composite,
    body: {
      allOrNone: false,
      compositeRequest: [{ method: 'GET', url, referenceId: 'describe' }],
    },
  });
  const innerResponse = getInnerResponse(requireSuccess(response));
  const { label, fields } = parseResponse(describeResponse, requireSuccess(innerResponse), 'READ');
  return { name: objectName, displayName: label ?? null, fields: fields.map(describeField) };
}

/** Returns the inner response. A composite request succeeds even if the request inside it fails. */
function getInnerResponse(response: ProviderResponse): ProviderResponse {
  const [part] = parseResponse(compositeResult, response, 'READ').compositeResponse;
  return { status: part.httpStatusCode, headers: response.headers, body: part.body };
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
