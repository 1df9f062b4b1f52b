/** Defines properties. New properties are in a group of their own, so that people see where they come from. */
import type { FieldValueType, ProviderResponse, ProviderSession } from '../contract.ts';
import {
  createFieldOutcome,
  createRefusedField,
  type DefineFieldsCapability,
  type FieldDefinition,
  type FieldDefinitions,
  type FieldOutcome,
} from '../defining-fields.ts';
import { isSuccess, parseResponse } from '../read-responses.ts';
import { createFailure, findRefusal, requireSuccess } from './failure.ts';
import { paths } from './paths.ts';
import { type Property, propertiesResponse, propertyResponse } from './wire.ts';

const GROUP = { name: 'integrationcreatedproperties', label: 'Integration Created Properties' };
const NOT_FOUND = 404;
const CONFLICT = 409;

const TYPES: Partial<Record<FieldValueType, { type: string; fieldType: string }>> = {
  STRING: { type: 'string', fieldType: 'text' },
  BOOLEAN: { type: 'bool', fieldType: 'booleancheckbox' },
  DATE: { type: 'date', fieldType: 'date' },
  DATETIME: { type: 'datetime', fieldType: 'date' },
  SINGLE_SELECT: { type: 'enumeration', fieldType: 'select' },
  MULTI_SELECT: { type: 'enumeration', fieldType: 'checkbox' },
  INT: { type: 'number', fieldType: 'number' },
  FLOAT: { type: 'number', fieldType: 'number' },
};

const BOOLEAN_OPTIONS = [
  { label: 'Yes', value: 'true', displayOrder: 0, hidden: false },
  { label: 'No', value: 'false', displayOrder: 1, hidden: false },
];

const FRACTIONS_WARNING = "HubSpot's numbers may have fractions: the property accepts any number.";

export const defineFields: DefineFieldsCapability = {
  types: Object.keys(TYPES) as FieldValueType[],
  options: [
    'description',
    'unique',
    'stringOptions.values',
    // HubSpot's select properties never accept other values.
    'stringOptions.valuesRestricted:true',
  ],
  names: {
    pattern: /^[a-z][a-z0-9_]{0,99}$/,
    rule: 'must be lower-case letters, digits and underscores, and start with a letter, like the names of HubSpot properties.',
  },
  define: defineProperties,
};

async function defineProperties(
  session: ProviderSession,
  { objectName, fields }: FieldDefinitions,
): Promise<FieldOutcome[]> {
  const response = await session.send({ method: 'GET', path: paths.properties(objectName) });
  const { results } = parseResponse(propertiesResponse, requireSuccess(response), 'READ');
  const propertiesByName = new Map(results.map((property) => [property.name, property]));
  if (fields.some(({ fieldName }) => !propertiesByName.has(fieldName)))
    await createGroup(session, objectName);
  const outcomes: FieldOutcome[] = [];
  // Sequential, because the same name may occur twice and must be created once.
  for (const field of fields) {
    const property = propertiesByName.get(field.fieldName);
    const outcome = property
      ? await updateProperty(session, objectName, { field, property })
      : await createProperty(session, objectName, field);
    outcomes.push(
      field.valueType === 'INT' ? { ...outcome, warnings: [FRACTIONS_WARNING] } : outcome,
    );
  }
  return outcomes;
}

async function createGroup(session: ProviderSession, objectName: string): Promise<void> {
  const path = paths.propertyGroup(objectName, GROUP.name);
  const response = await session.send({ method: 'GET', path });
  if (response.status !== NOT_FOUND) {
    requireSuccess(response);
    return;
  }
  const body = { ...GROUP, displayOrder: -1 };
  const createResponse = await session.send({
    method: 'POST',
    path: paths.propertyGroups(objectName),
    body,
  });
  // Another process created the group concurrently.
  if (createResponse.status !== CONFLICT) requireSuccess(createResponse);
}

async function createProperty(
  session: ProviderSession,
  objectName: string,
  field: FieldDefinition,
): Promise<FieldOutcome> {
  const { fieldName, displayName, description, unique } = field;
  const options = createOptions(field);
  const body = {
    name: fieldName,
    label: displayName,
    groupName: GROUP.name,
    ...TYPES[field.valueType],
    ...(description !== null && { description }),
    ...(unique && { hasUniqueValue: true }),
    ...(options && { options }),
  };
  const path = paths.newProperty(objectName);
  return toOutcome('CREATE', await session.send({ method: 'POST', path, body }));
}

async function updateProperty(
  session: ProviderSession,
  objectName: string,
  { field, property }: { field: FieldDefinition; property: Property },
): Promise<FieldOutcome> {
  const { type } = TYPES[field.valueType] ?? {};
  const isBoolean = field.valueType === 'BOOLEAN' && property.fieldType === 'booleancheckbox';
  if (property.type !== type && !isBoolean) {
    const detail = `The property already exists with the type ${property.type}.${property.fieldType}.`;
    return createRefusedField(detail, property);
  }
  if (field.unique && !property.hasUniqueValue) {
    return createRefusedField('The property already exists without unique values.', property);
  }
  const changes = findChanges(field, property);
  if (Object.keys(changes).length === 0) return createFieldOutcome('NONE', property);
  const path = paths.property(objectName, field.fieldName);
  return toOutcome('UPDATE', await session.send({ method: 'PATCH', path, body: changes }));
}

/** Returns the members to change. Existing options stay, because records may have them. */
function findChanges(field: FieldDefinition, { label, description, options }: Property) {
  const existingOptions = options ?? [];
  const desiredOptions = isSelect(field)
    ? addOptions(existingOptions, field.stringOptions?.values)
    : existingOptions;
  return {
    ...(field.displayName !== label && { label: field.displayName }),
    ...(field.description !== null &&
      field.description !== (description ?? '') && { description: field.description }),
    ...(desiredOptions.length > existingOptions.length && { options: desiredOptions }),
  };
}

function isSelect({ valueType }: FieldDefinition): boolean {
  return valueType === 'SINGLE_SELECT' || valueType === 'MULTI_SELECT';
}

type Options = NonNullable<Property['options']>;

function createOptions(field: FieldDefinition): Options | null {
  if (field.valueType === 'BOOLEAN') return BOOLEAN_OPTIONS;
  return isSelect(field) ? addOptions([], field.stringOptions?.values) : null;
}

/** Returns the options, and an option for each value that they lack. */
function addOptions(options: Options, values: string[] | null | undefined): Options {
  const newValues = (values ?? []).filter(
    (value) => !options.some((option) => option.value === value),
  );
  return [
    ...options,
    ...newValues.map((value, index) => ({
      label: value,
      value,
      displayOrder: options.length + index,
      hidden: false,
    })),
  ];
}

function toOutcome(action: 'CREATE' | 'UPDATE', response: ProviderResponse): FieldOutcome {
  if (isSuccess(response))
    return createFieldOutcome(action, parseResponse(propertyResponse, response, 'WRITE'));
  const refusal = findRefusal(response);
  if (refusal === null) throw createFailure(response, 'WRITE');
  return createRefusedField(refusal.join(' '));
}
