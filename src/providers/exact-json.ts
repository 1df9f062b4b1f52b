import { getStringEnd } from '../work/json-size.ts';

/** Matches long numbers. Most responses have none, and are parsed as they are. */
const LONG_NUMBER = /(^|[\s:[,])-?\d{16}/;
const INTEGER = /^-?[1-9]\d*$/;
/** Shorter integers are exact. */
const INEXACT_LENGTH_MIN = 16;
const QUOTE = 0x22;
const OTHER_CODES = new Set([...'+-.eE'].map((character) => character.charCodeAt(0)));

/**
 * Parses JSON of a provider. An integer beyond the range of a JavaScript number becomes a string with the same digits; most
 * of these are ids. Returns the string itself if it is not JSON, and null if it is empty. `exactText` is the text with its
 * long integers as strings.
 */
export function parseExactJson(text: string, exactText = quoteLongIntegers(text)): unknown {
  if (text === '') return null;
  try {
    return JSON.parse(exactText);
  } catch {
    return text;
  }
}

/**
 * Returns the text with long integers as strings of JSON. A reviver of `JSON.parse` would take a microsecond for each value,
 * which is seconds for the longest responses.
 */
export function quoteLongIntegers(text: string): string {
  if (!LONG_NUMBER.test(text)) return text;
  const parts: string[] = [];
  let copiedEnd = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = getStringEnd(text, index);
    if (!isInNumber(code)) continue;
    const start = index;
    while (isInNumber(text.charCodeAt(index + 1))) index += 1;
    if (index + 1 - start < INEXACT_LENGTH_MIN) continue;
    const number = text.slice(start, index + 1);
    if (!INTEGER.test(number) || Number.isSafeInteger(Number(number))) continue;
    parts.push(text.slice(copiedEnd, start), `"${number}"`);
    copiedEnd = index + 1;
  }
  return parts.length === 0 ? text : parts.join('') + text.slice(copiedEnd);
}

/** True for characters of numbers: digits, signs, points and exponents. */
function isInNumber(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || OTHER_CODES.has(code);
}
