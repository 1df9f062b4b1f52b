/** Reads and splits record ids. An id is one member of the record, or several parts joined to one string. */
import type { ObjectDeclaration } from './declaration/declaration.ts';
import type { IdParts } from './declaration/object-declaration.ts';
import { findValue, parseId } from './json.ts';
import type { TemplateVariables } from './template.ts';

type IdDeclaration = ObjectDeclaration['id'];

/** Returns the id of a record. Null if it has none. */
export function findRecordId(id: IdDeclaration, record: unknown): string | null {
  if (typeof id === 'string') return parseId(findValue(record, id));
  const parts = Object.values(id.parts).map((part) => findPart(part, record));
  return parts.every((part) => part !== null) ? parts.join(id.separator) : null;
}

function findPart(part: IdParts['parts'][string], record: unknown): string | null {
  if (typeof part === 'string') return parseId(findValue(record, part));
  const segments = (parseId(findValue(record, part.at)) ?? '').split('/').slice(-part.lastSegments);
  const isComplete = segments.length === part.lastSegments && !segments.includes('');
  return isComplete ? segments.join('/') : null;
}

/** Returns the path variables of an id: the id itself, and its parts. Null if no record can have this id. */
export function listIdVariables(id: IdDeclaration, value: unknown): TemplateVariables | null {
  const text = parseId(value);
  if (text === null || text === '.' || text === '..') return null;
  if (typeof id === 'string') return { id: text };
  const names = Object.keys(id.parts);
  const parts = text.split(id.separator);
  if (parts.length !== names.length || parts.includes('')) return null;
  return { id: text, ...Object.fromEntries(names.map((name, index) => [name, parts[index]])) };
}
