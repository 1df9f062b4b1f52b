/** Defines custom fields by the Tooling API. The data API can only describe them. */
import { isDeepStrictEqual } from 'node:util';
import type {
  FieldValueType,
  ProviderRequest,
  ProviderResponse,
  ProviderSession,
} from '../contract.ts';
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
import { grantFieldAccess } from './field-visibility.ts';
import { paths } from './paths.ts';
import { createResponse, describeResponse, toolingResponse } from './wire.ts';

const TYPES = {
  STRING: 'Text',
  BOOLEAN: 'Checkbox',
  DATE: 'Date',
  DATETIME: 'DateTime',
  SINGLE_SELECT: 'Picklist',
  MULTI_SELECT: 'MultiselectPicklist',
  INT: 'Number',
  FLOAT: 'Number',
  REFERENCE: 'Lookup',
} as const satisfies Partial<Record<FieldValueType, string>>;

/** The maximum length of the type Text. Longer strings have the type LongTextArea, up to 131,072 characters. */
const TEXT_MAX = 255;
const PRECISION = 18;
const FLOAT_SCALE = 2;
const DELETE_CONSTRAINTS = {
  CASCADE: 'Cascade',
  RESTRICT: 'Restrict',
  SET_NULL: 'SetNull',
} as const;

type Metadata = Record<string, unknown> & { type: string };

/** Returns the defined members. Members that the definition omits stay unchanged. */
function toMetadata(field: FieldDefinition): Metadata {
  const { displayName: label, description, required, unique, indexed } = field;
  return {
    ...toTypeMetadata(field),
    label,
    ...(description !== null && { description }),
    ...(required !== null && { required }),
    ...(unique !== null && { unique }),
    ...(indexed !== null && { externalId: indexed }),
  };
}

/** Returns defaults for members that Salesforce requires of a new field. */
function getRequiredDefaults({ type }: Metadata, field: FieldDefinition, object: string) {
  const fractions = field.valueType === 'INT' ? 0 : FLOAT_SCALE;
  // The name of the list on the target object, which must be unique there.
  const relationshipName = `${object}_${field.fieldName}`
    .replace(/__c$/, '')
    .replaceAll(/_+/g, '_');
  const defaults: Record<string, object> = {
    Text: { length: TEXT_MAX },
    LongTextArea: { visibleLines: 3 },
    Checkbox: { defaultValue: 'false' },
    MultiselectPicklist: { visibleLines: 4 },
    Number: { precision: PRECISION, scale: fractions },
    Lookup: { relationshipName },
  };
  return defaults[type] ?? {};
}

function toTypeMetadata(field: FieldDefinition): Metadata {
  const { valueType, stringOptions } = field;
  switch (valueType) {
    case 'STRING':
      return toTextMetadata(stringOptions);
    case 'SINGLE_SELECT':
    case 'MULTI_SELECT':
      return { type: TYPES[valueType], valueSet: createValueSet(stringOptions) };
    case 'INT':
    case 'FLOAT':
      return toNumberMetadata(field);
    case 'REFERENCE':
      return toLookupMetadata(field);
    default:
      return { type: TYPES[valueType as 'BOOLEAN' | 'DATE' | 'DATETIME'] };
  }
}

function toTextMetadata(options: FieldDefinition['stringOptions']): Metadata {
  const { length = null, defaultValue = null } = options ?? {};
  return {
    type: (length ?? 0) > TEXT_MAX ? 'LongTextArea' : TYPES.STRING,
    ...(length !== null && { length }),
    // A default value is a formula, so a string needs quotes.
    ...(defaultValue !== null && {
      defaultValue: `"${defaultValue.replaceAll(/["\\]/g, '\\$&')}"`,
    }),
  };
}

function toNumberMetadata({ numericOptions }: FieldDefinition): Metadata {
  const { precision = null, scale = null, defaultValue = null } = numericOptions ?? {};
  return {
    type: TYPES.FLOAT,
    ...(precision !== null && { precision }),
    ...(scale !== null && { scale }),
    ...(defaultValue !== null && { defaultValue: String(defaultValue) }),
  };
}

function toLookupMetadata({ association }: FieldDefinition): Metadata {
  const { targetObject, onDelete, reverseLookupFieldName, labels } = association ?? {};
  return {
    type: TYPES.REFERENCE,
    referenceTo: targetObject,
    ...(reverseLookupFieldName && { relationshipName: reverseLookupFieldName }),
    ...(labels?.plural && { relationshipLabel: labels.plural }),
    ...(onDelete && { deleteConstraint: DELETE_CONSTRAINTS[onDelete] }),
  };
}

interface ValueSet {
  restricted?: boolean;
  valueSetDefinition?: { sorted?: boolean; value?: { valueName: string }[] };
}

function createValueSet(options: FieldDefinition['stringOptions']): ValueSet {
  const { values, valuesRestricted, defaultValue } = options ?? {};
  return {
    ...(typeof valuesRestricted === 'boolean' && { restricted: valuesRestricted }),
    valueSetDefinition: {
      sorted: false,
      value: (values ?? []).map((value) => ({
        valueName: value,
        label: value,
        default: value === defaultValue,
      })),
    },
  };
}

/** True if the field already has all desired members. */
function isUpToDate(desired: Metadata, existing: Metadata): boolean {
  return Object.entries(desired).every(([name, value]) =>
    name === 'valueSet'
      ? isValueSetUpToDate(value as ValueSet, (existing.valueSet ?? {}) as ValueSet)
      : isDeepStrictEqual(value, existing[name]),
  );
}

function isValueSetUpToDate(desired: ValueSet, existing: ValueSet): boolean {
  const isSame = desired.restricted === undefined || desired.restricted === existing.restricted;
  return isSame && listNewValues(desired, existing).length === 0;
}

/** Merges the desired members into the existing ones. Existing values stay, because Salesforce removes omitted ones. */
function mergeMetadata(desired: Metadata, existing: Metadata): Metadata {
  const mergedMetadata = { ...existing, ...desired };
  if (!desired.valueSet) return mergedMetadata;
  const [desiredSet, existingSet] = [
    desired.valueSet as ValueSet,
    (existing.valueSet ?? {}) as ValueSet,
  ];
  const value = [...listValues(existingSet), ...listNewValues(desiredSet, existingSet)];
  const valueSetDefinition = { ...existingSet.valueSetDefinition, value };
  return { ...mergedMetadata, valueSet: { ...existingSet, ...desiredSet, valueSetDefinition } };
}

function listNewValues(desired: ValueSet, existing: ValueSet) {
  const existingNames = new Set(listValues(existing).map(({ valueName }) => valueName));
  return listValues(desired).filter(({ valueName }) => !existingNames.has(valueName));
}

function listValues({ valueSetDefinition }: ValueSet) {
  return valueSetDefinition?.value ?? [];
}

export const defineFields: DefineFieldsCapability = {
  types: Object.keys(TYPES) as (keyof typeof TYPES)[],
  options: [
    'description',
    'required',
    'unique',
    'indexed',
    'stringOptions.length',
    'stringOptions.values',
    'stringOptions.valuesRestricted',
    'stringOptions.defaultValue',
    'numericOptions.precision',
    'numericOptions.scale',
    'numericOptions.defaultValue',
    'association.associationType:lookup',
    'association.targetObject',
    'association.cardinality:MANY_TO_ONE',
    'association.onDelete',
    'association.reverseLookupFieldName',
    'association.labels.plural',
  ],
  names: {
    pattern: /^(?=.{4,43}$)[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*__c$/,
    rule: 'must be letters, digits and single underscores that end in `__c`, at most 43 characters, as the names of custom fields of Salesforce are.',
  },
  define: defineCustomFields,
};

async function defineCustomFields(
  session: ProviderSession,
  { objectName, fields }: FieldDefinitions,
): Promise<FieldOutcome[]> {
  const object = await getObjectName(session, objectName);
  const outcomes: FieldOutcome[] = [];
  // Sequential, because Salesforce locks an object while it changes.
  for (const field of fields) outcomes.push(await defineCustomField(session, object, field));
  const optionalFields = fields.flatMap(({ fieldName, required }, index) =>
    outcomes[index]?.error === null && !required ? fieldName : [],
  );
  const warning = await grantFieldAccess(session, object, optionalFields);
  return outcomes.map((outcome, index) =>
    warning !== null && optionalFields.includes(fields[index]!.fieldName)
      ? { ...outcome, warnings: [...outcome.warnings, warning] }
      : outcome,
  );
}

/** Returns the object's name in Salesforce's spelling, because full names are case-sensitive. */
async function getObjectName(session: ProviderSession, objectName: string): Promise<string> {
  const response = await session.send({ method: 'GET', path: paths.description(objectName) });
  return parseResponse(describeResponse, requireSuccess(response), 'READ').name;
}

async function defineCustomField(
  session: ProviderSession,
  object: string,
  field: FieldDefinition,
): Promise<FieldOutcome> {
  const desired = toMetadata(field);
  const existingField = await findField(session, object, field.fieldName);
  if (!existingField) {
    const metadata = { ...getRequiredDefaults(desired, field, object), ...desired };
    const body = { FullName: `${object}.${field.fieldName}`, Metadata: metadata };
    return sendChange(session, { method: 'POST', path: paths.customFields, body }, metadata);
  }
  const { Id: id, Metadata: existing } = existingField;
  if (existing.type !== desired.type) {
    const detail = `The field already exists with the type ${existing.type}.`;
    return createRefusedField(detail, existing);
  }
  if (isUpToDate(desired, existing)) return createFieldOutcome('NONE', existing);
  const metadata = mergeMetadata(desired, existing);
  const path = paths.customField(id);
  return sendChange(session, { method: 'PATCH', path, body: { Metadata: metadata } }, metadata);
}

async function findField(session: ProviderSession, object: string, fieldName: string) {
  const name = fieldName.replace(/__c$/, '');
  const soql = `SELECT Id, Metadata FROM CustomField WHERE EntityDefinition.QualifiedApiName = '${object}' AND DeveloperName = '${name}' AND NamespacePrefix = null`;
  const response = await session.send({
    method: 'GET',
    path: paths.toolingQuery,
    query: { q: soql },
  });
  return parseResponse(toolingResponse, requireSuccess(response), 'READ').records[0] ?? null;
}

async function sendChange(
  session: ProviderSession,
  request: ProviderRequest,
  metadata: Record<string, unknown>,
): Promise<FieldOutcome> {
  const response = await session.send(request);
  if (!isSuccess(response)) return refuseOrThrow(response);
  if (request.method === 'PATCH') return createFieldOutcome('UPDATE', metadata);
  parseResponse(createResponse, response, 'WRITE');
  return createFieldOutcome('CREATE', metadata);
}

function refuseOrThrow(response: ProviderResponse): FieldOutcome {
  const refusal = findRefusal(response);
  if (refusal === null) throw createFailure(response);
  return createRefusedField(refusal.join(' '));
}
