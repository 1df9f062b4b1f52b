/**
 * The kinds of paging that vendors have, as their documentation describes them. A page is a slice of the
 * filtered records in the vendor's order.
 */
import type { ServedRequest } from '../providers/provider-server.ts';
import type { StoredRecord } from './vendor-store.ts';

export interface PageSlice {
  records: StoredRecord[];
  /** The cursor, number or URL of the next page. Null on the last page. */
  next: string | null;
  /** Number of filtered records. */
  total: number;
  /** Headers of the response. */
  headers?: Record<string, string>;
}

/** Throws BadRequest for parameters that the vendor refuses. */
export type Page = (records: StoredRecord[], request: ServedRequest, baseUrl: string) => PageSlice;

/** Makes the server respond with status 400. */
export class BadRequest extends Error {}

interface Size {
  name: string;
  /** Size of a page if the request has no such parameter. */
  fallback: number;
  max: number;
}

/** Pages by an opaque cursor, which encodes the position after the last record. */
export function byCursor(size: Size, parameter: string): Page {
  return (records, { query }) => {
    const from = parseCursor(query.get(parameter));
    return slicePage(records, from, readSize(query, size), (to) => `c_${to}`);
  };
}

function parseCursor(cursor: string | null): number {
  if (cursor === null) return 0;
  const offset = /^c_(\d+)$/.exec(cursor)?.[1];
  if (offset === undefined) throw new BadRequest('The cursor is invalid');
  return Number(offset);
}

export function byOffset(size: Size, parameter: string): Page {
  return (records, { query }) => {
    const from = parseWholeNumber(query.get(parameter) ?? '0');
    return slicePage(records, from, readSize(query, size), String);
  };
}

/** Pages by number, starting with 1. `next` is the number of the next page. */
export function byPage(size: Size, parameter: string): Page {
  return (records, { query }) => {
    const page = parseWholeNumber(query.get(parameter) ?? '1');
    if (page < 1) throw new BadRequest('Pages are numbered from 1');
    const length = readSize(query, size);
    return slicePage(records, (page - 1) * length, length, () => String(page + 1));
  };
}

export function byLastId(size: Size, parameter: string): Page {
  return (records, { query }) => {
    const lastId = query.get(parameter);
    const index = records.findIndex(({ id }) => String(id) === lastId);
    if (lastId !== null && index < 0) throw new BadRequest(`No such record: ${lastId}`);
    return slicePage(records, index + 1, readSize(query, size), String);
  };
}

/** Turns `next` into the URL of the same request for the next page. */
export function byNextUrl(page: Page, parameter: string): Page {
  return (records, request, baseUrl) => {
    const slice = page(records, request, baseUrl);
    if (slice.next === null) return slice;
    const url = new URL(request.path, baseUrl);
    for (const [name, value] of request.query) url.searchParams.append(name, value);
    url.searchParams.set(parameter, slice.next);
    return { ...slice, next: url.href };
  };
}

/** Sends the URL of the next page in a Link header, together with links of other kinds. */
export function byLink(page: Page, parameter: string): Page {
  const address = byNextUrl(page, parameter);
  return (records, request, baseUrl) => {
    const slice = address(records, request, baseUrl);
    const firstLink = `<${new URL(request.path, baseUrl)}>; rel="first"`;
    const link = slice.next === null ? firstLink : `<${slice.next}>; rel="next", ${firstLink}`;
    return { ...slice, headers: { link } };
  };
}

/** Adds a header with the number of filtered records. */
export function withTotalHeader(page: Page, header: string): Page {
  return (...request) => {
    const slice = page(...request);
    return { ...slice, headers: { ...slice.headers, [header]: String(slice.total) } };
  };
}

function slicePage(
  records: StoredRecord[],
  from: number,
  length: number,
  toNext: (to: number) => string,
): PageSlice {
  const to = from + length;
  const next = to < records.length ? toNext(to) : null;
  return { records: records.slice(from, to), next, total: records.length };
}

function readSize(query: URLSearchParams, { name, fallback, max }: Size): number {
  const size = parseWholeNumber(query.get(name) ?? String(fallback));
  if (size < 1 || size > max) throw new BadRequest(`${name} must be 1 to ${max}`);
  return size;
}

function parseWholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new BadRequest(`${text} is not a whole number`);
  return Number(text);
}
