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

/** A column of JSON, as the one who reads it has stored it: nobody else writes it. */
export function storedJson<T>(column: unknown): T {
  return column as T;
}

/**
 * A copy with its members in the order in which PostgreSQL keeps them, by the length and the bytes of their names: it
 * becomes the same text before it is stored and after it was read.
 */
export function asStoredJson<T>(value: T): T {
  return ordered(value) as T;
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const members = Object.entries(value).map(([name, member]) => ({
    name,
    bytes: Buffer.from(name),
    member: ordered(member),
  }));
  members.sort((a, b) => a.bytes.length - b.bytes.length || a.bytes.compare(b.bytes));
  return Object.fromEntries(members.map(({ name, member }) => [name, member]));
}
