/** Places in JSON by pointer. */
import jsonPointer from 'jsonpointer';

/** Declarations have few, and each record of a list is asked for some of them. */
const COMPILED = new Map<string, ReturnType<typeof jsonPointer.compile>>();

/** Undefined if there is nothing. */
export function valueAt(json: unknown, pointer: string): unknown {
  if (pointer === '') return json;
  if (typeof json !== 'object' || json === null) return undefined;
  const compiled = COMPILED.get(pointer) ?? jsonPointer.compile(pointer);
  COMPILED.set(pointer, compiled);
  return compiled.get(json);
}

/** A copy of `json` with a value put at the place; what is missing on the way is made. */
export function withValue(
  json: Record<string, unknown>,
  pointer: string,
  value: unknown,
): Record<string, unknown> {
  const copy = structuredClone(json);
  jsonPointer.set(copy, pointer, value);
  return copy;
}

/** Ids are texts: a whole number is written out. Null for what names no record. */
export function findId(value: unknown): string | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : null;
  return typeof value === 'string' && value !== '' ? value : null;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
