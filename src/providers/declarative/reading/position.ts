/** Where a read stands between two pages. */
import { z } from 'zod';
import { ProviderError } from '../../provider-error.ts';
import type { List } from '../declaration/list-declaration.ts';
import { updatedSince } from '../times.ts';
import { type ArrivedPage, nextOf } from './paging.ts';

const stored = z.strictObject({
  by: z.enum(['all', 'changed']),
  /** A cursor, an address, an offset, a page's number or a record's id: what the paging is by. Null at the start. */
  next: z.union([z.string(), z.number()]).nullable(),
  /** The size of the pages that a page's number counts. */
  size: z.int().positive().optional(),
  /** Id of the first record of the page before: a vendor that gives it again goes round in a circle. */
  first: z.string().nullable(),
  /** Pages without a record, one after the other. */
  empty: z.int(),
  /** The list is requested from this time on, in milliseconds. */
  since: z.number().optional(),
  /** Records from then on that have been given. */
  seen: z.array(z.string()).optional(),
});
export type Position = z.infer<typeof stored>;

/** Some vendors filter after they have cut the page: a few empty ones are no fault, many are. */
const EMPTY_PAGES_MAX = 50;

/** Throws CURSOR_GONE if the text is not a position of this way to list. */
export function readPosition(text: string | undefined, by: Position['by']): Position | null {
  if (text === undefined) return null;
  const parsed = stored.safeParse(jsonIn(text));
  if (parsed.success && parsed.data.by === by) return parsed.data;
  throw notOfThisRead();
}

export function notOfThisRead(): ProviderError {
  return new ProviderError('CURSOR_GONE', 'The cursor is not one of this read');
}

/** Undefined if the text is not JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export interface PassedPage {
  page: ArrivedPage;
  position: Position | null;
  /** When each record was changed, in the order of the answer; null for one that doesn't say. */
  times: (Date | null)[];
}

/** Null after the last page. Throws RETRYABLE if the vendor's pages repeat themselves or stay empty. */
export function nextPosition(list: List, read: PassedPage, by: Position['by']): Position | null {
  const { page, position } = read;
  const first = page.ids[0] ?? null;
  const next = nextOf(list.paging, page);
  if (next === null) return null;
  const empty = page.ids.length === 0 ? (position?.empty ?? 0) + 1 : 0;
  const repeats = position && (next === position.next || (first && first === position.first));
  if (repeats || empty > EMPTY_PAGES_MAX) {
    throw new ProviderError('RETRYABLE', 'The pages of the list repeat themselves');
  }
  const { since, seen } = position ?? {};
  const size = list.paging.kind === 'page' ? page.size : null;
  const onwards = {
    by,
    next,
    ...(size !== null && { size }),
    first,
    empty,
    ...(since !== undefined && { since, seen }),
  };
  return (list.isKeyset && fromLastTime(list, read, onwards)) || onwards;
}

/**
 * The list from the last record's time on; null while a page holds no more than one time, as far as the
 * vendor's filter can tell them apart.
 */
function fromLastTime(
  { since }: List,
  { page, times }: PassedPage,
  { by, first }: Position,
): Position | null {
  const [start, end] = [times[0], times.at(-1)];
  if (!since || !start || !end) return null;
  const bound = updatedSince(since, end);
  if (start >= bound) return null;
  const seen = page.ids.filter((_id, n) => (times[n] ?? start) >= bound);
  return { by, next: null, first, empty: 0, since: end.getTime(), seen };
}
