/** Serializes a long result over several turns of the event loop, so that other requests run in between. */
import type { Pace } from './pace.ts';

/** Items of a list that are serialized together. */
const ITEMS_PER_PART = 100;

/** The minimum number of characters in a part. */
const PART_CHARACTERS = 16_384;
/** Serializing this many characters takes about as long as completing one object. */
const CHARACTERS_PER_ITEM = 1_000;

/** Returns the JSON of a value, in parts. Objects must not have `toJSON` methods. */
export async function serializeInParts(value: unknown, pace: Pace): Promise<Buffer[]> {
  const parts: Buffer[] = [];
  let text = '';
  for (const json of generateJson(value)) {
    text += json;
    if (text.length < PART_CHARACTERS) continue;
    parts.push(Buffer.from(text));
    await pace.waitForAllowance(text.length / CHARACTERS_PER_ITEM);
    text = '';
  }
  return [...parts, Buffer.from(text)];
}

/** Yields the JSON of short lists and of objects without lists as a whole. */
function* generateJson(value: unknown): Generator<string> {
  if (!containsList(value)) {
    yield JSON.stringify(value);
  } else if (Array.isArray(value)) {
    yield* generateItems(value);
  } else {
    yield* generateMembers(value);
  }
}

function* generateItems(items: unknown[]): Generator<string> {
  yield '[';
  if (containsList(items[0])) {
    for (const [index, item] of items.entries()) {
      if (index > 0) yield ',';
      yield* generateJson(item);
    }
  } else {
    for (let start = 0; start < items.length; start += ITEMS_PER_PART) {
      if (start > 0) yield ',';
      yield JSON.stringify(items.slice(start, start + ITEMS_PER_PART)).slice(1, -1);
    }
  }
  yield ']';
}

function* generateMembers(object: object): Generator<string> {
  let separator = '{';
  for (const [name, member] of Object.entries(object)) {
    if (member === undefined) continue;
    yield `${separator}${JSON.stringify(name)}:`;
    yield* generateJson(member);
    separator = ',';
  }
  yield '}';
}

/** True for a list and for an object that contains one. */
function containsList(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  return Array.isArray(value) || Object.values(value).some(containsList);
}
