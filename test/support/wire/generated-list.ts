/** Serves lists in a wire format that is generated from a declaration: filters and pages as declared. */
import type {
  ListDeclaration,
  Paging,
  TimeFilter,
} from '../../../src/providers/declarative/declaration/list-declaration.ts';
import type { RequestLocation } from '../../../src/providers/declarative/declaration/request-location.ts';
import { findValue, withValue } from '../../../src/providers/declarative/json.ts';
import type { BehavingList } from '../../../src/providers/declarative/reading/paging.ts';
import { parseTime } from '../../../src/providers/declarative/times.ts';
import { getBehavior } from '../../../src/providers/declarative/vendor.ts';
import type { ServedRequest, ServedResponse } from '../providers/provider-server.ts';
import { type DeclaredObject, isRequestFor, setValue, writeRecord } from './generated-parts.ts';
import {
  BadRequest,
  byCursor,
  byLastId,
  byOffset,
  byPage,
  type Page,
  type PageSlice,
} from './paging.ts';
import type { StoredRecord, VendorStore } from './vendor-store.ts';

/** Query parameters to which the request's position and page size are copied from their declared locations. */
const POSITION_PARAMETER = 'generated_at';
const PAGE_SIZE = 'generated_size';

export function serveList(
  declaredObject: DeclaredObject,
  servedRequest: ServedRequest,
  { store, url }: { store: VendorStore; url: string },
): ServedResponse | undefined {
  const { object, declaration } = declaredObject;
  const list = [object.incrementalList, object.list].find(
    (candidate) => candidate && isListRequest(candidate, servedRequest, declaredObject),
  );
  if (!list) return undefined;
  const request = restoreBound(list, servedRequest);
  const sorted = filterRecords(
    { ...list, behavior: getBehavior(declaration, list) },
    request,
    selectAfterId(list, request, [...store.records]),
  ).toSorted(compareRecords(list));
  const query = new URLSearchParams(request.query);
  const size = list.pageSize && readLocation(list.pageSize, request)?.replace(/\D+/g, '');
  if (size) query.set(PAGE_SIZE, size);
  const position =
    'parameter' in list.paging ? readLocation(list.paging.parameter, request) : undefined;
  if (position !== undefined) query.set(POSITION_PARAMETER, position);
  const slice = createPage(list.paging, list.pageSize?.max ?? 1000)(
    sorted,
    { ...request, query },
    url,
  );
  return createListResponse(list, includeBound(list, request, slice), {
    request,
    url,
    rows: slice.records.map((record) => writeRecord(declaredObject, record)),
  });
}

/** Adds the bound that a cursor includes to the requests of later pages. */
function restoreBound({ since, paging }: ListDeclaration, request: ServedRequest): ServedRequest {
  if (!since?.isFirstPageOnly || paging.kind !== 'cursor') return request;
  const { name } = paging.parameter;
  const [position = '', bound] = request.query.get(name)?.split('~') ?? [];
  if (bound === undefined) return request;
  const query = new URLSearchParams(request.query);
  query.set(name, position);
  query.set(since.name, bound);
  return { ...request, query };
}

/** Includes the bound in the cursor, if only the request for the first page has the bound. */
function includeBound(
  { since, paging }: ListDeclaration,
  request: ServedRequest,
  slice: PageSlice,
): PageSlice {
  if (!since?.isFirstPageOnly || paging.kind !== 'cursor' || slice.next === null) return slice;
  return { ...slice, next: `${slice.next}~${readLocation(since, request)}` };
}

function isListRequest(
  list: ListDeclaration,
  request: ServedRequest,
  { objectName }: DeclaredObject,
): boolean {
  const { selectedFields, filterExpression, since } = list;
  if (!isRequestFor(list, request, { object: objectName })) return false;
  // Lists of an object may differ only in the order that ends their filter.
  const { template = '', separator = '' } = filterExpression ?? {};
  const order = template.split(`{all}${separator}`)[1] ?? '';
  const expression = since && readLocation(since, request);
  if (expression && !expression.endsWith(order)) return false;
  if (list.path.includes('{object}') && !request.path.includes(objectName)) return false;
  if (selectedFields?.in !== 'body' || selectedFields.isList) return true;
  const [prefix = ''] = selectedFields.template.split('{fields}');
  return String(findValue(request.body, selectedFields.name) ?? '').startsWith(prefix);
}

export function readLocation(
  { in: part, name }: RequestLocation,
  request: ServedRequest,
): string | undefined {
  if (part === 'query') return request.query.get(name) ?? undefined;
  if (part === 'header') return request.headers[name.toLowerCase()];
  const value = findValue(request.body, name);
  return value == null ? undefined : String(value);
}

function compareRecords({ isNewestFirst, isKeysetPaged }: ListDeclaration) {
  return (a: StoredRecord, b: StoredRecord) => {
    const ageOrder = a.changedAt.getTime() - b.changedAt.getTime();
    if (isNewestFirst) return -ageOrder;
    return isKeysetPaged ? ageOrder : 0;
  };
}

function filterRecords(
  list: BehavingList,
  request: ServedRequest,
  records: StoredRecord[],
): StoredRecord[] {
  const { timeFilter } = list.behavior;
  const isExclusive = timeFilter !== 'none' && timeFilter.bounds === 'exclusive';
  const since = list.since && findBound(list.since, request);
  const until = list.until && findBound(list.until, request);
  return records.filter(
    ({ changedAt }) =>
      (!since || (isExclusive ? changedAt > since : changedAt >= since)) &&
      (!until || (isExclusive ? changedAt < until : changedAt <= until)),
  );
}

/** Returns the records after the id in the request. Identifiers are in the order of creation. */
function selectAfterId(
  { afterId }: ListDeclaration,
  request: ServedRequest,
  records: StoredRecord[],
): StoredRecord[] {
  if (!afterId) return records;
  const [prefix = ''] = afterId.template.split('{id}');
  const [, id] = readLocation(afterId, request)?.split(prefix) ?? [];
  const isAfter = (record: StoredRecord) => id?.split(/\W/)[0] === String(record.id);
  return records.slice(records.findIndex(isAfter) + 1);
}

/** Returns the time in a request's filter, which the template locates. */
function findBound(filter: TimeFilter, request: ServedRequest): Date | null {
  const { template, format } = filter;
  const text =
    typeof template === 'string'
      ? findTime(template, readLocation(filter, request))
      : findTime(
          JSON.stringify(template).replace('"{time}"', '{time}'),
          readConditions(filter, request),
        );
  return text === null ? null : parseTime(text, format);
}

/** Returns the conditions of a filter that is appended to a JSON list. */
function readConditions({ name }: TimeFilter, { body }: ServedRequest): string {
  return JSON.stringify(findValue(body, name.replace(/\/-$/, '')) ?? null);
}

/** Matches times of every format, also in the middle of a text. */
const TIME_PATTERN = '(\\d[\\dT:Z+.-]*(?: \\d\\d:\\d\\d(?::\\d\\d)?)?)';

function findTime(template: string, text: string | undefined): string | null {
  if (text === undefined) return null;
  const escaped = template.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const isWhole = template === '{time}';
  const pattern = escaped.replace('\\{time\\}', () => (isWhole ? '(.+)' : TIME_PATTERN));
  return new RegExp(isWhole ? `^${pattern}$` : pattern).exec(text)?.[1] ?? null;
}

function createPage(paging: Paging, max: number): Page {
  const size = { name: PAGE_SIZE, fallback: max, max };
  switch (paging.kind) {
    case 'offset':
      return byOffset(size, POSITION_PARAMETER);
    case 'page':
      return (records, request, url) =>
        byPage(size, POSITION_PARAMETER)(records, countFromOne(paging, request), url);
    case 'lastId':
      return byLastId(size, POSITION_PARAMETER);
    case 'none':
      return (records) => ({ records, next: null, total: records.length });
    default:
      return byCursor(size, POSITION_PARAMETER);
  }
}

function countFromOne(
  { firstPage }: Paging & { kind: 'page' },
  request: ServedRequest,
): ServedRequest {
  const query = new URLSearchParams(request.query);
  query.set(
    POSITION_PARAMETER,
    String(Number(query.get(POSITION_PARAMETER) ?? firstPage) - firstPage + 1),
  );
  return { ...request, query };
}

interface ListContext {
  request: ServedRequest;
  url: string;
  rows: unknown[];
}

function createListResponse(
  list: ListDeclaration,
  slice: PageSlice,
  { request, url, rows }: ListContext,
): ServedResponse {
  const { paging, record, total } = list;
  const { next } = slice;
  const listItems = rows.map((row) => setValue({}, record, row));
  let body = setValue({}, list.records, listItems);
  const set = (pointer: string | undefined, value: unknown) => {
    if (pointer !== undefined && !Array.isArray(body))
      body = withValue(body as object as never, pointer, value);
  };
  set(total, slice.total);
  if ('hasMore' in paging) set(paging.hasMore, next !== null);
  if ('isLastPage' in paging) set(paging.isLastPage, next === null);
  if (paging.kind === 'cursor') set(paging.next, next);
  const isAddress = paging.kind === 'nextUrl' || paging.kind === 'link';
  const address = next !== null && isAddress ? createNextUrl(next, request, url) : null;
  if (paging.kind === 'nextUrl') set(paging.next, address);
  const headers: Record<string, string> = {};
  if (paging.kind === 'link' && address) headers.link = `<${address}>; rel="next"`;
  if (paging.kind === 'page') {
    // Only the last page knows the number of pages. Earlier pages report one more than their own number.
    set(paging.pageCount, next === null ? 1 : Number(next) + (paging.firstPage - 1));
    if (paging.nextHeader) headers[paging.nextHeader] = next ?? '';
  }
  return { status: 200, headers, body };
}

function createNextUrl(next: string, request: ServedRequest, url: string): string {
  if (request.method !== 'GET')
    throw new BadRequest('Only a GET request has a URL of the next page');
  const address = new URL(request.path, url);
  for (const [name, value] of request.query) address.searchParams.append(name, value);
  address.searchParams.set(POSITION_PARAMETER, next);
  return address.href;
}
