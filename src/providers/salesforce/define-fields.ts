/** Defines custom fields by the Tooling API. The data API can only describe them. */
import type { ProviderRequest, ProviderResponse, ProviderSession } from '../contract.ts';
import {
  createFieldOutcome,
  createRefusedField,
  type DefineFieldsCapability,
  type FieldDefinition,
  type FieldDefinitions,
  type FieldOutcome,
} from '../defining-fields.ts';
import { isSuccess, parseResponse } from '../read-responses.ts';
import { isUpToDate, mergeMetadata, requiredDefaults, TYPES, toMetadata } from './custom-field.ts';
import { makeVisible } from './field-visibility.ts';
import { paths } from './paths.ts';
import { createFailure, findRefusal } from './refused.ts';
import { createResponse, describeResponse, toolingResponse } from './wire.ts';

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
  define,
};

async function define(
  session: ProviderSession,
  { objectName, fields }: FieldDefinitions,
): Promise<FieldOutcome[]> {
  const object = await findName(session, objectName);
  const defined: FieldOutcome[] = [];
  // Sequential, because Salesforce locks an object while it changes.
  for (const field of fields) defined.push(await defineOne(session, object, field));
  const visible = fields.flatMap(({ fieldName, required }, index) =>
    defined[index]?.error === null && !required ? fieldName : [],
  );
  const warning = await makeVisible(session, object, visible);
  return defined.map((field, index) =>
    warning !== null && visible.includes(fields[index]!.fieldName)
      ? { ...field, warnings: [...field.warnings, warning] }
      : field,
  );
}

/** Returns the object's name in Salesforce's spelling, because full names are case-sensitive. */
async function findName(session: ProviderSession, objectName: string): Promise<string> {
  const response = await session.send({ method: 'GET', path: paths.description(objectName) });
  if (!isSuccess(response)) throw createFailure(response);
  return parseResponse(describeResponse, response, 'READ').name;
}

async function defineOne(
  session: ProviderSession,
  object: string,
  field: FieldDefinition,
): Promise<FieldOutcome> {
  const desired = toMetadata(field);
  const existing = await findField(session, object, field.fieldName);
  if (!existing) {
    const metadata = { ...requiredDefaults(desired, field, object), ...desired };
    const body = { FullName: `${object}.${field.fieldName}`, Metadata: metadata };
    return change(session, { method: 'POST', path: paths.customFields, body }, metadata);
  }
  if (existing.Metadata.type !== desired.type) {
    const detail = `The field already exists with the type ${existing.Metadata.type}.`;
    return createRefusedField(detail, existing.Metadata);
  }
  if (isUpToDate(desired, existing.Metadata)) return createFieldOutcome('NONE', existing.Metadata);
  const metadata = mergeMetadata(desired, existing.Metadata);
  const path = paths.customField(existing.Id);
  return change(session, { method: 'PATCH', path, body: { Metadata: metadata } }, metadata);
}

async function findField(session: ProviderSession, object: string, fieldName: string) {
  const name = fieldName.replace(/__c$/, '');
  const q = `SELECT Id, Metadata FROM CustomField WHERE EntityDefinition.QualifiedApiName = '${object}' AND DeveloperName = '${name}' AND NamespacePrefix = null`;
  const response = await session.send({ method: 'GET', path: paths.toolingQuery, query: { q } });
  if (!isSuccess(response)) throw createFailure(response);
  return parseResponse(toolingResponse, response, 'READ').records[0] ?? null;
}

async function change(
  session: ProviderSession,
  request: ProviderRequest,
  metadata: Record<string, unknown>,
): Promise<FieldOutcome> {
  const response = await session.send(request);
  if (!isSuccess(response)) return refusedOrThrown(response);
  if (request.method === 'PATCH') return createFieldOutcome('UPDATE', metadata);
  parseResponse(createResponse, response, 'WRITE');
  return createFieldOutcome('CREATE', metadata);
}

function refusedOrThrown(response: ProviderResponse): FieldOutcome {
  const refusal = findRefusal(response);
  if (refusal === null) throw createFailure(response);
  return createRefusedField(refusal.join(' '));
}
