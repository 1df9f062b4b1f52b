/** The position of a read between two pages, stored as its cursor. */
import { z } from 'zod';
import { ProviderError } from '../../provider-error.ts';
import type { ListDeclaration } from '../declaration/list-declaration.ts';
import { getEffectiveLowerBound } from '../times.ts';
import { findNextParameter, type PageResponse } from './paging.ts';

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
