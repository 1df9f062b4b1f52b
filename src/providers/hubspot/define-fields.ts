/** Properties that callers define. New ones are in a group of their own, so that people see where they come from. */
import type { FieldValueType, ProviderResponse, ProviderSession } from '../contract.ts';
import {
  type DefinedField,
  type DefineFieldsCapability,
  definedField,
  type FieldDefinition,
  type FieldDefinitions,
  undefinedField,
} from '../defining-fields.ts';
import { isSuccess, responseBody } from '../read-responses.ts';
import { paths } from './paths.ts';
import { failure, findRefusal } from './refused.ts';
import { type Property, propertiesResponse, property } from './wire.ts';

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

const YES_AND_NO = [
  { label: 'Yes', value: 'true', displayOrder: 0, hidden: false },
  { label: 'No', value: 'false', displayOrder: 1, hidden: false },
];

const FRACTIONS = "HubSpot's numbers may have fractions: the property takes any number.";

export const defineFields: DefineFieldsCapability = {
  types: Object.keys(TYPES) as FieldValueType[],
  options: [
    'description',
    'unique',
    'stringOptions.values',
    // Its select properties never take other values.
    'stringOptions.valuesRestricted:true',
  ],
  names: {
    pattern: /^[a-z][a-z0-9_]{0,99}$/,
    rule: 'must be small letters, digits and underscores, with a letter first, as the names of properties of HubSpot are.',
  },
  define,
};

async function define(
  session: ProviderSession,
  { objectName, fields }: FieldDefinitions,
): Promise<DefinedField[]> {
  const listed = await session.send({ method: 'GET', path: paths.properties(objectName) });
  const { results } = responseBody(propertiesResponse, succeeded(listed), 'READ');
  const known = new Map(results.map((one) => [one.name, one]));
  if (fields.some(({ fieldName }) => !known.has(fieldName))) await makeGroup(session, objectName);
  const defined: DefinedField[] = [];
  // One after the other: a name that is given twice is made once.
  for (const field of fields) {
    const present = known.get(field.fieldName);
    const outcome = present
      ? await change(session, objectName, { field, present })
      : await create(session, objectName, field);
    defined.push(field.valueType === 'INT' ? { ...outcome, warnings: [FRACTIONS] } : outcome);
  }
  return defined;
}

async function makeGroup(session: ProviderSession, objectName: string): Promise<void> {
  const path = paths.propertyGroup(objectName, GROUP.name);
  const found = await session.send({ method: 'GET', path });
  if (found.status !== NOT_FOUND) {
    succeeded(found);
    return;
  }
  const body = { ...GROUP, displayOrder: -1 };
  const made = await session.send({ method: 'POST', path: paths.propertyGroups(objectName), body });
  // Somebody else has made it meanwhile.
  if (made.status !== CONFLICT) succeeded(made);
}

async function create(
  session: ProviderSession,
  objectName: string,
  field: FieldDefinition,
): Promise<DefinedField> {
  const { fieldName, displayName, description, unique } = field;
  const options = optionsOf(field, []);
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
  return outcomeOf('CREATE', await session.send({ method: 'POST', path, body }));
}

async function change(
  session: ProviderSession,
  objectName: string,
  { field, present }: { field: FieldDefinition; present: Property },
): Promise<DefinedField> {
  const { type } = TYPES[field.valueType] ?? {};
  const isBoolean = field.valueType === 'BOOLEAN' && present.fieldType === 'booleancheckbox';
  if (present.type !== type && !isBoolean) {
    const detail = `The property is there already, of the type ${present.type}.${present.fieldType}.`;
    return undefinedField(detail, present);
  }
  if (field.unique && !present.hasUniqueValue) {
    return undefinedField('The property is there already, and its values are not unique.', present);
  }
  const changes = changesOf(field, present);
  if (Object.keys(changes).length === 0) return definedField('NONE', present);
  const path = paths.property(objectName, field.fieldName);
  return outcomeOf('UPDATE', await session.send({ method: 'PATCH', path, body: changes }));
}

/** Options that records may have already stay. */
function changesOf(field: FieldDefinition, { label, description, options }: Property) {
  const present = options ?? [];
  const wanted = isSelect(field) ? (optionsOf(field, present) ?? []) : present;
  return {
    ...(field.displayName !== label && { label: field.displayName }),
    ...(field.description !== null &&
      field.description !== (description ?? '') && { description: field.description }),
    ...(wanted.length > present.length && { options: wanted }),
  };
}

function isSelect({ valueType }: FieldDefinition): boolean {
  return valueType === 'SINGLE_SELECT' || valueType === 'MULTI_SELECT';
}

type Options = NonNullable<Property['options']>;

function optionsOf(field: FieldDefinition, present: Options): Options | null {
  if (field.valueType === 'BOOLEAN') return YES_AND_NO;
  if (!isSelect(field)) return null;
  const added = (field.stringOptions?.values ?? []).filter(
    (value) => !present.some((one) => one.value === value),
  );
  return [
    ...present,
    ...added.map((value, index) => ({
      label: value,
      value,
      displayOrder: present.length + index,
      hidden: false,
    })),
  ];
}

function outcomeOf(action: 'CREATE' | 'UPDATE', response: ProviderResponse): DefinedField {
  if (isSuccess(response)) return definedField(action, responseBody(property, response, 'WRITE'));
  const refusal = findRefusal(response);
  if (refusal === null) throw failure(response, 'WRITE');
  return undefinedField(refusal.join(' '));
}

function succeeded(response: ProviderResponse): ProviderResponse {
  if (isSuccess(response)) return response;
  throw failure(response, 'READ');
}
