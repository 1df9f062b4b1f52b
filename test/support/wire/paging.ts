/**
 * The ways in which vendors page, each once, as their documents describe them. A page is cut from the
 * records that a request's filter leaves, in the order in which the vendor lists them.
 */
import type { ServedRequest } from '../providers/provider-server.ts';
import type { StoredRecord } from './vendor-store.ts';

export interface Cut {
  records: StoredRecord[];
  /** What asks for the page after this one; null on the last. */
  next: string | null;
  /** All that the filter left. */
  total: number;
  /** Headers that the answer has. */
  headers?: Record<string, string>;
}

/** Throws where the request asks in a way that the vendor refuses. */
export type Page = (records: StoredRecord[], request: ServedRequest, baseUrl: string) => Cut;

/** A request that the vendor answers with 400. */
export class BadRequest extends Error {}

interface Size {
  name: string;
  /** If the request names none. */
  fallback: number;
  max: number;
}

/** A cursor that only this vendor understands: it names the place after the last record given. */
export function byCursor(size: Size, parameter: string): Page {
  return (records, { query }) => {
    const from = offsetIn(query.get(parameter));
    return cut(records, from, sizeOf(query, size), (to) => `c_${to}`);
  };
}

function offsetIn(cursor: string | null): number {
  if (cursor === null) return 0;
  const offset = /^c_(\d+)$/.exec(cursor)?.[1];
  if (offset === undefined) throw new BadRequest('The cursor is invalid');
  return Number(offset);
}

export function byOffset(size: Size, parameter: string): Page {
  return (records, { query }) => {
    const from = wholeNumber(query.get(parameter) ?? '0');
    return cut(records, from, sizeOf(query, size), String);
  };
}

/** Numbers from 1; `next` is the number of the next page. */
export function byPage(size: Size, parameter: string): Page {
  return (records, { query }) => {
    const page = wholeNumber(query.get(parameter) ?? '1');
    if (page < 1) throw new BadRequest('Pages are counted from 1');
    const length = sizeOf(query, size);
    return cut(records, (page - 1) * length, length, () => String(page + 1));
  };
}

export function byLastId(size: Size, parameter: string): Page {
  return (records, { query }) => {
    const last = query.get(parameter);
    const at = records.findIndex(({ id }) => String(id) === last);
    if (last !== null && at < 0) throw new BadRequest(`No such record: ${last}`);
    return cut(records, at + 1, sizeOf(query, size), String);
  };
}

/** The address of the same request on another page. */
export function byAddress(page: Page, parameter: string): Page {
  return (records, request, baseUrl) => {
    const found = page(records, request, baseUrl);
    if (found.next === null) return found;
    const url = new URL(request.path, baseUrl);
    for (const [name, value] of request.query) url.searchParams.append(name, value);
    url.searchParams.set(parameter, found.next);
    return { ...found, next: url.href };
  };
}

/** The same in a Link header, beside links that are not for going on. */
export function byLink(page: Page, parameter: string): Page {
  const address = byAddress(page, parameter);
  return (records, request, baseUrl) => {
    const found = address(records, request, baseUrl);
    const first = `<${new URL(request.path, baseUrl)}>; rel="first"`;
    const link = found.next === null ? first : `<${found.next}>; rel="next", ${first}`;
    return { ...found, headers: { link } };
  };
}

/** With a header that says how many records the filter has left. */
export function counted(page: Page, header: string): Page {
  return (...request) => {
    const found = page(...request);
    return { ...found, headers: { ...found.headers, [header]: String(found.total) } };
  };
}

function cut(
  records: StoredRecord[],
  from: number,
  length: number,
  nextOf: (to: number) => string,
): Cut {
  const to = from + length;
  const next = to < records.length ? nextOf(to) : null;
  return { records: records.slice(from, to), next, total: records.length };
}

function sizeOf(query: URLSearchParams, { name, fallback, max }: Size): number {
  const size = wholeNumber(query.get(name) ?? String(fallback));
  if (size < 1 || size > max) throw new BadRequest(`${name} must be 1 to ${max}`);
  return size;
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new BadRequest(`${text} is not a whole number`);
  return Number(text);
}
