/** Builds the request for one page of a list. */
import { DAY_MS } from '../../../work/durations.ts';
import type { ProviderRequest, ProviderSession } from '../../contract.ts';
import type { PageRead } from '../../moving-records.ts';
import type { Declaration } from '../declaration/declaration.ts';
import type { ListDeclaration, TimeFilter } from '../declaration/list-declaration.ts';
import type { RequestLocation } from '../declaration/request-location.ts';
import { fillJson, type TemplateVariables } from '../template.ts';
import { formatTime, getComparedFilter, getLowerBound, getUpperBound } from '../times.ts';
import type { Position } from './paging.ts';
import { draftRequest, type RequestDraft, setParameter } from './request-draft.ts';
import { listConditions } from './search-conditions.ts';
import { type FieldBatch, selectFields } from './selected-fields.ts';

export interface PageRequestContext {
  read: PageRead;
  fieldBatch: FieldBatch;
  position: Position | null;
  variables: TemplateVariables;
  session: ProviderSession;
}

export function createRequest(
  declaration: Declaration,
  list: ListDeclaration,
  { read, fieldBatch, position, variables, session }: PageRequestContext,
): ProviderRequest {
  const request = draftRequest(declaration, list, { variables, session });
  selectFields(request, list.selectedFields, fieldBatch);
  const parameters = [...listParameters(list, read, position), ...listDayBounds(list, session)];
  for (const [location, value] of parameters) setParameter(request, location, value);
  setConditions(request, list, [
    ...listBounds(declaration, list, { read, position, session }),
    ...listIdBound(list, position),
    ...listConditions(list, read),
  ]);
  if (position?.next == null || !hasNextUrl(list)) return request;
  // The URL already contains the query. Headers are sent with every page.
  return { method: list.method, path: String(position.next), headers: request.headers };
}

function listDayBounds(
  { dayRange }: ListDeclaration,
  session: ProviderSession,
): [RequestLocation, string][] {
  if (!dayRange) return [];
  const today = session.now();
  const firstDay = new Date(today.getTime() - dayRange.days * DAY_MS);
  return [
    [dayRange.from, firstDay.toISOString().slice(0, 10)],
    [dayRange.to, today.toISOString().slice(0, 10)],
  ];
}

/** True if the vendor returns the URL of the next page. */
function hasNextUrl({ paging }: ListDeclaration): boolean {
  return paging.kind === 'nextUrl' || paging.kind === 'link';
}

function* listParameters(
  list: ListDeclaration,
  read: PageRead,
  position: Position | null,
): Generator<[RequestLocation, unknown]> {
  const { paging, pageSize } = list;
  const size = findPageSize(list, read, position);
  if (pageSize && size !== null) yield [pageSize, formatSize(pageSize, size)];
  if (!('parameter' in paging)) return;
  if (position?.next != null) yield [paging.parameter, position.next];
  else if (paging.kind === 'page') yield [paging.parameter, paging.firstPage];
  else if (paging.kind === 'offset') yield [paging.parameter, 0];
}

/** Returns the requested page size. Null if the vendor decides. Numbered pages keep their size during a read. */
export function findPageSize(
  { pageSize: size }: ListDeclaration,
  { pageSize }: PageRead,
  position: Position | null,
): number | null {
  return size ? (position?.size ?? Math.min(pageSize, size.max)) : null;
}

function formatSize(
  { template }: NonNullable<ListDeclaration['pageSize']>,
  size: number,
): string | number {
  return template ? template.replace('{size}', String(size)) : size;
}

/** Earlier than any vendor's first record. Not 1970, because some vendors refuse its first second. */
const EARLIEST_TIME = new Date('2000-01-01T00:00:00Z');

function* listBounds(
  declaration: Declaration,
  list: ListDeclaration,
  { read, position, session }: Pick<PageRequestContext, 'read' | 'position' | 'session'>,
): Generator<[RequestLocation, unknown]> {
  const { since, until } = list;
  const lastTime = position?.since == null ? undefined : new Date(position.since);
  const from = lastTime ?? read.since ?? (since?.isRequired ? EARLIEST_TIME : undefined);
  if (since && from && !(position?.next != null && since.isFirstPageOnly)) {
    const bound = getLowerBound(getComparedFilter(declaration, list, since), from);
    const latestTime = new Date(session.now().getTime() - since.ageMsMin);
    const isTooYoung = since.ageMsMin > 0 && bound > latestTime;
    yield [since, formatBound(since, isTooYoung ? latestTime : bound)];
  }
  if (until && read.until) {
    const bound = getUpperBound(getComparedFilter(declaration, list, until), read.until);
    yield [until, formatBound(until, bound)];
  }
}

function listIdBound(
  { afterId }: ListDeclaration,
  position: Position | null,
): [RequestLocation, string][] {
  const lastId = position?.after;
  if (!afterId || lastId === undefined) return [];
  return [[afterId, afterId.template.replace('{id}', () => lastId)]];
}

function formatBound({ template, format }: TimeFilter, time: Date): unknown {
  const text = formatTime(time, format);
  if (typeof template === 'string') return template.replace('{time}', () => text);
  return fillJson(template, { time: format.startsWith('unix') ? Number(text) : text });
}

function setConditions(
  request: RequestDraft,
  { filterExpression }: ListDeclaration,
  conditions: [RequestLocation, unknown][],
): void {
  if (!filterExpression) {
    for (const [location, value] of conditions) setParameter(request, location, value);
    return;
  }
  const [firstCondition] = conditions;
  if (!firstCondition) return;
  const [location] = firstCondition;
  const expressionText = conditions
    .map(([, value]) => String(value))
    .join(filterExpression.separator);
  setParameter(
    request,
    location,
    filterExpression.template.replace('{all}', () => expressionText),
  );
}
