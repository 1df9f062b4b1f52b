/** True if a string can be stored unchanged. PostgreSQL refuses NUL, and UTF-8 can't encode lone surrogates. */
export function isStorableString(value: string): boolean {
  return !value.includes('\0') && value.isWellFormed();
}

/** Removes NUL and replaces lone surrogates, which PostgreSQL refuses in JSON. */
export function toStorableString(value: string): string {
  return value.replaceAll('\0', '').toWellFormed();
}

/** Returns a copy in which every string and member name can be stored. */
export function toStorableJson<T>(value: T): T {
  return convertValue(value) as T;
}

function convertValue(value: unknown): unknown {
  if (typeof value === 'string') return toStorableString(value);
  if (Array.isArray(value)) return value.map(convertValue);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [toStorableString(name), convertValue(member)]),
  );
}

/** Casts a JSON column to `T` without a check. The caller must be the only writer of the column. */
export function castJsonColumn<T>(column: unknown): T {
  return column as T;
}

/**
 * Returns a copy with members in the order of PostgreSQL's `jsonb`: by the length of their names, then by their bytes.
 * A sorted value serializes to the same JSON before and after it is stored.
 */
export function sortJsonMembers<T>(value: T): T {
  return sortMembers(value) as T;
}

function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const members = Object.entries(value).map(([name, member]) => ({
    name,
    bytes: Buffer.from(name),
    member: sortMembers(member),
  }));
  members.sort((a, b) => a.bytes.length - b.bytes.length || a.bytes.compare(b.bytes));
  return Object.fromEntries(members.map(({ name, member }) => [name, member]));
}
