/** What the wire formats of vendors are written with. */
import { BadRequest } from './paging.ts';
import type { VendorFixture, WireChange } from './vendor-server.ts';
import type { StoredRecord } from './vendor-store.ts';

/** A vendor's wire format, and what the provider contract tries on it. */
export interface WireVendor {
  fixture: VendorFixture;
  objectName: string;
  textField: string;
  missingId: string;
  /** What a record needs beside its text. */
  needs?: Record<string, unknown>;
  /** Facts of the connection, beside its credentials. */
  facts?: Record<string, string>;
  /** False if it answers requests with conditions on fields as though they had none. */
  isSearched?: false;
  /** The vendor says of no record when it changed. */
  tellsNoChanges?: true;
}

export const TOKEN = 'vendor-token';
export const BEARER = { authorization: `Bearer ${TOKEN}` };

export type Values = Record<string, unknown>;

export function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The members of a body, which must lie under `name` if there is one. */
export function membersOf(name: string | null): WireChange['valuesIn'] {
  return (body) => {
    const found = name === null ? body : isObject(body) ? body[name] : undefined;
    if (isObject(found)) return found;
    throw new BadRequest(name === null ? 'The body must be an object' : `${name} is missing`);
  };
}

export function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}

export function isoSeconds(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}

export function timeIn(query: URLSearchParams, name: string): Date | null {
  const text = query.get(name);
  if (text === null) return null;
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text)) {
    throw new BadRequest(`${name} must be an RFC 3339 time`);
  }
  return new Date(text);
}

export function unixIn(query: URLSearchParams, name: string): Date | null {
  const text = query.get(name);
  if (text === null) return null;
  if (!/^\d{9,10}(\.\d{1,3})?$/.test(text)) throw new BadRequest(`${name} must be unix seconds`);
  return new Date(Number(text) * 1000);
}

/** Vendors compare what they show: times cut to the second. */
export function shownTime({ changedAt }: StoredRecord): number {
  return seconds(changedAt) * 1000;
}

export function tooLong(field: string) {
  return (values: Values) =>
    String(values[field] ?? '').length > 200 ? `${field} is too long` : null;
}

/** The same members at the top of the body, and the record as the whole answer. */
export function plainChange(method: string, path: string, status: number): WireChange {
  return { method, path, status, valuesIn: membersOf(null), answer: (record) => record };
}

/** Under a name, both ways. */
export function wrappedChange(
  name: string,
  { method, path, status }: { method: string; path: string; status: number },
): WireChange {
  const response = (record: Values) => ({ [name]: record });
  return { method, path, status, valuesIn: membersOf(name), answer: response };
}

/** What a vendor's message is, whatever the failure. */
export function saying(name: string): VendorFixture['refusal'] {
  return (_status, message) => ({ [name]: message });
}

/** Members that lie deep in a body: `data.attributes`. */
export function membersAt(...names: string[]): WireChange['valuesIn'] {
  return (body) => {
    let found = body;
    for (const name of names) found = membersOf(name)(found);
    return membersOf(null)(found);
  };
}

/** A JSON body with a query's parameters, so that one way of paging reads both. */
export function bodyAsQuery(body: unknown): URLSearchParams {
  const members = isObject(body) ? Object.entries(body) : [];
  return new URLSearchParams(members.map(([name, value]) => [name, String(value)]));
}

/** Between two times that are shown in whole seconds, both included. */
export function within(
  records: StoredRecord[],
  since: Date | null,
  until: Date | null,
): StoredRecord[] {
  return records.filter(
    (record) =>
      (!since || shownTime(record) >= since.getTime()) &&
      (!until || shownTime(record) <= until.getTime()),
  );
}
