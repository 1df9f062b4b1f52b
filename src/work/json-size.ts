/**
 * Limits the values in a JSON text before it is parsed. The time of `JSON.parse` depends on the number of lists, objects
 * and different names more than on the length of the text.
 */

/** Shorter texts are parsed within 10 ms, whatever they contain. */
const SCANNED_LENGTH_MIN = 64 * 1024;
const MIB = 1024 * 1024;
/** Limits for each MiB of a text, or of a shorter one. A text at all limits is parsed in less than 30 ms. */
const CONTAINERS_PER_MIB_MAX = 50_000;
const VALUES_PER_MIB_MAX = 250_000;
/** Limit for a whole text: each different name takes a microsecond. No object of a provider has nearly as many fields. */
const NAMES_MAX = 10_000;

export interface JsonLimits {
  /** The maximum number of lists and objects. */
  containers: number;
  /** The maximum number of members and items. */
  values: number;
  /** The maximum number of different names of members. Default: no limit. */
  names?: number;
}

/**
 * Returns why a JSON text is refused without parsing it, as a sentence without its subject. Null if it may be parsed. A
 * text that is not JSON may have either result.
 */
export function findJsonExcess(text: string): string | null {
  if (text.length < SCANNED_LENGTH_MIN) return null;
  const mebibytes = Math.max(1, text.length / MIB);
  const limits = {
    containers: Math.floor(CONTAINERS_PER_MIB_MAX * mebibytes),
    values: Math.floor(VALUES_PER_MIB_MAX * mebibytes),
    names: NAMES_MAX,
  };
  return describeExcess(text, limits);
}

/** Returns the first limit that a JSON text exceeds, as a sentence without its subject. Null if it exceeds none. */
export function describeExcess(text: string, limits: JsonLimits): string | null {
  const { containers, values, names: namesMax = Number.POSITIVE_INFINITY } = limits;
  const size = { containers: 0, values: 0 };
  const names = limits.names === undefined ? null : new NameCount();
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) {
      const end = getStringEnd(text, index);
      if (names && isName(text, end)) names.add(text, index, end);
      index = end;
    } else if (code === COMMA) size.values += 1;
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      size.containers += 1;
      // The first value of a container follows no comma.
      if (!isClosing(text.charCodeAt(skipSpace(text, index + 1)))) size.values += 1;
    }
    if (size.containers > containers) return formatExcess(containers, 'lists and objects');
    if (size.values > values) return formatExcess(values, 'members and items');
    if (names && names.count > namesMax) {
      return formatExcess(namesMax, 'different names of members');
    }
  }
  return null;
}

function formatExcess(max: number, noun: string): string {
  return `must have at most ${max.toLocaleString('en')} ${noun}.`;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const SPACE = 0x20;

const isClosing = (code: number) => code === CLOSE_LIST || code === CLOSE_OBJECT;

/** Returns the position of the next character that is not a space. */
function skipSpace(text: string, start: number): number {
  let index = start;
  while (text.charCodeAt(index) <= SPACE) index += 1;
  return index;
}

/** Returns the position of the quote that ends the string from `start`, or the end of the text. */
export function getStringEnd(text: string, start: number): number {
  for (let end = start + 1; end < text.length; end += 1) {
    const code = text.charCodeAt(end);
    if (code === QUOTE) return end;
    if (code === BACKSLASH) end += 1;
  }
  return text.length;
}

/** True if a colon follows the string that ends at this position. */
function isName(text: string, end: number): boolean {
  return text.charCodeAt(skipSpace(text, end + 1)) === COLON;
}

/** The number of bits of a name's hash that are used. Different names with the same bits count once. */
const HASH_BITS = 18;
const SLOTS = 1 << HASH_BITS;

/** Counts different names without storing them. */
class NameCount {
  count = 0;
  readonly #seen = new Uint8Array(SLOTS);

  /** Adds the name between two quotes. Its hash is FNV-1a. */
  add(text: string, start: number, end: number): void {
    let hash = 0x811c9dc5;
    for (let index = start + 1; index < end; index += 1) {
      hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
    }
    const slot = (hash ^ (hash >>> HASH_BITS)) & (SLOTS - 1);
    if (this.#seen[slot] === 1) return;
    this.#seen[slot] = 1;
    this.count += 1;
  }
}
