/** Parses columns for statements that bypass Prisma. The values are exact, and the same as those of Prisma. */
import pg from 'pg';

const ZERO_CODE = 48;
const DASH_CODE = 45;
/** Completes a time to milliseconds, by its number of decimals, because PostgreSQL omits trailing zeros. */
const MISSING_DIGITS = ['.000', '00', '0', ''];
const WHOLE_SECONDS_LENGTH = '2026-01-31 12:00:00'.length;
const OFFSET = '+00';
/** The calendar repeats after this number of years. Date.UTC maps years below 100 to the 1900s. */
const CYCLE_YEARS = 400;
const CYCLE_MS = 146_097 * 86_400_000;

/** The time of a column, with its text, because most times are only formatted. Must not be changed. */
class StoredTime extends Date {
  readonly #text: string;

  constructor(ms: number, text: string) {
    super(ms);
    this.#text = text;
  }

  override toISOString(): string {
    const text = this.#text;
    const end = text.length - OFFSET.length;
    const missingDigits = MISSING_DIGITS[Math.max(0, end - WHOLE_SECONDS_LENGTH - 1)];
    return `${text.slice(0, 10)}T${text.slice(11, end)}${missingDigits}Z`;
  }

  override toJSON(): string {
    return this.toISOString();
  }
}

/**
 * Parses `2026-01-31 12:00:00.123+00`, far faster than a parser for all forms of a timestamp. Null for another form.
 */
export function parseTimestamp(text: string): Date | null {
  const end = text.length - OFFSET.length;
  const digits = end - WHOLE_SECONDS_LENGTH - 1;
  const hasValidLength = end === WHOLE_SECONDS_LENGTH || (digits > 0 && digits < 4);
  if (!hasValidLength || text.charCodeAt(4) !== DASH_CODE || !text.endsWith(OFFSET)) return null;
  const ms = Date.UTC(
    parseTwoDigits(text, 0) * 100 + parseTwoDigits(text, 2) + CYCLE_YEARS,
    parseTwoDigits(text, 5) - 1,
    parseTwoDigits(text, 8),
    parseTwoDigits(text, 11),
    parseTwoDigits(text, 14),
    parseTwoDigits(text, 17),
    parseMilliseconds(text, end),
  );
  return new StoredTime(ms - CYCLE_MS, text);
}

function parseTwoDigits(text: string, index: number): number {
  return parseDigit(text, index) * 10 + parseDigit(text, index + 1);
}

function parseMilliseconds(text: string, end: number): number {
  let ms = 0;
  for (
    let position = WHOLE_SECONDS_LENGTH + 1, worth = 100;
    position < end;
    position += 1, worth /= 10
  ) {
    ms += parseDigit(text, position) * worth;
  }
  return ms;
}

function parseDigit(text: string, index: number): number {
  return text.charCodeAt(index) - ZERO_CODE;
}

const readTimestamp = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ) as (
  text: string,
) => Date;

export const COLUMN_TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => {
    if (format === 'binary') return pg.types.getTypeParser(oid, format);
    if (oid === pg.types.builtins.INT8) return BigInt;
    if (oid === pg.types.builtins.TIMESTAMPTZ) {
      return (text: string) => parseTimestamp(text) ?? readTimestamp(text);
    }
    return pg.types.getTypeParser(oid, format);
  },
};
