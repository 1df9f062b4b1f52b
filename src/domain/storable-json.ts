/** True if a text can be stored unchanged. PostgreSQL refuses NUL, and lone surrogates become other characters. */
export function isStorableText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** Removes NUL and replaces lone surrogates, which PostgreSQL refuses in JSON. */
export function storableText(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}

/** Returns a copy in which every text and member name can be stored. */
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

/** Types a JSON column as `T`. The caller must be the only writer of the column. */
export function storedJson<T>(column: unknown): T {
  return column as T;
}

/**
 * Returns a copy with its members in PostgreSQL's order: by length, then by bytes of their names. Its text is the same
 * before it is stored and after it was read.
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
