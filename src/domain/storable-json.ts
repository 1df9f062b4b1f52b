/** Values from outside as a JSON column can hold them. */

/** Whether a text is stored as it is: PostgreSQL takes no NUL, and lone surrogates become other characters. */
export function isStorableText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** NUL and lone surrogates, which PostgreSQL refuses in JSON, are left out or replaced. */
export function storableText(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}

/** A copy in which every text can be stored, names of members too. */
export function storableJson<T>(value: T): T {
  return storable(value) as T;
}

function storable(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value);
  if (Array.isArray(value)) return value.map(storable);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [storableText(name), storable(member)]),
  );
}
