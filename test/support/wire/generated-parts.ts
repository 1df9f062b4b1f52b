/** What servers that are made from a declaration are made of: addresses, ids and records as it says. */
import { isDeepStrictEqual } from 'node:util';
import type {
  Declaration,
  ObjectDeclaration,
} from '../../../src/providers/declarative/declaration/declaration.ts';
import type { Write } from '../../../src/providers/declarative/declaration/object-declaration.ts';
import { withValue } from '../../../src/providers/declarative/json.ts';
import { writeTime } from '../../../src/providers/declarative/times.ts';
import type { ServedRequest } from '../providers/provider-server.ts';
import { isObject, type Values } from './terms.ts';
import type { StoredRecord } from './vendor-store.ts';

/** What paths are filled with. */
export const FACT = { fact: (name: string) => `the-${name}` };
export const PARENT_ID = 'parent-1';
/** What a pattern finds at the end of an address. */
export const OWNED_ID = 'owner/parent-1';

export interface Said {
  said: Declaration;
  object: ObjectDeclaration;
  objectName: string;
  textField: string;
}

/** Ids of several parts have the record's own in the last of them. */
export function idText({ id }: ObjectDeclaration, own: string): string {
  if (typeof id === 'string') return own;
  return partsOf(id, own).join(id.separator);
}

export function partsOf(id: Exclude<ObjectDeclaration['id'], string>, own: string): string[] {
  const parts = Object.values(id.parts);
  return parts.map((part, n) => {
    if (n === parts.length - 1) return own;
    return typeof part === 'string' ? PARENT_ID : OWNED_ID;
  });
}

/** The record as the declaration reads it. */
export function shown({ object }: Pick<Said, 'object'>, { id, changedAt, values }: StoredRecord) {
  const own = String(id);
  let record: Values = {};
  const map = object.nested.find(({ names, entries }) => !names && !entries);
  for (const [name, value] of Object.entries(values)) {
    record = withValue(record, `${map?.at ?? ''}/${name}`, value);
  }
  if (object.changedAt) {
    const { at, format } = object.changedAt;
    const text = writeTime(changedAt, format);
    record = withValue(record, at, format.startsWith('unix') ? Number(text) : text);
  }
  if (typeof object.id === 'string') return withValue(record, object.id, own);
  const parts = partsOf(object.id, own);
  for (const [n, part] of Object.values(object.id.parts).entries()) {
    record =
      typeof part === 'string'
        ? withValue(record, part, parts[n])
        : withValue(record, part.at, `https://vendor.example/${parts[n]}`);
  }
  return record;
}

export function put(body: Values, at: string, value: unknown): unknown {
  return at === '' ? value : withValue(body, at, value);
}

export type WirePlace = Pick<Write, 'path'> & { method: string; body?: Values | undefined };

/** Whether a request is for a place, with its variables; GraphQL has one address, and tells by its text. */
export function isAt(
  place: WirePlace,
  request: ServedRequest,
  variables: Record<string, string>,
): boolean {
  if (place.method !== request.method) return false;
  const parts = place.path.split(/(\{\{\w+\}\}|\{\+?\w+\})/);
  const pattern = parts.map((part) => patternOf(part, variables)).join('');
  if (!new RegExp(`^${pattern || '/'}$`).test(decodeURIComponent(request.path))) return false;
  if (!hasVariables(place.body, request.body, variables)) return false;
  const query = place.body?.query;
  if (typeof query !== 'string') return true;
  return isDeepStrictEqual(isObject(request.body) ? request.body.query : undefined, query);
}

/** Texts of a body that are `{name}` alone stand for what is known by that name. */
function hasVariables(said: unknown, sent: unknown, variables: Record<string, string>): boolean {
  if (typeof said === 'string') {
    const [, name = ''] = /^\{(\w+)\}$/.exec(said) ?? [];
    return variables[name] === undefined || sent === variables[name];
  }
  if (!isObject(said)) return true;
  const parts = isObject(sent) ? sent : {};
  return Object.entries(said).every(([name, one]) => hasVariables(one, parts[name], variables));
}

function patternOf(part: string, variables: Record<string, string>): string {
  const [, fact] = /^\{\{(\w+)\}\}$/.exec(part) ?? [];
  if (fact !== undefined) return FACT.fact(fact);
  const [, mark, name] = /^\{(\+?)(\w+)\}$/.exec(part) ?? [];
  if (name === undefined) return escaped(part);
  return escaped(variables[name] ?? '') || (mark === '+' ? '.+' : '[^/]+');
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
