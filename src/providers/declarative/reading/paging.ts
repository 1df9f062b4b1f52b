/**
 * Finds the parameter of the next page, for each kind of paging, and stores the position of a read between two pages as
 * its cursor.
 */
import LinkHeader from 'http-link-header';
import { z } from 'zod';
import type { Behavior } from '../../behavior.ts';
import type { ProviderResponse } from '../../contract.ts';
import { createRepetitionError } from '../../page-guard.ts';
import { ProviderError } from '../../provider-error.ts';
import type { Declaration } from '../declaration/declaration.ts';
import type { ListDeclaration, Paging } from '../declaration/list-declaration.ts';
import { findValue } from '../json.ts';
import { getComparedFilter, getLowerBound } from '../times.ts';

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

/** A list with its behavior. */
export type BehavingList = ListDeclaration & { behavior: Behavior };

/** The members of a list that determine where its pages end. */
type PagedList = Pick<BehavingList, 'paging' | 'total' | 'totalHeader' | 'behavior'>;

/**
 * Returns the parameter of the next page. Null after the last page. Throws RETRYABLE if the response says that more records
 * follow, but not where.
 */
export function findNextParameter(list: PagedList, page: PageResponse): PageParameter | null {
  const parameter = readNextParameter(list, page);
  if (parameter === null && readEndFlag(list.paging, page.response) === false) {
    throw new ProviderError(
      'RETRYABLE',
      'The response says that more records follow, but not where',
      { status: page.response.status },
    );
  }
  return parameter;
}

function readNextParameter(list: PagedList, page: PageResponse): PageParameter | null {
  const { paging } = list;
  const { response, ids, size, parameter } = page;
  switch (paging.kind) {
    case 'cursor': {
      const isPastEnd = paging.isScroll && ids.length === 0;
      return isPastEnd || readEndFlag(paging, response) === true
        ? null
        : readCursor(findValue(response.body, paging.next));
    }
    case 'nextUrl':
      return readEndFlag(paging, response) === true
        ? null
        : resolveUrl(findValue(response.body, paging.next), page);
    case 'link':
      return resolveUrl(readLinkHeader(response), page);
    case 'offset': {
      // A page without hidden records may still be smaller than requested, if the vendor's maximum is smaller.
      const isSelected = list.behavior.shortPage === 'hidden' || ids.length === 0;
      const nextOffset = Number(parameter ?? 0) + (isSelected && size !== null ? size : ids.length);
      return hasEnded(list, page, nextOffset) ? null : nextOffset;
    }
    case 'page': {
      if (paging.nextHeader)
        return Number(response.headers[paging.nextHeader.toLowerCase()]) || null;
      const number = Number(parameter ?? paging.firstPage);
      const count =
        paging.pageCount === undefined ? null : findValue(response.body, paging.pageCount);
      if (typeof count === 'number') return number < count ? number + 1 : null;
      const nextOffset = size === null ? null : (number - paging.firstPage + 1) * size;
      return hasEnded(list, page, nextOffset) ? null : number + 1;
    }
    case 'lastId':
      return ids.length === 0 || hasEnded(list, page, null) ? null : (ids.at(-1) ?? null);
    case 'none':
      return null;
  }
}

/**
 * True if no page follows. A flag, a link to the next page or a total decides. If the response has none of them, an empty
 * page is the last one. A short page is the last one too if the vendor returns no other short pages.
 */
function hasEnded(
  list: PagedList,
  { response, ids, size }: PageResponse,
  nextOffset: number | null,
): boolean {
  const endFlag = readEndFlag(list.paging, response);
  if (endFlag !== null) return endFlag;
  if (readLinkHeader(response) !== undefined) return false;
  const total = readTotal(list, response);
  if (total !== null && nextOffset !== null) return nextOffset >= total;
  const isShort = size !== null && ids.length < size;
  return ids.length === 0 || (isShort && list.behavior.shortPage === 'last');
}

/** Returns whether the response has the flag of the last page. Null if it has no flag. */
function readEndFlag(paging: Paging, { body }: ProviderResponse): boolean | null {
  const hasMore = 'hasMore' in paging && paging.hasMore ? findValue(body, paging.hasMore) : null;
  if (typeof hasMore === 'boolean') return !hasMore;
  const isLastPage =
    'isLastPage' in paging && paging.isLastPage ? findValue(body, paging.isLastPage) : null;
  return typeof isLastPage === 'boolean' ? isLastPage : null;
}

/** Returns the total number of records of the list. Null if the response has none. */
export function readTotal(
  { total, totalHeader }: Pick<ListDeclaration, 'total' | 'totalHeader'>,
  { body, headers }: ProviderResponse,
): number | null {
  const headerTotal = totalHeader && headers[totalHeader.toLowerCase()];
  const count = total === undefined ? Number(headerTotal || Number.NaN) : findValue(body, total);
  return typeof count === 'number' && Number.isSafeInteger(count) ? count : null;
}

function readCursor(value: unknown): PageParameter | null {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Omits credentials from the query, because the URL is stored and its request gets them anyway. */
function resolveUrl(value: unknown, { baseUrl, response }: PageResponse): string | null {
  if (typeof value !== 'string' || value === '') return null;
  const url = URL.parse(value, baseUrl);
  if (!url) throw new ProviderError('RETRYABLE', 'The URL of the next page is invalid');
  const secretNames = [...url.searchParams]
    .filter(([, text]) => response.mask(text) !== text)
    .map(([name]) => name);
  for (const name of secretNames) url.searchParams.delete(name);
  return url.href;
}

function readLinkHeader({ headers }: ProviderResponse): string | undefined {
  return headers.link ? LinkHeader.parse(headers.link).rel('next')[0]?.uri : undefined;
}

const storedPosition = z.strictObject({
  /** The list that is read: `list`, `incrementalList` or `deepList`. */
  by: z.enum(['all', 'changed', 'deep']),
  /** The parameter of the next page. Null if the next page is the first of its list. */
  next: z.union([z.string(), z.number()]).nullable(),
  /** The page size of numbered pages. It must not change during a read. */
  size: z.int().positive().optional(),
  /** The id of the first record of the previous page. If it occurs again, the vendor's pages repeat. */
  first: z.string().nullable(),
  /** The number of consecutive pages without new records. */
  empty: z.int(),
  /** For keyset lists: the time of change from which the next page is requested, in milliseconds since 1970. */
  since: z.number().optional(),
  /**
   * Ids of records that were read and may occur again. In a keyset list, the records that changed at `since` or later.
   * After a page that may have hidden records, all records of that page.
   */
  seen: z.array(z.string()).optional(),
  /** For lists with `afterId`: the id of the last record. */
  after: z.string().optional(),
});
export type Position = z.infer<typeof storedPosition>;

/** The maximum number of consecutive pages without new records. A vendor may hide all records of some pages. */
const EMPTY_PAGES_MAX = 1_000;

/** Parses a cursor. Throws CURSOR_GONE if it is not a position. */
export function readPosition(text: string | undefined): Position | null {
  if (text === undefined) return null;
  const result = storedPosition.safeParse(parseJson(text));
  if (result.success) return result.data;
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
  declaration: Declaration,
  list: BehavingList,
  pageResult: PageResult,
  listName: Position['by'],
): Position | null {
  const { page, position } = pageResult;
  const firstId = page.ids[0] ?? null;
  const nextParameter = findNextParameter(list, page);
  if (nextParameter === null) {
    return hasLimitMark(list, page)
      ? continueBeyondLimit(declaration, list, { ...pageResult, listName })
      : null;
  }
  const { since, seen, after } = position ?? {};
  const restart = list.isKeysetPaged
    ? restartAtLastTime(declaration, list, pageResult, listName)
    : null;
  if (position && !restart && isRepeated(list, pageResult, { position, nextParameter })) {
    throw createRepetitionError();
  }
  const empty = countEmptyPages(page, position);
  if (isBelowDepth(list, page, nextParameter)) {
    return { by: 'deep', next: null, first: null, empty: 0 };
  }
  const lastId = page.ids.at(-1);
  if (list.afterId && lastId !== undefined) {
    return { by: listName, next: null, first: firstId, empty, after: lastId };
  }
  if (restart) return restart;
  const size = list.paging.kind === 'page' ? page.size : null;
  return {
    by: listName,
    next: nextParameter,
    ...(size !== null && { size }),
    first: firstId,
    empty,
    ...(since !== undefined && { since, seen }),
    ...(after !== undefined && { after }),
    ...(since === undefined && overlapsNext(list, page) && { seen: page.ids }),
  };
}

/**
 * True if the next page has the cursor of this one, or this page begins like the previous one. After a restart, a page may
 * begin with the same record if the record has changed since.
 */
function isRepeated(
  list: ListDeclaration,
  { page, times }: PageResult,
  { position, nextParameter }: { position: Position; nextParameter: PageParameter },
): boolean {
  const { next, first, since, seen = [] } = position;
  const [firstId] = page.ids;
  const hasChanged = (times[0]?.getTime() ?? 0) >= (since ?? 0);
  const mayOverlap = since === undefined ? seen.length > 0 : next === null && hasChanged;
  return (
    (nextParameter === next && !isScroll(list)) ||
    (firstId !== undefined && firstId === first && !mayOverlap)
  );
}

/** Counts the pages in a row without new records, up to this one. Throws RETRYABLE if there are too many. */
function countEmptyPages({ ids }: PageResponse, position: Position | null): number {
  const seenIds = new Set(position?.seen);
  if (ids.some((id) => !seenIds.has(id))) return 0;
  const count = (position?.empty ?? 0) + 1;
  if (count <= EMPTY_PAGES_MAX) return count;
  throw new ProviderError(
    'RETRYABLE',
    `${EMPTY_PAGES_MAX} pages in a row have no new records, although more follow`,
  );
}

/** True if the next offset follows the page's records although the page may have hidden records too. */
function overlapsNext({ behavior, paging }: BehavingList, { size, ids }: PageResponse): boolean {
  const isShort = size !== null && ids.length < size;
  return paging.kind === 'offset' && behavior.shortPage === 'notDocumented' && isShort;
}

export function isScroll({ paging }: ListDeclaration): boolean {
  return paging.kind === 'cursor' && paging.isScroll;
}

/** True if the vendor omits records beyond its limit, although the page looks like the last one. */
export function hasLimitMark(
  { limitMark }: ListDeclaration,
  { response }: Pick<PageResponse, 'response'>,
): boolean {
  return limitMark !== undefined && findValue(response.body, limitMark.at) === limitMark.value;
}

/** Returns the position after the last record that the vendor returns for one query. */
function continueBeyondLimit(
  declaration: Declaration,
  list: ListDeclaration,
  { listName, ...pageResult }: PageResult & { listName: Position['by'] },
): Position {
  const position = list.isKeysetPaged && restartAtLastTime(declaration, list, pageResult, listName);
  if (position) return position;
  throw createLimitError();
}

export function createLimitError(): ProviderError {
  return new ProviderError('BAD_REQUEST', 'The vendor returns only some of the matching records');
}

/** True if the vendor refuses the next page, and another list has the records below. */
function isBelowDepth(
  { behavior: { depthLimit }, paging }: BehavingList,
  { size, ids }: PageResponse,
  nextParameter: PageParameter,
): boolean {
  if (typeof depthLimit === 'string' || depthLimit.beyond !== 'deepList') return false;
  if (paging.kind === 'offset') return Number(nextParameter) >= depthLimit.records;
  if (paging.kind !== 'page') return false;
  const pageNumber = Number(nextParameter) - paging.firstPage + 1;
  return pageNumber * (size ?? ids.length) > depthLimit.records;
}

/**
 * Restarts the list at the last record's time. Null if this time is not later, at the precision of the vendor's filter, than
 * the time from which the page was requested, or than the first record of the first page. Each restart is at a later time,
 * so a vendor whose pages repeat can't cause endless restarts.
 */
function restartAtLastTime(
  declaration: Declaration,
  list: ListDeclaration,
  { page, position, times }: PageResult,
  by: Position['by'],
): Position | null {
  const { since } = list;
  const [firstTime, lastTime] = [times[0], times.at(-1)];
  if (!since || !firstTime || !lastTime) return null;
  const boundTime = getLowerBound(getComparedFilter(declaration, list, since), lastTime);
  if (boundTime.getTime() <= (position?.since ?? firstTime.getTime())) return null;
  const seen = page.ids.filter((_id, index) => (times[index] ?? firstTime) >= boundTime);
  const first = page.ids[0] ?? null;
  return { by, next: null, first, empty: 0, since: lastTime.getTime(), seen };
}
