/** Creates, updates and deletes single records, as declared. */
import type { ProviderRequest, ProviderResponse, ProviderSession } from '../contract.ts';
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
import { findObject } from './describe-object.ts';
import {
  collectMessages,
  createFailure,
  findRefusal,
  hasSucceeded,
  listMessages,
  type Vendor,
} from './failure.ts';
import { findValue, isObject, type JsonObject, parseId, withValue } from './json.ts';
import { nestFields } from './nested-fields.ts';
import { findRecordId, listIdVariables } from './record-id.ts';
import {
  fillJson,
  fillPath,
  fillStrings,
  listVariables,
  type TemplateVariables,
} from './template.ts';

export async function writeRecord(
  vendor: Vendor,
  session: ProviderSession,
  write: RecordWrite,
): Promise<RecordOutcome> {
  const object = findObject(vendor, write.objectName);
  const isUpdate = write.type === 'UPDATE';
  const route = isUpdate ? object.update : object.create;
  if (!route)
    throw createUnsupportedError(vendor, isUpdate ? 'updates' : 'creates', write.objectName);
  const target = isUpdate
    ? createUpdateTarget(object, write.record)
    : createCreateTarget(route, write.record);
  if (Array.isArray(target)) return createRefusedOutcome(null, target);
  const unsupported = listUnsupportedFields(route, target.fields);
  if (unsupported.length > 0) return createRefusedOutcome(target.variables.id ?? null, unsupported);
  const variables = { object: write.objectName, ...target.variables };
  const recordId = isUpdate ? (target.variables.id ?? null) : null;
  const response = await session.send({
    method: route.method,
    path: fillPath(route.path, variables, session),
    query: route.query,
    headers: createHeaders(vendor.declaration, session, { ...route, key: write.idempotencyKey }),
    ...encodeContent(
      vendor.declaration,
      createBody(object, route, { ...target, variables, recordId }),
    ),
  });
  if (isUpdate && response.status === 404)
    return createRefusedOutcome(recordId, listMessages(vendor, response));
  if (!hasSucceeded(vendor, response)) return refuseOrThrow(vendor, response, recordId);
  const refusalReasons = findRefusalReasons(vendor, response, route);
  return refusalReasons
    ? createRefusedOutcome(recordId, refusalReasons)
    : createOutcome(object, route, { response, recordId });
}

interface WriteTarget {
  variables: TemplateVariables;
  fields: JsonObject;
}

/** Returns the id's variables and the changed fields of an update, or the reasons why they are unknown. */
function createUpdateTarget(
  { id: idDeclaration }: ObjectDeclaration,
  { id, ...fields }: JsonObject,
): WriteTarget | string[] {
  const variables = listIdVariables(idDeclaration, id);
  return variables ? { variables, fields } : ['An update needs the id of a record'];
}

/** Splits the record of a create into variables of the path and fields of the body. */
function createCreateTarget({ path, body }: Write, record: JsonObject): WriteTarget | string[] {
  const names = listVariables(path, body).filter((name) => name !== 'object');
  const missing = names.filter((name) => parseId(record[name]) === null);
  if (missing.length > 0) return missing.map((name) => `A create needs ${name}`);
  const fields = Object.fromEntries(
    Object.entries(record).filter(([name]) => !names.includes(name)),
  );
  const variables = Object.fromEntries(names.map((name) => [name, parseId(record[name]) ?? '']));
  return { variables, fields };
}

/** Returns errors for members that the vendor would silently ignore. */
function listUnsupportedFields({ allowedFields }: Write, fields: JsonObject): string[] {
  const unsupported = allowedFields
    ? Object.keys(fields).filter((name) => !allowedFields.includes(name))
    : [];
  return unsupported.map((name) => `${name} can't be written`);
}

export async function deleteRecord(
  vendor: Vendor,
  session: ProviderSession,
  { objectName, id }: RecordRemoval,
): Promise<RecordOutcome> {
  const object = findObject(vendor, objectName);
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
    ...(body && encodeContent(vendor.declaration, body)),
  });
  if (response.status === 404) return createRefusedOutcome(id, listMessages(vendor, response));
  if (!hasSucceeded(vendor, response)) return refuseOrThrow(vendor, response, id);
  const refusalReasons = findRefusalReasons(vendor, response, remove);
  return refusalReasons ? createRefusedOutcome(id, refusalReasons) : createWrittenOutcome(id);
}

export function createUnsupportedError(
  { displayName }: Vendor,
  verb: string,
  objectName: string,
): ProviderError {
  return new ProviderError('BAD_REQUEST', `${displayName} has no ${verb} of ${objectName}`);
}

function createHeaders(
  { headers, idempotency }: Declaration,
  session: ProviderSession,
  { headers: ownHeaders, key }: { headers: Record<string, string>; key?: string | undefined },
): Record<string, string> {
  const filled = fillStrings({ ...headers, ...ownHeaders }, session);
  return { ...filled, ...(idempotency && key && { [idempotency.header]: key }) };
}

function encodeContent(
  { bodyFormat }: Declaration,
  body: JsonObject,
): Pick<ProviderRequest, 'body' | 'bodyFormat'> {
  return { body, bodyFormat };
}

function createBody(
  { nested }: ObjectDeclaration,
  { bodyRecord, body: bodyTemplate, bodyId, isStringified }: Write,
  { fields, variables, recordId }: WriteTarget & { recordId: string | null },
): JsonObject {
  const nestedRecord = nestFields(nested, fields);
  const record = isStringified ? JSON.stringify(nestedRecord) : nestedRecord;
  const body = fillJson(bodyTemplate, variables);
  if (typeof record === 'string') return withValue(body, bodyRecord, record);
  const existing = findValue(body, bodyRecord);
  const content = { ...(isObject(existing) && existing), ...record };
  const wrapped = bodyRecord === '' ? content : withValue(body, bodyRecord, content);
  return bodyId === undefined || recordId === null ? wrapped : withValue(wrapped, bodyId, recordId);
}

/**
 * Returns the outcome of a write. Throws DISCONNECTED if the response lacks the created record's id, because the
 * outcome is then unknown.
 */
function createOutcome(
  object: ObjectDeclaration,
  route: Write,
  { response, recordId }: { response: ProviderResponse; recordId: string | null },
): RecordOutcome {
  const data =
    route.responseRecord === undefined ? undefined : findValue(response.body, route.responseRecord);
  const writtenId = recordId ?? findRecordId(route.responseRecordId ?? object.id, data);
  if (writtenId === null && !route.returnsNoId) {
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
  const texts =
    refusalReasons === undefined ? [] : collectMessages(findValue(response.body, refusalReasons));
  if (texts.length > 0) return texts;
  const isSuccessful = !success || findValue(response.body, success.at) === success.value;
  return isSuccessful ? null : listMessages(vendor, response);
}

function refuseOrThrow(
  vendor: Vendor,
  response: ProviderResponse,
  recordId: string | null,
): RecordOutcome {
  const refusal = findRefusal(vendor, response);
  if (refusal === null) throw createFailure(vendor, response, 'WRITE');
  return createRefusedOutcome(recordId, refusal);
}
