/** Types and functions that the vendors' wire formats share. */
import { BadRequest } from './paging.ts';
import type { VendorFixture, WireChange } from './vendor-server.ts';
import type { StoredRecord } from './vendor-store.ts';

/** A vendor's wire format, with the values that the contract tests use. */
export interface WireVendor {
  fixture: VendorFixture;
  objectName: string;
  textField: string;
  missingId: string;
  /** Further fields that a record must have. */
  requiredValues?: Record<string, unknown>;
  /** Metadata of the connection, in addition to its credentials. */
  metadata?: Record<string, string>;
  /** False if the server ignores conditions on fields. */
  canSearch?: false;
  /** True if the vendor's records have no time of their last change. */
  lacksChangeTimes?: true;
}

export const TOKEN = 'vendor-token';
export const BEARER = { authorization: `Bearer ${TOKEN}` };

export type Values = Record<string, unknown>;

export function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a function that reads the member `name` of a body, or the body itself if `name` is null. */
export function readMembers(name: string | null): WireChange['readValues'] {
  return (body) => {
    const members = name === null ? body : isObject(body) ? body[name] : undefined;
    if (isObject(members)) return members;
    throw new BadRequest(name === null ? 'The body must be an object' : `${name} is missing`);
  };
}

export function toSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}

export function toIsoSeconds(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}

export function readTime(query: URLSearchParams, name: string): Date | null {
  const text = query.get(name);
  if (text === null) return null;
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text)) {
    throw new BadRequest(`${name} must be an RFC 3339 time`);
  }
  return new Date(text);
}

export function readUnixTime(query: URLSearchParams, name: string): Date | null {
  const text = query.get(name);
  if (text === null) return null;
  if (!/^\d{9,10}(\.\d{1,3})?$/.test(text)) throw new BadRequest(`${name} must be Unix seconds`);
  return new Date(Number(text) * 1000);
}

/** Vendors return and compare times rounded down to the second. */
export function roundToSecond({ changedAt }: StoredRecord): number {
  return toSeconds(changedAt) * 1000;
}

export function createLengthCheck(field: string) {
  return (values: Values) =>
    String(values[field] ?? '').length > 200 ? `${field} is too long` : null;
}

/** A change whose body has the values at the top and whose response is the record. */
export function createPlainChange(method: string, path: string, status: number): WireChange {
  return { method, path, status, readValues: readMembers(null), toBody: (record) => record };
}

/** Returns the values of a nested member, such as `data.attributes`. */
export function readNestedMembers(...names: string[]): WireChange['readValues'] {
  return (body) => {
    let nested = body;
    for (const name of names) nested = readMembers(name)(nested);
    return readMembers(null)(nested);
  };
}

/**
 * Returns a reader of the attributes of a JSON:API resource. A body must have the resource's type, and the
 * body of an update also its ID.
 */
export function createResourceReader(type: string, isUpdate: boolean): WireChange['readValues'] {
  return (body) => {
    const data = isObject(body) && isObject(body.data) ? body.data : {};
    if (data.type !== type) throw new BadRequest(`The type is not ${type}`);
    if (isUpdate && !data.id) throw new BadRequest('The id is missing');
    return readNestedMembers('data', 'attributes')(body);
  };
}

/** Converts a JSON body to a query string, so that the same paging functions read both. */
export function toQuery(body: unknown): URLSearchParams {
  const members = isObject(body) ? Object.entries(body) : [];
  return new URLSearchParams(members.map(([name, value]) => [name, String(value)]));
}

/** Returns the records that changed between two times, both inclusive. Compares whole seconds. */
export function selectChanged(
  records: StoredRecord[],
  since: Date | null,
  until: Date | null,
): StoredRecord[] {
  return records.filter(
    (record) =>
      (!since || roundToSecond(record) >= since.getTime()) &&
      (!until || roundToSecond(record) <= until.getTime()),
  );
}
