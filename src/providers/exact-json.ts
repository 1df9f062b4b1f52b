/**
 * JSON of a provider. A whole number that a JavaScript number can't hold stays as it was written, as a text: most are
 * ids. What is no JSON is given as the text; null if it is empty.
 */
export function parseExactly(text: string): unknown {
  if (text === '') return null;
  try {
    return LONG_NUMBER.test(text) ? JSON.parse(text, exactly) : JSON.parse(text);
  } catch {
    return text;
  }
}

/** Most answers have none, and are read without looking at each value. */
const LONG_NUMBER = /(^|[\s:[,])-?\d{16}/;

function exactly(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  return /^-?\d+$/.test(context?.source ?? '') ? context?.source : value;
}
