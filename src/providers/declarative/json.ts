/**
 * Reads and writes JSON by JSON Pointers (RFC 6901). Only own members count, so that neither a pointer nor a vendor's JSON
 * reaches the prototypes that all objects share.
 */
import { LRUCache } from 'lru-cache';
import { ProviderError } from '../provider-error.ts';

export type JsonObject = Record<string, unknown>;

/** Declarations have few pointers, and every record of a list is read with several of them. */
const splitPointers = new LRUCache<string, string[]>({ max: 10_000 });

/** Returns the unescaped members of a pointer. Empty for the whole document. */
function splitPointer(pointer: string): string[] {
  const knownParts = splitPointers.get(pointer);
  if (knownParts) return knownParts;
  const parts = pointer.split('/').slice(1).map(unescapePart);
  splitPointers.set(pointer, parts);
  return parts;
}

function unescapePart(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Escapes the name of a member for a pointer. */
export function escapePart(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Returns the value at the pointer. Undefined if there is none. */
export function findValue(json: unknown, pointer: string): unknown {
  let value = json;
  for (const part of splitPointer(pointer)) value = getMember(value, part);
  return value;
}

function getMember(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as JsonObject)[name];
}

/**
 * Returns a copy of `json` with the value at the pointer. Creates missing parents: a list where the pointer continues with
 * `0` or `-`, which appends to a list. Throws BAD_REQUEST if a parent can't have the member.
 */
export function withValue(json: JsonObject, pointer: string, value: unknown): JsonObject {
  const copy = structuredClone(json);
  const parts = splitPointer(pointer);
  let parent: unknown = copy;
  for (const [index, part] of parts.entries()) {
    const name = Array.isArray(parent) && part === '-' ? String(parent.length) : part;
    if (!canHaveMember(parent, name)) {
      throw new ProviderError('BAD_REQUEST', `No value can be set at ${pointer}`);
    }
    const nextPart = parts[index + 1];
    const member =
      nextPart === undefined ? value : (getMember(parent, name) ?? createParent(nextPart));
    // Defines the member, because an assignment to `__proto__` would replace the prototype.
    Object.defineProperty(parent, name, {
      value: member,
      configurable: true,
      enumerable: true,
      writable: true,
    });
    parent = member;
  }
  return copy;
}

/** An index beyond the end of a list is refused, because a list without its other items would have any length. */
function canHaveMember(parent: unknown, name: string): parent is object {
  if (Array.isArray(parent)) return Object.hasOwn(parent, name) || name === String(parent.length);
  return typeof parent === 'object' && parent !== null;
}

function createParent(nextPart: string): unknown[] | JsonObject {
  return nextPart === '0' || nextPart === '-' ? [] : {};
}

/** Returns the value of a name that the vendor or a caller chooses. Undefined if there is none of its own. */
export function readOwn<Value>(values: Record<string, Value>, name: string): Value | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

/** Converts a string or an integer to an id. Null for other values, and for the empty string. */
export function parseId(value: unknown): string | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : null;
  return typeof value === 'string' && value !== '' ? value : null;
}
