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
import {
  getRequiredDefaults,
  isUpToDate,
  mergeMetadata,
  TYPES,
  toMetadata,
} from './custom-field.ts';
import { createFailure, findRefusal, requireSuccess } from './failure.ts';
import { grantFieldAccess } from './field-visibility.ts';
import { paths } from './paths.ts';
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
