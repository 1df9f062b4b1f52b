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
  return toStorable(value) as T;
}

function toStorable(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value);
  if (Array.isArray(value)) return value.map(toStorable);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [storableText(name), toStorable(member)]),
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
  return sortKeys(value) as T;
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const members = Object.entries(value).map(([name, member]) => ({
    name,
    bytes: Buffer.from(name),
    member: sortKeys(member),
  }));
  members.sort((a, b) => a.bytes.length - b.bytes.length || a.bytes.compare(b.bytes));
  return Object.fromEntries(members.map(({ name, member }) => [name, member]));
}
