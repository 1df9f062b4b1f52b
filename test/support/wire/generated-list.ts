/** Lists of a wire format that is made from a declaration: filters and pages as it says. */
import type {
  List,
  Paging,
  TimeFilter,
} from '../../../src/providers/declarative/declaration/list-declaration.ts';
import type { RequestLocation } from '../../../src/providers/declarative/declaration/request-location.ts';
import { valueAt, withValue } from '../../../src/providers/declarative/json.ts';
import { readTime } from '../../../src/providers/declarative/times.ts';
import type { ServedRequest, ServedResponse } from '../providers/provider-server.ts';
import { isAt, put, type Said, shown } from './generated-parts.ts';
import { BadRequest, byCursor, byLastId, byOffset, byPage, type Cut, type Page } from './paging.ts';
import type { StoredRecord, VendorStore } from './vendor-store.ts';

/** Under these names the ways of paging find what a request asks, wherever it was. */
const AT = 'generated_at';
const SIZE = 'generated_size';

export function answerList(
  said: Said,
  request: ServedRequest,
  { store, url }: { store: VendorStore; url: string },
): ServedResponse | undefined {
  const { object } = said;
  const list = [object.changed, object.all].find((one) => one && isListed(one, request, said));
  if (!list) return undefined;
  const left = filtered(list, request, [...store.records]).toSorted(orderOf(list));
  const query = new URLSearchParams(request.query);
  const size = list.size && askedAt(list.size, request)?.replace(/\D+/g, '');
  if (size) query.set(SIZE, size);
  const place = 'send' in list.paging ? askedAt(list.paging.send, request) : undefined;
  if (place !== undefined) query.set(AT, place);
  const cut = pageOf(list.paging, list.size?.max ?? 1000)(left, { ...request, query }, url);
  return answered(list, cut, { request, url, rows: cut.records.map((one) => shown(said, one)) });
}

function isListed(list: List, request: ServedRequest, { objectName }: Said): boolean {
  const { fields } = list;
  if (!isAt(list, request, { object: objectName })) return false;
  if (list.path.includes('{object}') && !request.path.includes(objectName)) return false;
  if (fields?.in !== 'body' || fields.isList) return true;
  const [before = ''] = fields.template.split('{fields}');
  return String(valueAt(request.body, fields.name) ?? '').startsWith(before);
}

function askedAt({ in: part, name }: RequestLocation, request: ServedRequest): string | undefined {
  if (part === 'query') return request.query.get(name) ?? undefined;
  if (part === 'header') return request.headers[name.toLowerCase()];
  const value = valueAt(request.body, name);
  return value == null ? undefined : String(value);
}

function orderOf({ newestFirst, isKeyset }: List) {
  return (a: StoredRecord, b: StoredRecord) => {
    const older = a.changedAt.getTime() - b.changedAt.getTime();
    if (newestFirst) return -older;
    return isKeyset ? older : 0;
  };
}

function filtered(list: List, request: ServedRequest, records: StoredRecord[]): StoredRecord[] {
  const since = list.since && boundIn(list.since, request);
  const until = list.until && boundIn(list.until, request);
  return records.filter(
    ({ changedAt }) =>
      (!since || (list.since?.isExclusive ? changedAt > since : changedAt >= since)) &&
      (!until || (list.until?.isExclusive ? changedAt < until : changedAt <= until)),
  );
}

/** The time that a request's filter has, found by what the template has around it. */
function boundIn(filter: TimeFilter, request: ServedRequest): Date | null {
  const { template, format } = filter;
  const text =
    typeof template === 'string'
      ? timeIn(template, askedAt(filter, request))
      : timeIn(JSON.stringify(template).replace('"{time}"', '{time}'), conditions(filter, request));
  return text === null ? null : readTime(text, format);
}

/** JSON that was put at the end of a list. */
function conditions({ name }: TimeFilter, { body }: ServedRequest): string {
  return JSON.stringify(valueAt(body, name.replace(/\/-$/, '')) ?? null);
}

function timeIn(template: string, text: string | undefined): string | null {
  if (text === undefined) return null;
  const escaped = template.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const isWhole = template === '{time}';
  const pattern = escaped.replace('\\{time\\}', () => (isWhole ? '(.+)' : TIME));
  return new RegExp(isWhole ? `^${pattern}$` : pattern).exec(text)?.[1] ?? null;
}

/** Whatever the format, and however a text goes on after it. */
const TIME = '(\\d[\\dT:Z+.-]*(?: \\d\\d:\\d\\d(?::\\d\\d)?)?)';

function pageOf(paging: Paging, max: number): Page {
  const size = { name: SIZE, fallback: max, max };
  switch (paging.kind) {
    case 'offset':
      return byOffset(size, AT);
    case 'page':
      return (records, request, url) => byPage(size, AT)(records, fromOne(paging, request), url);
    case 'lastId':
      return byLastId(size, AT);
    case 'none':
      return (records) => ({ records, next: null, total: records.length });
    default:
      return byCursor(size, AT);
  }
}

function fromOne({ first }: Paging & { kind: 'page' }, request: ServedRequest): ServedRequest {
  const query = new URLSearchParams(request.query);
  query.set(AT, String(Number(query.get(AT) ?? first) - first + 1));
  return { ...request, query };
}

interface Arrived {
  request: ServedRequest;
  url: string;
  rows: unknown[];
}

function answered(list: List, cut: Cut, { request, url, rows }: Arrived): ServedResponse {
  const { paging, record, total } = list;
  const { next } = cut;
  const listed = rows.map((row) => put({}, record, row));
  let body = put({}, list.records, listed);
  const set = (at: string | undefined, value: unknown) => {
    if (at !== undefined && !Array.isArray(body))
      body = withValue(body as object as never, at, value);
  };
  set(total, cut.total);
  if ('more' in paging) set(paging.more, next !== null);
  if ('lastPage' in paging) set(paging.lastPage, next === null);
  if (paging.kind === 'offset') set(paging.total, cut.total);
  if (paging.kind === 'cursor') set(paging.next, next);
  const isAddress = paging.kind === 'nextUrl' || paging.kind === 'link';
  const address = next !== null && isAddress ? addressOf(next, request, url) : null;
  if (paging.kind === 'nextUrl') set(paging.next, address);
  const headers: Record<string, string> = {};
  if (paging.kind === 'link' && address) headers.link = `<${address}>; rel="next"`;
  if (paging.kind === 'page') {
    // How many pages there are is told by the last: until then there is one more.
    set(paging.pages, next === null ? 1 : Number(next) + (paging.first - 1));
    if (paging.nextHeader) headers[paging.nextHeader] = next ?? '';
  }
  return { status: 200, headers, body };
}

function addressOf(next: string, request: ServedRequest, url: string): string {
  if (request.method !== 'GET') throw new BadRequest('An address is for a GET');
  const address = new URL(request.path, url);
  for (const [name, value] of request.query) address.searchParams.append(name, value);
  address.searchParams.set(AT, next);
  return address.href;
}
