/** Finds the parameter of the next page, for each kind of paging. */
import LinkHeader from 'http-link-header';
import type { ProviderResponse } from '../../contract.ts';
import type { Paging } from '../declaration/list-declaration.ts';
import { findValue } from '../json.ts';

/** The parameter of a page: a cursor, a URL, an offset, a page number or a record id. */
export type PageParameter = string | number;

export interface PageResponse {
  response: ProviderResponse;
  baseUrl: string;
  /** The record ids, in the order of the response. */
  ids: string[];
  /** The requested page size. Null if the vendor decided. */
  size: number | null;
  /** The parameter of this page. Null for the first page. */
  parameter: PageParameter | null;
}

/** Returns the parameter of the next page. Null after the last page. */
export function findNextParameter(paging: Paging, page: PageResponse): PageParameter | null {
  const { response, ids } = page;
  if (isLastPage(paging, response)) return null;
  switch (paging.kind) {
    case 'cursor':
      return readCursor(findValue(response.body, paging.next));
    case 'nextUrl':
      return resolveUrl(findValue(response.body, paging.next), page);
    case 'link':
      return resolveUrl(readLinkHeader(response), page);
    case 'offset':
      return findNextOffset(paging, page);
    case 'page':
      return findNextPageNumber(paging, page, Number(page.parameter ?? paging.firstPage));
    case 'lastId':
      return ids.length === 0 || (!paging.hasMore && isShort(page)) ? null : (ids.at(-1) ?? null);
    case 'none':
      return null;
  }
}

function isLastPage(paging: Paging, { body }: ProviderResponse): boolean {
  if ('hasMore' in paging && paging.hasMore && findValue(body, paging.hasMore) === false)
    return true;
  return (
    'isLastPage' in paging &&
    paging.isLastPage !== undefined &&
    findValue(body, paging.isLastPage) === true
  );
}

function readCursor(value: unknown): PageParameter | null {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && value !== '' ? value : null;
}

function resolveUrl(value: unknown, { baseUrl }: PageResponse): string | null {
  if (typeof value !== 'string' || value === '') return null;
  return URL.parse(value, baseUrl)?.href ?? null;
}

function readLinkHeader({ headers }: ProviderResponse): string | undefined {
  return headers.link ? LinkHeader.parse(headers.link).rel('next')[0]?.uri : undefined;
}

function findNextOffset(
  { total, hasMore, isLastPage: lastPageFlag, hasShortPages }: Paging & { kind: 'offset' },
  page: PageResponse,
): number | null {
  const nextOffset = Number(page.parameter ?? 0) + page.ids.length;
  if (page.ids.length === 0) return null;
  const totalCount = total === undefined ? undefined : findValue(page.response.body, total);
  if (typeof totalCount === 'number') return nextOffset < totalCount ? nextOffset : null;
  const endsWithShortPage = !hasMore && !lastPageFlag && !hasShortPages;
  return endsWithShortPage && isShort(page) ? null : nextOffset;
}

function findNextPageNumber(
  { pageCount, hasMore, nextHeader }: Paging & { kind: 'page' },
  page: PageResponse,
  pageNumber: number,
): number | null {
  if (nextHeader) return Number(page.response.headers[nextHeader.toLowerCase()]) || null;
  const count = pageCount === undefined ? undefined : findValue(page.response.body, pageCount);
  if (typeof count === 'number') return pageNumber < count ? pageNumber + 1 : null;
  if (page.ids.length === 0 || (!hasMore && isShort(page))) return null;
  return pageNumber + 1;
}

/** True if the page has fewer records than requested, so it is the last one. */
function isShort({ ids, size }: PageResponse): boolean {
  return size !== null && ids.length < size;
}
