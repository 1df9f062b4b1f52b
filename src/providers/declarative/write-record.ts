/** Creates, updates and deletes single records, as declared. */
import { isObject } from '../../work/is-object.ts';
import type { ProviderResponse, ProviderSession } from '../contract.ts';
import {
  createRefusedOutcome,
  createWrittenOutcome,
  type RecordOutcome,
  type RecordRemoval,
  type RecordWrite,
} from '../moving-records.ts';
import { ProviderError } from '../provider-error.ts';
import type { Declaration, ObjectDeclaration } from './declaration/declaration.ts';
import type { Write } from './declaration/object-declaration.ts';
import {
  collectMessages,
  createFailure,
  findRefusal,
  hasSucceeded,
  listMessages,
  toMessages,
} from './failure.ts';
import { findValue, type JsonObject, parseId, withValue } from './json.ts';
import { nestFields } from './nested-fields.ts';
import { findRecordId, listIdVariables } from './record-id.ts';
import {
  fillJson,
  fillPath,
  fillStrings,
  listVariables,
  type TemplateVariables,
} from './template.ts';
import { getObject, getWritableObject, type Vendor } from './vendor.ts';

export async function writeRecord(
  vendor: Vendor,
  session: ProviderSession,
  write: RecordWrite,
): Promise<RecordOutcome> {
  const object = getWritableObject(vendor, write.objectName);
  const isUpdate = write.type === 'UPDATE';
  const endpoint = isUpdate ? object.update : object.create;
  if (!endpoint)
    throw createUnsupportedError(vendor, isUpdate ? 'updates' : 'creates', write.objectName);
  const parts = isUpdate ? splitUpdate(object, write.record) : splitCreate(endpoint, write.record);
  if (Array.isArray(parts)) return createRefusedOutcome(null, parts);
  const recordId = isUpdate ? (parts.variables.id ?? null) : null;
  const fieldErrors = listFieldErrors(endpoint, parts.fields);
  if (fieldErrors.length > 0) return createRefusedOutcome(recordId, fieldErrors);
  const variables = { object: write.objectName, ...parts.variables };
  const response = await session.send({
    method: endpoint.method,
    path: fillPath(endpoint.path, variables, session),
    query: endpoint.query,
    headers: createHeaders(vendor.declaration, session, { ...endpoint, key: write.idempotencyKey }),
    body: createBody(object, endpoint, { ...parts, variables, recordId }),
    bodyFormat: vendor.declaration.bodyFormat,
  });
  if (isUpdate && response.status === 404)
    return createRefusedOutcome(recordId, listMessages(vendor, response));
  if (!hasSucceeded(vendor, response)) return refuseOrThrow(vendor, response, recordId);
  const refusalReasons = findRefusalReasons(vendor, response, endpoint);
  return refusalReasons
    ? createRefusedOutcome(recordId, refusalReasons)
    : createOutcome(object, endpoint, { response, recordId });
}

interface WriteParts {
  variables: TemplateVariables;
  fields: JsonObject;
}

/** Splits the record of an update into variables of the path and fields of the body. Returns errors if it has no id. */
function splitUpdate(
  { id: idDeclaration }: Pick<ObjectDeclaration, 'id'>,
  { id, ...fields }: JsonObject,
): WriteParts | string[] {
  const variables = listIdVariables(idDeclaration, id);
  return variables ? { variables, fields } : ['An update needs the id of a record'];
}

/** Splits the record of a create into variables of the path and fields of the body. Returns errors for missing variables. */
function splitCreate({ path, body }: Write, record: JsonObject): WriteParts | string[] {
  const names = listVariables(path, body).filter((name) => name !== 'object');
  const variables: TemplateVariables = Object.fromEntries(
    names.map((name) => [name, parseId(record[name]) ?? undefined]),
  );
  const missingNames = names.filter((name) => variables[name] === undefined);
  if (missingNames.length > 0) return missingNames.map((name) => `A create needs ${name}`);
  const fields = Object.fromEntries(
    Object.entries(record).filter(([name]) => !names.includes(name)),
  );
  return { variables, fields };
}

/** Returns an error for each field that the vendor would silently ignore. */
function listFieldErrors({ allowedFields }: Write, fields: JsonObject): string[] {
  if (!allowedFields) return [];
  return Object.keys(fields)
    .filter((name) => !allowedFields.includes(name))
    .map((name) => `${name} can't be written`);
}

export async function deleteRecord(
  vendor: Vendor,
  session: ProviderSession,
  { objectName, id }: RecordRemoval,
): Promise<RecordOutcome> {
  const object = getObject(vendor, objectName);
  const { remove } = object;
  if (!remove) throw createUnsupportedError(vendor, 'deletes', objectName);
  const variables = listIdVariables(object.id, id);
  if (variables === null) return createRefusedOutcome(null, ['No record can have that id']);
  const bodyTemplate = fillJson(remove.body, variables);
  const body = remove.bodyId ? withValue(bodyTemplate ?? {}, remove.bodyId, id) : bodyTemplate;
  const response = await session.send({
    method: remove.method,
    path: fillPath(remove.path, { object: objectName, ...variables }, session),
    query: remove.query,
    headers: createHeaders(vendor.declaration, session, remove),
    ...(body && { body, bodyFormat: vendor.declaration.bodyFormat }),
  });
  if (response.status === 404) return createRefusedOutcome(id, listMessages(vendor, response));
  if (!hasSucceeded(vendor, response)) return refuseOrThrow(vendor, response, id);
  const refusalReasons = findRefusalReasons(vendor, response, remove);
  return refusalReasons ? createRefusedOutcome(id, refusalReasons) : createWrittenOutcome(id);
}

function createUnsupportedError(
  { displayName }: Vendor,
  verb: string,
  objectName: string,
): ProviderError {
  return new ProviderError('BAD_REQUEST', `${displayName} has no ${verb} of ${objectName}`);
}

/** Returns the headers of the declaration and of the request, and the idempotency key if the vendor honors keys. */
export function createHeaders(
  { headers, idempotency }: Declaration,
  session: ProviderSession,
  { headers: requestHeaders, key }: { headers?: Record<string, string>; key?: string | undefined },
): Record<string, string> {
  return {
    ...fillStrings({ ...headers, ...requestHeaders }, session),
    ...(idempotency && key && { [idempotency.header]: key }),
  };
}

function createBody(
  { nestedFields }: Pick<ObjectDeclaration, 'nestedFields'>,
  { bodyRecord, body: bodyTemplate, bodyId, isStringified }: Write,
  { fields, variables, recordId }: WriteParts & { recordId: string | null },
): JsonObject {
  const nestedRecord = nestFields(nestedFields, fields);
  const record = isStringified ? JSON.stringify(nestedRecord) : nestedRecord;
  const body = fillJson(bodyTemplate, variables);
  if (typeof record === 'string') return withValue(body, bodyRecord, record);
  const templateMembers = findValue(body, bodyRecord);
  const content = { ...(isObject(templateMembers) && templateMembers), ...record };
  const bodyWithRecord = bodyRecord === '' ? content : withValue(body, bodyRecord, content);
  return bodyId === undefined || recordId === null
    ? bodyWithRecord
    : withValue(bodyWithRecord, bodyId, recordId);
}

/**
 * Returns the outcome of a write. Throws DISCONNECTED if the response lacks the created record's id, because the
 * outcome is then unknown.
 */
function createOutcome(
  object: Pick<ObjectDeclaration, 'id'>,
  { responseRecord, responseRecordId, returnsNoId }: Write,
  { response, recordId }: { response: ProviderResponse; recordId: string | null },
): RecordOutcome {
  const data = responseRecord === undefined ? undefined : findValue(response.body, responseRecord);
  const writtenId = recordId ?? findRecordId(responseRecordId ?? object.id, data);
  if (writtenId === null && !returnsNoId) {
    throw new ProviderError('DISCONNECTED', 'The response lacks the id of the created record', {
      status: response.status,
    });
  }
  return createWrittenOutcome(writtenId, isObject(data) ? data : null);
}

/** Returns the errors inside a response with a success status. Null if there are none. */
function findRefusalReasons(
  vendor: Vendor,
  response: ProviderResponse,
  { refusalReasons, success }: Pick<Write, 'refusalReasons' | 'success'>,
): string[] | null {
  const messages =
    refusalReasons === undefined ? [] : collectMessages(findValue(response.body, refusalReasons));
  if (messages.length > 0) return toMessages(messages, response);
  const isSuccessful = !success || findValue(response.body, success.at) === success.value;
  return isSuccessful ? null : listMessages(vendor, response);
}

function refuseOrThrow(
  vendor: Vendor,
  response: ProviderResponse,
  recordId: string | null,
): RecordOutcome {
  const refusal = findRefusal(vendor, response);
  if (refusal === null) throw createFailure(vendor, response);
  return createRefusedOutcome(recordId, refusal);
}
