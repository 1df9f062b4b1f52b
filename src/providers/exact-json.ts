/** Matches long numbers. Most responses have none, and are parsed without a check of each value. */
const LONG_NUMBER = /(^|[\s:[,])-?\d{16}/;

/**
 * Parses JSON of a provider. An integer beyond the range of a JavaScript number becomes a string with the same digits; most
 * of these are ids. Returns the string itself if it is not JSON, and null if it is empty. Throws a RangeError for JSON with
 * long numbers that is nested thousands of levels deep.
 */
export function parseExactJson(text: string): unknown {
  if (text === '') return null;
  try {
    return LONG_NUMBER.test(text) ? JSON.parse(text, keepExactNumber) : JSON.parse(text);
  } catch (error) {
    if (error instanceof RangeError) throw error;
    return text;
  }
}

function keepExactNumber(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  return /^-?\d+$/.test(context?.source ?? '') ? context?.source : value;
}
