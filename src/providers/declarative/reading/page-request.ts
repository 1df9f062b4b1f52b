/** The request for a page of a list. */
import type { ProviderRequest, ProviderSession } from '../../contract.ts';
import type { PageRead } from '../../moving-records.ts';
import type { Declaration } from '../declaration/declaration.ts';
import type { List, SelectedFields, TimeFilter } from '../declaration/list-declaration.ts';
import type { Place } from '../declaration/place.ts';
import { withValue } from '../json.ts';
import { fillJson, fillPath, fillQuery, fillTexts, type Variables } from '../template.ts';
import { earliest, latest, writeTime } from '../times.ts';
import { conditions } from './equality.ts';
import type { Position } from './position.ts';

export type Page = Omit<ProviderRequest, 'query' | 'headers' | 'body'> & {
  query: Record<string, string>;
  headers: Record<string, string>;
  body: Record<string, unknown> | undefined;
};

export interface PageToRequest {
  read: PageRead;
  position: Position | null;
  variables: Variables;
  session: ProviderSession;
}

export function pageRequest(
  declaration: Declaration,
  list: List,
  { read, position, variables, session }: PageToRequest,
): ProviderRequest {
  const { method, path, query, body } = list;
  const headers = fillTexts(declaration.headers, session);
  const page: Page = {
    method,
    path: fillPath(path, variables, session),
    query: fillQuery(query, variables, session),
    headers,
    body: fillJson(body, variables),
  };
  for (const [place, value] of parameters(list, read, position)) put(page, place, value);
  for (const [place, value] of lastDays(list, session)) put(page, place, value);
  putConditions(page, list, [...bounds(list, read, position), ...conditions(list, read)]);
  if (position?.next == null || !isAddress(list)) return page;
  // The address has what the query had; headers are sent with every page.
  return { method, path: String(position.next), headers: page.headers };
}

const DAY_MS = 86_400_000;

function lastDays({ days }: List, session: ProviderSession): [Place, string][] {
  if (!days) return [];
  const today = session.now();
  const first = new Date(today.getTime() - days.count * DAY_MS);
  return [
    [days.from, first.toISOString().slice(0, 10)],
    [days.to, today.toISOString().slice(0, 10)],
  ];
}

/** The next page is named by its whole address. */
function isAddress({ paging }: List): boolean {
  return paging.kind === 'nextUrl' || paging.kind === 'link';
}

function* parameters(
  list: List,
  read: PageRead,
  position: Position | null,
): Generator<[Place, unknown]> {
  const { paging, size, fields } = list;
  const records = sizeOf(list, read, position);
  if (size && records !== null) yield [size, sizeText(size, records)];
  if (fields) yield [fields, fieldNames(fields, read.fields)];
  if (!('send' in paging)) return;
  if (position?.next != null) yield [paging.send, position.next];
  else if (paging.kind === 'page') yield [paging.send, paging.first];
  else if (paging.kind === 'offset') yield [paging.send, 0];
}

/** Records that are asked for; null if the vendor chooses. A page that is known by its number keeps its size. */
export function sizeOf(
  { size }: List,
  { pageSize }: PageRead,
  position: Position | null,
): number | null {
  return size ? (position?.size ?? Math.min(pageSize, size.max)) : null;
}

function sizeText({ template }: NonNullable<List['size']>, size: number): string | number {
  return template ? template.replace('{size}', String(size)) : size;
}

const ALONE = '{fields}';
/** What can't end a selection of GraphQL, and begin another. */
const NAME = /^[A-Za-z_]\w*$/;

export function fieldNames(
  { always, separator, template, isList, max }: SelectedFields,
  wanted: string[],
): string | string[] {
  // `id` is our name of what identifies a record, whatever the vendor's is.
  const own = wanted.filter((name) => name !== 'id' && (template === ALONE || NAME.test(name)));
  const names = [...new Set([...always, ...own])].slice(0, max);
  return isList ? names : template.replace('{fields}', names.join(separator));
}

/** Before any vendor had records; some refuse the first second of 1970. */
const BEGINNING = new Date('2000-01-01T00:00:00Z');

function* bounds(
  { since, until }: List,
  read: PageRead,
  position: Position | null,
): Generator<[Place, unknown]> {
  const passed = position?.since == null ? undefined : new Date(position.since);
  const from = passed ?? read.since ?? (since?.isRequired ? BEGINNING : undefined);
  if (since && from && !(position?.next != null && since.isFirstOnly)) {
    yield [since, bound(since, earliest(since, from))];
  }
  if (until && read.until) yield [until, bound(until, latest(until, read.until))];
}

function bound({ template, format }: TimeFilter, time: Date): unknown {
  const text = writeTime(time, format);
  if (typeof template === 'string') return template.replace('{time}', () => text);
  return fillJson(template, { time: format.startsWith('unix') ? Number(text) : text });
}

function putConditions(page: Page, { expression }: List, found: [Place, unknown][]): void {
  if (!expression) {
    for (const [place, value] of found) put(page, place, value);
    return;
  }
  const [first] = found;
  if (!first) return;
  const all = found.map(([, value]) => String(value)).join(expression.join);
  put(
    page,
    first[0],
    expression.wrap.replace('{all}', () => all),
  );
}

export function put(page: Page, { in: part, name }: Place, value: unknown): void {
  if (part === 'query') page.query[name] = String(value);
  else if (part === 'header') page.headers[name] = String(value);
  else page.body = withValue(page.body ?? {}, name, value);
}
