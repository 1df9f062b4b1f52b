/**
 * A wire format made from a declaration: what the declaration says is answered as it says. It finds what does
 * not fit together in it, not what does not fit the vendor.
 */
import {
  declaration,
  type ObjectDeclaration,
} from '../../../src/providers/declarative/declaration/declaration.ts';
import type {
  Batch,
  Write,
} from '../../../src/providers/declarative/declaration/object-declaration.ts';
import type { DeclaredProvider } from '../../../src/providers/declarative/declarative-provider.ts';
import { findObject } from '../../../src/providers/declarative/describe-object.ts';
import { findId, valueAt, withValue } from '../../../src/providers/declarative/json.ts';
import { fillPath, variablesIn } from '../../../src/providers/declarative/template.ts';
import type { ServedRequest, ServedResponse } from '../providers/provider-server.ts';
import { fetchedResponse } from './generated-fetch.ts';
import { answerList } from './generated-list.ts';
import {
  FACT,
  idText,
  isAt,
  OWNED_ID,
  PARENT_ID,
  partsOf,
  put,
  type Said,
  shown,
  type WirePlace,
} from './generated-parts.ts';
import { BEARER, isObject, TOKEN, type Values, type WireVendor } from './terms.ts';
import type { StoredRecord, VendorStore } from './vendor-store.ts';

export function generatedWire(declared: DeclaredProvider, objectName: string): WireVendor {
  const said = declaration.parse(declared.records);
  const vendor = { displayName: declared.displayName, declaration: said };
  const object = findObject(vendor, objectName);
  const textField = textFieldOf(object);
  const all: Said = { said, object, objectName, textField };
  const facts = Object.keys(said.inputs).map((name) => [name, FACT.fact(name)]);
  return {
    objectName,
    textField,
    missingId: idText(object, 'missing'),
    facts: Object.fromEntries(facts),
    needs: neededBy(object),
    isSearched: false,
    ...(!object.changedAt && !object.all.since && { tellsNoChanges: true }),
    fixture: {
      idOf: (n) => `r${n}`,
      refOf: (id) => idText(object, String(id)),
      headers: credentialsOf(declared),
      contentType: '',
      invalidStatus: 400,
      refusal: (_status, message) => withValue({}, said.errors.messages[0] || '/message', message),
      problemWith: () => null,
      other: (request, store, now, url) => response(all, request, { store, now, url }),
      object: { lists: [], show: (record) => shown(all, record) },
    },
  };
}

function credentialsOf({ apiKey }: DeclaredProvider): Record<string, string> {
  if (apiKey?.in !== 'header') return BEARER;
  return { [apiKey.name.toLowerCase()]: `${apiKey.valuePrefix ?? ''}${TOKEN}` };
}

function textFieldOf({ id, standardFields = {}, changedAt }: ObjectDeclaration): string {
  const names = Object.entries(standardFields).filter(([, type]) => type === 'STRING');
  const usable = names
    .map(([name]) => name)
    .filter((name) => id !== `/${name}` && !/(^|_)id$|Id$/.test(name));
  return usable.find((name) => !changedAt?.at.endsWith(name)) ?? 'text';
}

/** The fields of a record that the path of a create names. */
function neededBy(object: ObjectDeclaration): Values {
  const { create } = object;
  const names = create ? variablesIn(create.path, create.body) : [];
  const idParts = typeof object.id === 'string' ? {} : object.id.parts;
  const partFor = (name: string) => (typeof idParts[name] === 'object' ? OWNED_ID : PARENT_ID);
  return Object.fromEntries(
    names.filter((name) => name !== 'object').map((name) => [name, partFor(name)]),
  );
}

interface Served {
  store: VendorStore;
  now: Date;
  url: string;
}

function response(all: Said, request: ServedRequest, served: Served): ServedResponse | undefined {
  return (
    parentResponse(all, request) ??
    fetchedResponse(all, request, served) ??
    answerList(all, request, served) ??
    describedResponse(all, request) ??
    batchResponse(all, request, served) ??
    changeResponse(all, request, served)
  );
}

/** One parent of each kind, which has all the records below it. */
function parentResponse(
  { said, object }: Said,
  request: ServedRequest,
): ServedResponse | undefined {
  for (let { parent } = object; parent; parent = said.objects[parent.object]?.parent) {
    const above = said.objects[parent.object];
    if (!above || !isAt(above.all, request, {})) continue;
    const record = shown({ object: above }, { id: PARENT_ID, changedAt: new Date(0), values: {} });
    return { status: 200, body: put({}, above.all.records, [record]) };
  }
  return undefined;
}

function describedResponse(
  { object: { fields }, objectName, textField }: Said,
  request: ServedRequest,
): ServedResponse | undefined {
  if (!fields || request.method !== 'GET') return undefined;
  const path = fillPath(fields.path, { object: objectName }, FACT);
  const asked = Object.values(fields.query).some((value) => value.includes('{object}'));
  if (decodeURIComponent(request.path) !== decodeURIComponent(path)) return undefined;
  if (asked && ![...request.query.values()].includes(objectName)) return undefined;
  const name = textField.slice(fields.prefix.length);
  return { status: 200, body: put({}, fields.fields, [withValue({}, fields.name, name)]) };
}

/** An outcome for each record of a list, in its order. */
function batchResponse(
  { object, objectName, textField }: Said,
  request: ServedRequest,
  { store, now }: Served,
): ServedResponse | undefined {
  const variables = { object: objectName };
  const way = [object.createMany, object.updateMany].find(
    (one) => one && isAt(one, request, variables),
  );
  const found = way && valueAt(request.body, way.records);
  if (!way || !Array.isArray(found)) return undefined;
  const outcomes = found.filter(isObject).map((fields) => {
    const { id, ...values } = fields;
    const record = way === object.createMany ? undefined : store.find(String(id));
    if (way === object.updateMany && !record) return refusal(way, 'No such record');
    if (tooLong(values[textField])) return refusal(way, `${textField} is too long`);
    const kept = record ?? store.create({}, now);
    Object.assign(kept.values, values);
    kept.changedAt = now;
    const taken = withValue({}, way.success.at, way.success.value);
    return withValue(taken, way.recordId, idText(object, String(kept.id)));
  });
  return { status: 200, body: put({}, way.outcomes, outcomes) };
}

function refusal({ errors }: Batch, message: string): Values {
  return withValue({}, errors[0] ?? '/message', message);
}

function changeResponse(
  { said, object, objectName, textField }: Said,
  request: ServedRequest,
  { store, now }: Served,
): ServedResponse {
  const { create, update, remove } = object;
  const refused = (status: number, message: string): ServedResponse => ({
    status,
    body: withValue({}, said.errors.messages[0] || '/message', message),
  });
  const named = store.records.find(({ id }) =>
    [remove, update].some(
      (way) => way && refersTo(object, way, { request, objectName, id: String(id) }),
    ),
  );
  // A create and an update at one address differ by the ID in the body.
  const names = update?.id !== undefined && update.path === create?.path;
  const isUpdate = names && valueAt(request.body, update.id ?? '') != null;
  if (create && isAt(create, request, { object: objectName }) && !named && !isUpdate) {
    const values = { ...valuesIn(object, create, request), ...namedIn(create.body, request.body) };
    if (tooLong(values[textField])) return refused(400, `${textField} is too long`);
    return written(object, create, store.create(values, now));
  }
  if (!named) return refused(404, 'Not found');
  const id = String(named.id);
  const isRemoval = remove && refersTo(object, remove, { request, objectName, id });
  if (isRemoval && says(request.body, remove.body)) {
    store.remove(named);
    const body = remove.success ? put({}, remove.success.at, remove.success.value) : {};
    return { status: 200, body };
  }
  if (!update) return refused(405, 'Not allowed');
  const values = valuesIn(object, update, request);
  if (tooLong(values[textField])) return refused(400, `${textField} is too long`);
  Object.assign(named.values, values);
  named.changedAt = now;
  return written(object, update, named);
}

function refersTo(
  object: ObjectDeclaration,
  way: WirePlace & { id?: string | undefined },
  { request, objectName, id }: { request: ServedRequest; objectName: string; id: string },
): boolean {
  const text = idText(object, id);
  const parts = typeof object.id === 'string' ? [] : partsOf(object.id, id);
  const names = typeof object.id === 'string' ? [] : Object.keys(object.id.parts);
  const variables = {
    object: objectName,
    id: text,
    ...Object.fromEntries(names.map((name, n) => [name, parts[n] ?? ''])),
  };
  if (!isAt(way, request, variables)) return false;
  return way.id === undefined || findId(valueAt(request.body, way.id)) === text;
}

/** Whether a body has what is said: a change that takes a record away is told by that from any other. */
function says(sent: unknown, said: unknown): boolean {
  if (!isObject(said)) return said === undefined || sent === said || VARIABLE.test(String(said));
  return isObject(sent) && Object.entries(said).every(([name, one]) => says(sent[name], one));
}

const VARIABLE = /^\{(\w+)\}$/;

const tooLong = (value: unknown) => String(value ?? '').length > 200;

/** What a body has in place of `{name}`, by that name. */
function namedIn(said: unknown, sent: unknown): Values {
  if (!isObject(said) || !isObject(sent)) return {};
  const found = Object.entries(said).map(([member, one]) => {
    const [, name] = VARIABLE.exec(typeof one === 'string' ? one : '') ?? [];
    return name === undefined ? namedIn(one, sent[member]) : { [name]: sent[member] };
  });
  return Object.assign({}, ...found);
}

function valuesIn(
  object: ObjectDeclaration,
  { wrap, encoded }: Write,
  { body }: ServedRequest,
): Values {
  const at = valueAt(body, wrap);
  const found: unknown = encoded ? JSON.parse(String(at)) : at;
  const own = isObject(found) ? found : {};
  const maps = object.nested.map(({ at }) => valueAt(own, at)).filter(isObject);
  return Object.assign({}, own, ...maps);
}

function written(object: ObjectDeclaration, way: Write, record: StoredRecord): ServedResponse {
  if (way.record === undefined) return { status: 204 };
  let body = put({}, way.record, shown({ object }, record));
  if (way.recordId) body = put(body as Values, `${way.record}${way.recordId}`, record.id);
  if (way.success) body = put(body as Values, way.success.at, way.success.value);
  return { status: 200, body };
}
