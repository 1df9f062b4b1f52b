/** Timestamps as PostgreSQL writes them in UTC: far quicker than a parser for every form that it knows. */

const ZERO = 48;
const DASH = 45;
/** Columns have milliseconds; zeros at their end are left out. */
const MISSING = ['000', '00', '0', ''];

/** A time as a column gave it, with its text in ISO 8601: nearly all of them are only shown. Not to be changed. */
class StoredTime extends Date {
  readonly #iso: string;

  constructor(ms: number, iso: string) {
    super(ms);
    this.#iso = iso;
  }

  override toISOString(): string {
    return this.#iso;
  }

  override toJSON(): string {
    return this.#iso;
  }
}

/** The reading of `2026-01-31 12:00:00.123+00`; null for any other form. */
export function timestampOf(text: string): Date | null {
  const digits = Math.max(0, text.length - 23);
  const isUsual = text.length > 21 && digits < 4 && text.endsWith('+00');
  if (!isUsual || text.charCodeAt(4) !== DASH) return null;
  const at = (index: number) => text.charCodeAt(index) - ZERO;
  const two = (index: number) => at(index) * 10 + at(index + 1);
  const fraction = text.slice(20, 20 + digits) + MISSING[digits];
  const [year, month, day] = [two(0) * 100 + two(2), two(5) - 1, two(8)];
  const ms = Date.UTC(year, month, day, two(11), two(14), two(17), Number(fraction));
  return new StoredTime(ms, `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction}Z`);
}
