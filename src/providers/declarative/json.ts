/** Reads and writes JSON by JSON Pointers. */
import jsonPointer from 'jsonpointer';

export type JsonObject = Record<string, unknown>;

/** A cache. Declarations have few pointers, and every record of a list is read with several of them. */
const compiledPointers = new Map<string, ReturnType<typeof jsonPointer.compile>>();

/** Returns the value at the pointer. Undefined if there is none. */
export function findValue(json: unknown, pointer: string): unknown {
  if (pointer === '') return json;
  if (typeof json !== 'object' || json === null) return undefined;
  const compiledPointer = compiledPointers.get(pointer) ?? jsonPointer.compile(pointer);
  compiledPointers.set(pointer, compiledPointer);
  return compiledPointer.get(json);
}

/** Returns a copy of `json` with the value at the pointer. Creates missing parents. */
export function withValue(json: JsonObject, pointer: string, value: unknown): JsonObject {
  const copy = structuredClone(json);
  jsonPointer.set(copy, pointer, value);
  return copy;
}

/** Converts a string or an integer to an id. Null for other values, and for the empty string. */
export function parseId(value: unknown): string | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : null;
  return typeof value === 'string' && value !== '' ? value : null;
}
