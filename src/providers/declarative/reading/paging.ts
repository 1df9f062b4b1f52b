/**
 * Finds the parameter of the next page, for each kind of paging, and stores the position of a read between two pages as
 * its cursor.
 */
import LinkHeader from 'http-link-header';
import { z } from 'zod';
import type { ProviderResponse } from '../../contract.ts';
import { ProviderError } from '../../provider-error.ts';
import type { ListDeclaration, Paging } from '../declaration/list-declaration.ts';
import { findValue } from '../json.ts';
import { getEffectiveLowerBound } from '../times.ts';

/** The parameter of a page: a cursor, a URL, an offset, a page number or a record id. */
export type PageParameter = string | number;

interface PageResponse {
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

const storedPosition = z.strictObject({
  /** The list that is read: `list` or `incrementalList`. */
  by: z.enum(['all', 'changed']),
  /** The parameter of the next page. Null if the next page is the first of its list. */
  next: z.union([z.string(), z.number()]).nullable(),
  /** The page size of numbered pages. It must not change during a read. */
  size: z.int().positive().optional(),
  /** The id of the first record of the previous page. If it occurs again, the vendor's pages repeat. */
  first: z.string().nullable(),
  /** The number of consecutive empty pages. */
  empty: z.int(),
  /** For keyset lists: the time of change from which the next page is requested, in milliseconds since 1970. */
  since: z.number().optional(),
  /** For keyset lists: the ids of records that changed at `since` or later and have been read. */
  seen: z.array(z.string()).optional(),
});
export type Position = z.infer<typeof storedPosition>;

/** The maximum number of consecutive empty pages. A vendor that filters each page after selecting it returns a few. */
const EMPTY_PAGES_MAX = 50;

/** Parses a cursor. Throws CURSOR_GONE if it is not a position in this list. */
export function readPosition(text: string | undefined, listName: Position['by']): Position | null {
  if (text === undefined) return null;
  const result = storedPosition.safeParse(parseJson(text));
  if (result.success && result.data.by === listName) return result.data;
  throw createCursorError();
}

export function createCursorError(): ProviderError {
  return new ProviderError('CURSOR_GONE', 'The cursor does not belong to this read');
}

/** Parses JSON. Undefined if the string is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface PageResult {
  page: PageResponse;
  position: Position | null;
  /** The time of change of each record, in the order of the response. Null if a record has none. */
  times: (Date | null)[];
}

/** Returns the next position. Null after the last page. Throws RETRYABLE if the vendor's pages repeat or stay empty. */
export function findNextPosition(
  list: ListDeclaration,
  pageResult: PageResult,
  listName: Position['by'],
): Position | null {
  const { page, position } = pageResult;
  const firstId = page.ids[0] ?? null;
  const nextParameter = findNextParameter(list.paging, page);
  if (nextParameter === null) return null;
  const empty = page.ids.length === 0 ? (position?.empty ?? 0) + 1 : 0;
  const isRepeated =
    position && (nextParameter === position.next || (firstId && firstId === position.first));
  if (isRepeated || empty > EMPTY_PAGES_MAX) {
    throw new ProviderError('RETRYABLE', 'The pages of the list repeat themselves');
  }
  const { since, seen } = position ?? {};
  const size = list.paging.kind === 'page' ? page.size : null;
  const nextPage = {
    by: listName,
    next: nextParameter,
    ...(size !== null && { size }),
    first: firstId,
    empty,
    ...(since !== undefined && { since, seen }),
  };
  return (list.isKeysetPaged && restartAtLastTime(list, pageResult, nextPage)) || nextPage;
}

/**
 * Restarts the list at the last record's time. Null if all records of the page have the same time at the precision of
 * the vendor's filter.
 */
function restartAtLastTime(
  { since }: ListDeclaration,
  { page, times }: PageResult,
  { by, first }: Position,
): Position | null {
  const [firstTime, lastTime] = [times[0], times.at(-1)];
  if (!since || !firstTime || !lastTime) return null;
  const boundTime = getEffectiveLowerBound(since, lastTime);
  if (firstTime >= boundTime) return null;
  const seen = page.ids.filter((_id, index) => (times[index] ?? firstTime) >= boundTime);
  return { by, next: null, first, empty: 0, since: lastTime.getTime(), seen };
}
