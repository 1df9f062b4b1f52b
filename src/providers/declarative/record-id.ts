/** Ids of records: one place in the record, or several parts in one text. */
import type { ObjectDeclaration } from './declaration/declaration.ts';
import type { IdParts } from './declaration/object-declaration.ts';
import { findId, valueAt } from './json.ts';
import type { Variables } from './template.ts';

type Id = ObjectDeclaration['id'];

/** Null for a record without one. */
export function idOf(id: Id, record: unknown): string | null {
  if (typeof id === 'string') return findId(valueAt(record, id));
  const parts = Object.values(id.parts).map((part) => partOf(part, record));
  return parts.every((part) => part !== null) ? parts.join(id.separator) : null;
}

function partOf(part: IdParts['parts'][string], record: unknown): string | null {
  if (typeof part === 'string') return findId(valueAt(record, part));
  const found = part.pattern.exec(findId(valueAt(record, part.at)) ?? '');
  return found?.[1] ?? null;
}

/** What paths may name of an id; null for a text that no record can have. */
export function idVariables(id: Id, value: unknown): Variables | null {
  const text = findId(value);
  if (text === null || text === '.' || text === '..') return null;
  if (typeof id === 'string') return { id: text };
  const names = Object.keys(id.parts);
  const parts = text.split(id.separator);
  if (parts.length !== names.length || parts.includes('')) return null;
  return { id: text, ...Object.fromEntries(names.map((name, n) => [name, parts[n]])) };
}
