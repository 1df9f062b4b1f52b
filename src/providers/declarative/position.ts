/** Where a read stands between two pages. */
import LinkHeader from 'http-link-header';
import { z } from 'zod';
import { type ProviderAnswer, ProviderError } from '../contract.ts';
import type { List, Paging } from './declaration.ts';
import { valueAt } from './json.ts';

const stored = z.strictObject({
  by: z.enum(['all', 'changed']),
  /** A cursor, an address, an offset, a page's number or a record's id: what the paging is by. */
  next: z.union([z.string(), z.number()]),
  /** Id of the first record of the page before: a vendor that gives it again goes round in a circle. */
  first: z.string().nullable(),
  /** Pages without a record, one after the other. */
  empty: z.int(),
});
export type Position = z.infer<typeof stored>;

/** Some vendors filter after they have cut the page: a few empty ones are no fault, many are. */
const EMPTY_PAGES_MAX = 50;

/** Throws CURSOR_GONE for what is no position of this way to list. */
export function readPosition(text: string | undefined, by: Position['by']): Position | null {
  if (text === undefined) return null;
  const parsed = stored.safeParse(json(text));
  if (parsed.success && parsed.data.by === by) return parsed.data;
  throw new ProviderError('CURSOR_GONE', 'The cursor is not one of this read');
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export interface ArrivedPage {
  answer: ProviderAnswer;
  baseUrl: string;
  /** Ids in the order of the answer. */
  ids: string[];
  /** Records that were asked for; null if the vendor chose. */
  size: number | null;
  position: Position | null;
}

/** Null after the last page. Throws RETRYABLE where a vendor's pages lead nowhere. */
export function nextPosition(list: List, page: ArrivedPage, by: Position['by']): Position | null {
  const { ids, position } = page;
  const first = ids[0] ?? null;
  const next = nextOf(list.paging, page);
  if (next === null) return null;
  const empty = ids.length === 0 ? (position?.empty ?? 0) + 1 : 0;
  const repeats = position && (next === position.next || (first && first === position.first));
  if (repeats || empty > EMPTY_PAGES_MAX) {
    throw new ProviderError('RETRYABLE', 'The pages of the list repeat themselves');
  }
  return { by, next, first, empty };
}

function nextOf(paging: Paging, page: ArrivedPage): string | number | null {
  const { answer, position, ids } = page;
  if (isLast(paging, answer)) return null;
  switch (paging.kind) {
    case 'cursor':
      return cursorIn(valueAt(answer.body, paging.next));
    case 'nextUrl':
      return addressIn(valueAt(answer.body, paging.next), page);
    case 'link':
      return addressIn(linkedAddress(answer), page);
    case 'offset':
      return nextOffset(paging, page);
    case 'page':
      return nextPage(paging, page, Number(position?.next ?? paging.first));
    case 'lastId':
      return ids.length === 0 || (!paging.more && isShort(page)) ? null : (ids.at(-1) ?? null);
    case 'none':
      return null;
  }
}

function isLast(paging: Paging, { body }: ProviderAnswer): boolean {
  if ('more' in paging && paging.more && valueAt(body, paging.more) === false) return true;
  return 'ends' in paging && paging.ends !== undefined && valueAt(body, paging.ends) === true;
}

function cursorIn(value: unknown): string | number | null {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && value !== '' ? value : null;
}

function addressIn(value: unknown, { baseUrl }: ArrivedPage): string | null {
  if (typeof value !== 'string' || value === '') return null;
  return URL.parse(value, baseUrl)?.href ?? null;
}

function linkedAddress({ headers }: ProviderAnswer): string | undefined {
  return headers.link ? LinkHeader.parse(headers.link).rel('next')[0]?.uri : undefined;
}

function nextOffset(
  { total, more }: Paging & { kind: 'offset' },
  page: ArrivedPage,
): number | null {
  const next = Number(page.position?.next ?? 0) + page.ids.length;
  if (page.ids.length === 0) return null;
  const all = total === undefined ? undefined : valueAt(page.answer.body, total);
  if (typeof all === 'number') return next < all ? next : null;
  return !more && isShort(page) ? null : next;
}

function nextPage(
  { pages, more, nextHeader }: Paging & { kind: 'page' },
  page: ArrivedPage,
  number: number,
): number | null {
  if (nextHeader) return Number(page.answer.headers[nextHeader.toLowerCase()]) || null;
  const last = pages === undefined ? undefined : valueAt(page.answer.body, pages);
  if (typeof last === 'number') return number < last ? number + 1 : null;
  if (page.ids.length === 0 || (!more && isShort(page))) return null;
  return number + 1;
}

/** Fewer than were asked for: nothing follows. */
function isShort({ ids, size }: ArrivedPage): boolean {
  return size !== null && ids.length < size;
}
