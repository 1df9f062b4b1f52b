/** Builds the request for one page of a list. */
import { DAY_MS } from '../../../work/durations.ts';
import type { ProviderRequest, ProviderSession } from '../../contract.ts';
import type { PageRead } from '../../moving-records.ts';
import type { Declaration } from '../declaration/declaration.ts';
import type {
  ListDeclaration,
  SelectedFields,
  TimeFilter,
} from '../declaration/list-declaration.ts';
import type { RequestLocation } from '../declaration/request-location.ts';
import { withValue } from '../json.ts';
import { fillJson, fillPath, fillQuery, fillStrings, type TemplateVariables } from '../template.ts';
import { formatTime, getLowerBound, getUpperBound } from '../times.ts';
import type { Position } from './paging.ts';
import { listConditions } from './search-conditions.ts';

export type RequestDraft = Omit<ProviderRequest, 'query' | 'headers' | 'body'> & {
  query: Record<string, string>;
  headers: Record<string, string>;
  body: Record<string, unknown> | undefined;
};

interface PageRequestContext {
  read: PageRead;
  position: Position | null;
  variables: TemplateVariables;
  session: ProviderSession;
}

export function createRequest(
  declaration: Declaration,
  list: ListDeclaration,
  { read, position, variables, session }: PageRequestContext,
): ProviderRequest {
  const request = draftRequest(declaration, list, { variables, session });
  const parameters = [...listParameters(list, read, position), ...listDayBounds(list, session)];
  for (const [location, value] of parameters) setParameter(request, location, value);
  setConditions(request, list, [
    ...listBounds(list, read, position),
    ...listConditions(list, read),
  ]);
  if (position?.next == null || !hasNextUrl(list)) return request;
  // The URL already contains the query. Headers are sent with every page.
  return { method: list.method, path: String(position.next), headers: request.headers };
}

/** Fills the templates of a declared request. */
export function draftRequest(
  { headers }: Declaration,
  { method, path, query, body }: Pick<ListDeclaration, 'method' | 'path' | 'query' | 'body'>,
  { variables, session }: Pick<PageRequestContext, 'variables' | 'session'>,
): RequestDraft {
  return {
    method,
    path: fillPath(path, variables, session),
    query: fillQuery(query, variables, session),
    headers: fillStrings(headers, session),
    body: fillJson(body, variables),
  };
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
  const { paging, pageSize, selectedFields } = list;
  const size = getPageSize(list, read, position);
  if (pageSize && size !== null) yield [pageSize, formatSize(pageSize, size)];
  if (selectedFields) yield [selectedFields, formatFieldNames(selectedFields, read.fields)];
  if (!('parameter' in paging)) return;
  if (position?.next != null) yield [paging.parameter, position.next];
  else if (paging.kind === 'page') yield [paging.parameter, paging.firstPage];
  else if (paging.kind === 'offset') yield [paging.parameter, 0];
}

/** Returns the requested page size. Null if the vendor decides. Numbered pages keep their size during a read. */
export function getPageSize(
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

/** The template of a plain list of names. Other templates are GraphQL. */
const NAMES_ONLY = '{fields}';
/** Names that are safe inside a GraphQL selection: they can't end it or start another. */
const GRAPHQL_NAME = /^[A-Za-z_]\w*$/;

export function formatFieldNames(
  { always, separator, template, isList, max }: SelectedFields,
  fieldNames: string[],
): string | string[] {
  // `id` is the gateway's name for the record's identifier. The vendor's name may differ.
  const permittedNames = fieldNames.filter(
    (name) => name !== 'id' && (template === NAMES_ONLY || GRAPHQL_NAME.test(name)),
  );
  const names = [...new Set([...always, ...permittedNames])].slice(0, max);
  return isList ? names : template.replace('{fields}', names.join(separator));
}

/** Earlier than any vendor's first record. Not 1970, because some vendors refuse its first second. */
const EARLIEST_TIME = new Date('2000-01-01T00:00:00Z');

function* listBounds(
  { since, until }: ListDeclaration,
  read: PageRead,
  position: Position | null,
): Generator<[RequestLocation, unknown]> {
  const lastTime = position?.since == null ? undefined : new Date(position.since);
  const from = lastTime ?? read.since ?? (since?.isRequired ? EARLIEST_TIME : undefined);
  if (since && from && !(position?.next != null && since.isFirstPageOnly)) {
    yield [since, formatBound(since, getLowerBound(since, from))];
  }
  if (until && read.until) yield [until, formatBound(until, getUpperBound(until, read.until))];
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

export function setParameter(
  request: RequestDraft,
  { in: part, name }: RequestLocation,
  value: unknown,
): void {
  if (part === 'query') request.query[name] = String(value);
  else if (part === 'header') request.headers[name] = String(value);
  else request.body = withValue(request.body ?? {}, name, value);
}
