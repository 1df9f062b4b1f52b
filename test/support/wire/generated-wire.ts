/**
 * Generates a wire format from a declaration. It finds contradictions within the declaration, but not
 * differences between the declaration and the vendor.
 */
import {
  type ObjectDeclaration,
  providerDeclaration,
} from '../../../src/providers/declarative/declaration/declaration.ts';
import type { ListDeclaration } from '../../../src/providers/declarative/declaration/list-declaration.ts';
import type {
  Batch,
  Write,
} from '../../../src/providers/declarative/declaration/object-declaration.ts';
import type { DeclaredProvider } from '../../../src/providers/declarative/declarative-provider.ts';
import { findValue, parseId, withValue } from '../../../src/providers/declarative/json.ts';
import { fillPath, listVariables } from '../../../src/providers/declarative/template.ts';
import { getObject } from '../../../src/providers/declarative/vendor.ts';
import type { ServedRequest, ServedResponse } from '../providers/provider-server.ts';
import { serveFetch } from './generated-fetch.ts';
import { readLocation, serveList } from './generated-list.ts';
import {
  type DeclaredObject,
  isRequestFor,
  listIdParts,
  METADATA,
  OWNED_ID,
  PARENT_ID,
  setValue,
  toWholeId,
  type WireEndpoint,
  writeRecord,
} from './generated-parts.ts';
import type { StoredRecord, VendorStore } from './vendor-store.ts';
import { BEARER, isObject, TOKEN, type Values, type WireVendor } from './wire-format.ts';

export function generateWire(provider: DeclaredProvider, objectName: string): WireVendor {
  const declaration = providerDeclaration.parse(provider.api);
  const vendor = { displayName: provider.displayName, declaration: declaration };
  const object = getObject(vendor, objectName);
  const textField = findTextField(object);
  const declaredObject: DeclaredObject = {
    declaration: declaration,
    object,
    objectName,
    textField,
  };
  const metadata = Object.keys(declaration.inputs).map((name) => [
    name,
    METADATA.findMetadata(name),
  ]);
  return {
    objectName,
    textField,
    missingId: toWholeId(object, 'missing'),
    metadata: Object.fromEntries(metadata),
    requiredValues: createRequiredFields(object),
    canSearch: false,
    ...(!object.changedAt && !object.list.since && { lacksChangeTimes: true }),
    fixture: {
      createId: (n) => `r${n}`,
      createReference: (id) => toWholeId(object, String(id)),
      headers: createCredentials(provider),
      contentType: '',
      toErrorBody: (_status, message) =>
        withValue({}, declaration.errors.messages[0] || '/message', message),
      findValueError: () => null,
      override: (request, store, now, url) => serve(declaredObject, request, { store, now, url }),
      object: { lists: [], toVendorRecord: (record) => writeRecord(declaredObject, record) },
    },
  };
}

function createCredentials({ apiKey }: DeclaredProvider): Record<string, string> {
  if (apiKey?.in !== 'header') return BEARER;
  return { [apiKey.name.toLowerCase()]: `${apiKey.valuePrefix ?? ''}${TOKEN}` };
}

function findTextField({ id, standardFields = {}, changedAt }: ObjectDeclaration): string {
  const stringFields = Object.entries(standardFields).filter(([, type]) => type === 'STRING');
  const fieldNames = stringFields
    .map(([name]) => name)
    .filter((name) => id !== `/${name}` && !/(^|_)id$|Id$/.test(name));
  return fieldNames.find((name) => !changedAt?.at.endsWith(name)) ?? 'text';
}

/** Fields of a record that the path or the body of a create needs. */
function createRequiredFields(object: ObjectDeclaration): Values {
  const { create } = object;
  const names = create ? listVariables(create.path, create.body) : [];
  const idParts = typeof object.id === 'string' ? {} : object.id.parts;
  const getPart = (name: string) => (typeof idParts[name] === 'object' ? OWNED_ID : PARENT_ID);
  return Object.fromEntries(
    names.filter((name) => name !== 'object').map((name) => [name, getPart(name)]),
  );
}

interface ServerState {
  store: VendorStore;
  now: Date;
  url: string;
}

function serve(
  declaredObject: DeclaredObject,
  request: ServedRequest,
  served: ServerState,
): ServedResponse | undefined {
  return (
    serveParents(declaredObject, request) ??
    serveFetch(declaredObject, request, served) ??
    serveList(declaredObject, request, served) ??
    serveFields(declaredObject, request) ??
    serveBatch(declaredObject, request, served) ??
    serveChange(declaredObject, request, served)
  );
}

/** Returns a single parent of the requested type. All records are below it. */
function serveParents(
  { declaration, object }: DeclaredObject,
  request: ServedRequest,
): ServedResponse | undefined {
  for (let { parent } = object; parent; parent = declaration.objects[parent.object]?.parent) {
    const parentObject = declaration.objects[parent.object];
    if (!parentObject || !isRequestFor(parentObject.list, request, {})) continue;
    const record = writeRecord(
      { object: parentObject },
      { id: PARENT_ID, changedAt: new Date(0), values: {} },
    );
    const parents = isFirstPage(parentObject.list, request) ? [record] : [];
    return { status: 200, body: setValue({}, parentObject.list.records, parents) };
  }
  return undefined;
}

function isFirstPage({ paging }: Pick<ListDeclaration, 'paging'>, request: ServedRequest): boolean {
  if (!('parameter' in paging)) return true;
  const position = readLocation(paging.parameter, request);
  return (
    position === undefined || Number(position) === (paging.kind === 'page' ? paging.firstPage : 0)
  );
}

function serveFields(
  { object: { fieldList }, objectName, textField }: DeclaredObject,
  request: ServedRequest,
): ServedResponse | undefined {
  if (!fieldList || request.method !== 'GET') return undefined;
  const path = fillPath(fieldList.path, { object: objectName }, METADATA);
  const isByObject = Object.values(fieldList.query).some((value) => value.includes('{object}'));
  if (decodeURIComponent(request.path) !== decodeURIComponent(path)) return undefined;
  if (isByObject && ![...request.query.values()].includes(objectName)) return undefined;
  const { paging = { kind: 'none' } } = fieldList;
  const field = withValue({}, fieldList.name, textField.slice(fieldList.prefix.length));
  const fields = isFirstPage({ paging }, request) ? [field] : [];
  return { status: 200, body: setValue({}, fieldList.fields, fields) };
}

/** Returns an outcome for each record of a batch, in the order of the request. */
function serveBatch(
  { object, objectName, textField }: DeclaredObject,
  request: ServedRequest,
  { store, now }: ServerState,
): ServedResponse | undefined {
  const variables = { object: objectName };
  const batch = [object.createMany, object.updateMany].find(
    (candidate) => candidate && isRequestFor(candidate, request, variables),
  );
  const inputs = batch && findValue(request.body, batch.bodyRecords);
  if (!batch || !Array.isArray(inputs)) return undefined;
  const outcomes = inputs.filter(isObject).map((fields) => {
    const { id, ...values } = fields;
    const record = batch === object.createMany ? undefined : store.find(String(id));
    if (batch === object.updateMany && !record) return createOutcomeError(batch, 'No such record');
    if (isTooLong(values[textField])) return createOutcomeError(batch, `${textField} is too long`);
    const storedRecord = record ?? store.create({}, now);
    Object.assign(storedRecord.values, values);
    storedRecord.changedAt = now;
    const success = withValue({}, batch.success.at, batch.success.value);
    return withValue(success, batch.recordId, toWholeId(object, String(storedRecord.id)));
  });
  return { status: 200, body: setValue({}, batch.outcomes, outcomes) };
}

function createOutcomeError({ errors }: Batch, message: string): Values {
  return withValue({}, errors[0] ?? '/message', message);
}

function serveChange(
  { declaration, object, objectName, textField }: DeclaredObject,
  request: ServedRequest,
  { store, now }: ServerState,
): ServedResponse {
  const { create, update, remove } = object;
  const refuse = (status: number, message: string): ServedResponse => ({
    status,
    body: withValue({}, declaration.errors.messages[0] || '/message', message),
  });
  const namedRecord = store.records.find(({ id }) =>
    [remove, update].some(
      (endpoint) => endpoint && refersTo(object, endpoint, { request, objectName, id: String(id) }),
    ),
  );
  // If a create and an update have the same path, only the update has an ID in its body.
  const sharesPath = update?.bodyId !== undefined && update.path === create?.path;
  const isUpdate = sharesPath && findValue(request.body, update.bodyId ?? '') != null;
  if (
    create &&
    isRequestFor(create, request, { object: objectName }) &&
    !namedRecord &&
    !isUpdate
  ) {
    const values = {
      ...readValues(object, create, request),
      ...readVariables(create.body, request.body),
    };
    if (isTooLong(values[textField])) return refuse(400, `${textField} is too long`);
    return createWriteResponse(object, create, store.create(values, now));
  }
  if (!namedRecord) return refuse(404, 'Not found');
  const id = String(namedRecord.id);
  const isRemoval = remove && refersTo(object, remove, { request, objectName, id });
  if (isRemoval && hasDeclaredMembers(request.body, remove.body)) {
    store.remove(namedRecord);
    const body = remove.success ? setValue({}, remove.success.at, remove.success.value) : {};
    return { status: 200, body };
  }
  if (!update) return refuse(405, 'Not allowed');
  const values = readValues(object, update, request);
  if (isTooLong(values[textField])) return refuse(400, `${textField} is too long`);
  Object.assign(namedRecord.values, values);
  namedRecord.changedAt = now;
  return createWriteResponse(object, update, namedRecord);
}

function refersTo(
  object: ObjectDeclaration,
  endpoint: WireEndpoint & { bodyId?: string | undefined },
  { request, objectName, id }: { request: ServedRequest; objectName: string; id: string },
): boolean {
  const wholeId = toWholeId(object, id);
  const parts = typeof object.id === 'string' ? [] : listIdParts(object.id, id);
  const names = typeof object.id === 'string' ? [] : Object.keys(object.id.parts);
  const variables = {
    object: objectName,
    id: wholeId,
    ...Object.fromEntries(names.map((name, index) => [name, parts[index] ?? ''])),
  };
  if (!isRequestFor(endpoint, request, variables)) return false;
  return (
    endpoint.bodyId === undefined || parseId(findValue(request.body, endpoint.bodyId)) === wholeId
  );
}

const PATH_VARIABLE = /^\{(\w+)\}$/;

/**
 * True if the body has the declared members. Only the body distinguishes a deletion from an update at the
 * same path.
 */
function hasDeclaredMembers(actual: unknown, declaration: unknown): boolean {
  if (!isObject(declaration))
    return (
      declaration === undefined || actual === declaration || PATH_VARIABLE.test(String(declaration))
    );
  return (
    isObject(actual) &&
    Object.entries(declaration).every(([name, member]) => hasDeclaredMembers(actual[name], member))
  );
}

const isTooLong = (value: unknown) => String(value ?? '').length > 200;

/** Returns the values that a body has in place of `{name}`, by these names. */
function readVariables(declaration: unknown, actual: unknown): Values {
  if (!isObject(declaration) || !isObject(actual)) return {};
  const entries = Object.entries(declaration).map(([member, declaredMember]) => {
    const [, name] =
      PATH_VARIABLE.exec(typeof declaredMember === 'string' ? declaredMember : '') ?? [];
    return name === undefined
      ? readVariables(declaredMember, actual[member])
      : { [name]: actual[member] };
  });
  return Object.assign({}, ...entries);
}

function readValues(
  object: ObjectDeclaration,
  { bodyRecord, isStringified }: Write,
  { body }: ServedRequest,
): Values {
  const wrapped = findValue(body, bodyRecord);
  const parsedFields: unknown = isStringified ? JSON.parse(String(wrapped)) : wrapped;
  const fields = isObject(parsedFields) ? parsedFields : {};
  const maps = object.nestedFields
    .map(({ at: pointer }) => findValue(fields, pointer))
    .filter(isObject);
  return Object.assign({}, fields, ...maps);
}

function createWriteResponse(
  object: ObjectDeclaration,
  endpoint: Write,
  record: StoredRecord,
): ServedResponse {
  if (endpoint.responseRecord === undefined) return { status: 204 };
  let body = setValue({}, endpoint.responseRecord, writeRecord({ object }, record));
  if (endpoint.responseRecordId)
    body = setValue(
      body as Values,
      `${endpoint.responseRecord}${endpoint.responseRecordId}`,
      record.id,
    );
  if (endpoint.success)
    body = setValue(body as Values, endpoint.success.at, endpoint.success.value);
  return { status: 200, body };
}
