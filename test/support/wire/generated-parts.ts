/** Paths, IDs and records for servers that are generated from a declaration. */
import { isDeepStrictEqual } from 'node:util';
import type {
  Declaration,
  ObjectDeclaration,
} from '../../../src/providers/declarative/declaration/declaration.ts';
import type { Write } from '../../../src/providers/declarative/declaration/object-declaration.ts';
import { withValue } from '../../../src/providers/declarative/json.ts';
import { formatTime } from '../../../src/providers/declarative/times.ts';
import type { ServedRequest } from '../providers/provider-server.ts';
import type { StoredRecord } from './vendor-store.ts';
import { isObject, type Values } from './wire-format.ts';

/** Values of the metadata in paths. */
export const METADATA = { findMetadata: (name: string) => `the-${name}` };
export const PARENT_ID = 'parent-1';
/** The ID that a declared pattern extracts from the end of a URL. */
export const OWNED_ID = 'owner/parent-1';

export interface DeclaredObject {
  declaration: Declaration;
  object: ObjectDeclaration;
  objectName: string;
  textField: string;
}

/** Returns the record's whole ID. In a composite ID, `recordId` is the last part. */
export function toWholeId({ id }: ObjectDeclaration, recordId: string): string {
  if (typeof id === 'string') return recordId;
  return listIdParts(id, recordId).join(id.separator);
}

export function listIdParts(
  id: Exclude<ObjectDeclaration['id'], string>,
  recordId: string,
): string[] {
  const parts = Object.values(id.parts);
  return parts.map((part, index) => {
    if (index === parts.length - 1) return recordId;
    return typeof part === 'string' ? PARENT_ID : OWNED_ID;
  });
}

/** Writes the record so that the declaration reads it back. */
export function writeRecord(
  { object }: Pick<DeclaredObject, 'object'>,
  { id, changedAt, values }: StoredRecord,
) {
  const recordId = String(id);
  let record: Values = {};
  const map = object.nestedFields.find(({ names, entries }) => !names && !entries);
  for (const [name, value] of Object.entries(values)) {
    record = withValue(record, `${map?.at ?? ''}/${name}`, value);
  }
  if (object.changedAt) {
    const { at, format } = object.changedAt;
    const text = formatTime(changedAt, format);
    record = withValue(record, at, format.startsWith('unix') ? Number(text) : text);
  }
  if (typeof object.id === 'string') return withValue(record, object.id, recordId);
  const parts = listIdParts(object.id, recordId);
  for (const [index, part] of Object.values(object.id.parts).entries()) {
    record =
      typeof part === 'string'
        ? withValue(record, part, parts[index])
        : withValue(record, part.at, `https://vendor.example/${parts[index]}`);
  }
  return record;
}

export function setValue(body: Values, pointer: string, value: unknown): unknown {
  return pointer === '' ? value : withValue(body, pointer, value);
}

export type WireEndpoint = Pick<Write, 'path'> & { method: string; body?: Values | undefined };

/**
 * True if the request is for the endpoint with these variables. GraphQL has one path, so its query text is
 * compared too.
 */
export function isRequestFor(
  endpoint: WireEndpoint,
  request: ServedRequest,
  variables: Record<string, string>,
): boolean {
  if (endpoint.method !== request.method) return false;
  const parts = endpoint.path.split(/(\{\{\w+\}\}|\{\+?\w+\})/);
  const pattern = parts.map((part) => toPattern(part, variables)).join('');
  if (!new RegExp(`^${pattern || '/'}$`).test(decodeURIComponent(request.path))) return false;
  if (!matchesVariables(endpoint.body, request.body, variables)) return false;
  const query = endpoint.body?.query;
  if (typeof query !== 'string') return true;
  return isDeepStrictEqual(isObject(request.body) ? request.body.query : undefined, query);
}

/** True if each text `{name}` in the declared body was replaced by the variable of that name. */
function matchesVariables(
  declaration: unknown,
  actual: unknown,
  variables: Record<string, string>,
): boolean {
  if (typeof declaration === 'string') {
    const [, name = ''] = /^\{(\w+)\}$/.exec(declaration) ?? [];
    return variables[name] === undefined || actual === variables[name];
  }
  if (!isObject(declaration)) return true;
  const parts = isObject(actual) ? actual : {};
  return Object.entries(declaration).every(([name, declaredMember]) =>
    matchesVariables(declaredMember, parts[name], variables),
  );
}

function toPattern(part: string, variables: Record<string, string>): string {
  const [, fact] = /^\{\{(\w+)\}\}$/.exec(part) ?? [];
  if (fact !== undefined) return METADATA.findMetadata(fact);
  const [, mark, name] = /^\{(\+?)(\w+)\}$/.exec(part) ?? [];
  if (name === undefined) return escapePattern(part);
  return escapePattern(variables[name] ?? '') || (mark === '+' ? '.+' : '[^/]+');
}

function escapePattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
