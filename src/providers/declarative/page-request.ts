/** The request for a page of a list. */
import type { PageRead, ProviderRequest } from '../contract.ts';
import type { Declaration, List, Place, TimeFilter } from './declaration.ts';
import { withValue } from './json.ts';
import type { Position } from './position.ts';
import { precisionMs, writeTime } from './times.ts';

type Page = Omit<ProviderRequest, 'query' | 'headers' | 'body'> & {
  query: Record<string, string>;
  headers: Record<string, string>;
  body: Record<string, unknown> | undefined;
};

export function pageRequest(
  declaration: Declaration,
  list: List,
  { read, position }: { read: PageRead; position: Position | null },
): ProviderRequest {
  const { method, path, query, body } = list;
  const headers = { ...declaration.headers };
  if (position && isAddress(list)) return { method, path: String(position.next), headers };
  const page: Page = { method, path, query: { ...query }, headers, body };
  for (const [place, value] of parameters(list, read, position)) put(page, place, value);
  return page;
}

/** The next page is named by its whole address. */
function isAddress({ paging }: List): boolean {
  return paging.kind === 'nextUrl' || paging.kind === 'link';
}

function* parameters(
  { paging, size, since, until, fields }: List,
  read: PageRead,
  position: Position | null,
): Generator<[Place, string | number]> {
  if (size) yield [size, Math.min(read.pageSize, size.max)];
  if (fields) yield [fields, read.fields.join(fields.separator)];
  const from = read.since ?? (since?.isRequired ? BEGINNING : undefined);
  if (since && from && !(position && since.isFirstOnly))
    yield [since, bound(since, earliest(since, from))];
  if (until && read.until) yield [until, bound(until, latest(until, read.until))];
  if (!('send' in paging)) return;
  if (position) yield [paging.send, position.next];
  else if (paging.kind === 'page') yield [paging.send, paging.first];
  else if (paging.kind === 'offset') yield [paging.send, 0];
}

/** Before any vendor had records; some refuse the first second of 1970. */
const BEGINNING = new Date('2000-01-01T00:00:00Z');

/** Never later than what is asked for: what is too early is left out when the page has come. */
function earliest({ format, isExclusive }: TimeFilter, since: Date): Date {
  return new Date(since.getTime() - (isExclusive ? precisionMs(format) : 0));
}

/** Never earlier than what is asked for. */
function latest({ format, isExclusive }: TimeFilter, until: Date): Date {
  const step = precisionMs(format);
  return new Date(until.getTime() + (step - 1) + (isExclusive ? step : 0));
}

function bound({ template, format }: TimeFilter, time: Date): string {
  return template.replace('{time}', writeTime(time, format));
}

function put(page: Page, place: Place, value: string | number): void {
  if (place.in === 'query') page.query[place.name] = String(value);
  else if (place.in === 'header') page.headers[place.name] = String(value);
  else page.body = withValue(page.body ?? {}, place.name, value);
}
