/**
 * Reads all pages of a list for the proxy. Returns the vendor's records unchanged, without a time window or a mapping.
 */
import type { ProviderRequest, ProviderResponse, ProviderSession } from '../../contract.ts';
import type { ListRequest } from '../../moving-records.ts';
import { checkCursor } from '../../page-guard.ts';
import { ProviderError } from '../../provider-error.ts';
import type { Declaration } from '../declaration/declaration.ts';
import type { ListDeclaration } from '../declaration/list-declaration.ts';
import type { ObjectDeclaration } from '../declaration/object-declaration.ts';
import type { RequestLocation } from '../declaration/request-location.ts';
import { createFailure, hasSucceeded } from '../failure.ts';
import { findValue, withValue } from '../json.ts';
import { findRecordId } from '../record-id.ts';
import { fillStrings } from '../template.ts';
import { getBehavior, listDeclaredObjects, type Vendor } from '../vendor.ts';
import { readRows } from './page-response.ts';
import {
  type BehavingList,
  createLimitError,
  findNextParameter,
  hasLimitMark,
  type PageParameter,
} from './paging.ts';

type ProxyRecord = Record<string, unknown>;

/**
 * Yields the records page by page. Throws BAD_REQUEST before the first page if the request matches no declared list.
 * Throws RETRYABLE if the vendor's pages repeat, and BAD_REQUEST after the last page if the vendor omits records beyond its
 * limit. A request with a body is a POST: a search, or a GraphQL query with a variable for the position.
 */
export async function* listPages(
  vendor: Vendor,
  session: ProviderSession,
  request: ListRequest,
): AsyncGenerator<ProxyRecord[]> {
  const candidates = findLists(vendor, request);
  const [first] = candidates;
  const sizedRequest = setPageSize(first.list, request);
  let candidate: ListCandidate | undefined;
  let parameter: PageParameter | null = null;
  let mark: string | null = null;
  let pagesRead = 0;
  do {
    const { list } = candidate ?? first;
    const response = await session.send(
      createPageRequest(vendor.declaration, list, { ...sizedRequest, parameter, session }),
    );
    if (!hasSucceeded(vendor, response)) throw createFailure(vendor, response);
    candidate ??= selectByResponse(candidates, response);
    const rows = readRows(response, candidate.list);
    yield rows;
    const nextParameter = findNextPage(candidate, {
      response,
      parameter,
      sizedRequest,
      rows,
      session,
    });
    pagesRead += 1;
    if (nextParameter !== null) mark = checkCursor(String(nextParameter), { mark, pagesRead });
    else if (hasLimitMark(candidate.list, { response })) throw createLimitError();
    parameter = nextParameter;
  } while (parameter !== null);
}

interface ListCandidate {
  list: BehavingList;
  object: ObjectDeclaration;
}

type Candidates = [ListCandidate, ...ListCandidate[]];

/**
 * Returns the lists that match the request, at least one. If a GraphQL query matches several, its response decides.
 * Throws BAD_REQUEST if none matches.
 */
function findLists({ displayName, declaration }: Vendor, request: ListRequest): Candidates {
  const allLists = listDeclaredObjects(declaration).flatMap((object) =>
    [object.list, object.incrementalList, object.deepList].flatMap((list) =>
      list ? { list: { ...list, behavior: getBehavior(declaration, list) }, object } : [],
    ),
  );
  const text = findQuery(request);
  const [first, ...otherLists] = allLists
    .filter(({ list }) => matchesRequest(list, request))
    .filter(({ list }) => text === null || text.includes(`$${getPositionVariable(list)}`));
  if (first) return [first, ...otherLists];
  const reason =
    text === null
      ? `has no declared list at ${request.path}`
      : 'has no declared list for this query: a query must have a variable for the position of a page';
  throw new ProviderError('BAD_REQUEST', `${displayName} ${reason}`);
}

/** True if the request has the list's path and method, and can carry its page parameter. */
function matchesRequest(
  { method, path: template, paging }: ListDeclaration,
  { path, body }: ListRequest,
): boolean {
  if (method !== (body ? 'POST' : 'GET') || !createPathPattern(template).test(path)) return false;
  if ('parameter' in paging)
    return body ? paging.parameter.in !== 'header' : paging.parameter.in === 'query';
  return body === undefined;
}

/**
 * Returns the GraphQL query. Null if the request has none. Throws BAD_REQUEST for a mutation, because it would run once
 * for each page.
 */
function findQuery({ body }: ListRequest): string | null {
  const text = body?.query;
  if (typeof text !== 'string') return null;
  if (/^\s*(query\b|\{)/.test(text)) return text;
  throw new ProviderError(
    'BAD_REQUEST',
    'Only a GraphQL query has pages: `query` must start with `query` or `{`',
  );
}

/** Returns the last part of the pointer, for example `after` of `/variables/after`. */
function getPositionVariable({ paging }: ListDeclaration): string {
  return 'parameter' in paging ? (paging.parameter.name.split('/').at(-1) ?? '') : '';
}

function selectByResponse(candidates: Candidates, response: ProviderResponse): ListCandidate {
  const [first, ...otherCandidates] = candidates;
  if (otherCandidates.length === 0) return first;
  const match = candidates.find(({ list }) =>
    Array.isArray(findValue(response.body, list.records)),
  );
  if (match) return match;
  throw new ProviderError('BAD_REQUEST', 'The response has none of the declared lists', {
    status: response.status,
  });
}

/** Adds the maximum page size, unless the caller set a size. */
function setPageSize(
  { pageSize }: ListDeclaration,
  { path, query, body }: ListRequest,
): ListRequest {
  if (!pageSize || pageSize.in === 'header') return { path, query, ...(body && { body }) };
  if (pageSize.in === 'query') {
    return {
      path,
      query: { [pageSize.name]: String(pageSize.max), ...query },
      ...(body && { body }),
    };
  }
  const text = body?.query;
  const variable = pageSize.name.split('/').at(-1);
  // A GraphQL query refuses variables that it does not declare.
  const acceptsSize = typeof text !== 'string' || text.includes(`$${variable}`);
  const isSet = findValue(body, pageSize.name) !== undefined;
  return {
    path,
    query,
    body: isSet || !acceptsSize ? body : withValue(body ?? {}, pageSize.name, pageSize.max),
  };
}

function createPathPattern(path: string): RegExp {
  const parts = path.split(/(\{\{\w+\}\}|\{\+?\w+\})/);
  const pattern = parts.map((part) => {
    if (part.startsWith('{')) return part.startsWith('{+') ? '.+' : '[^/]+';
    return part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${pattern.join('') || '/?'}$`);
}

function createPageRequest(
  { headers }: Declaration,
  { paging }: ListDeclaration,
  {
    path,
    query,
    body,
    parameter,
    session,
  }: ListRequest & { parameter: PageParameter | null; session: ProviderSession },
): ProviderRequest {
  const method = body ? 'POST' : 'GET';
  const request = { method, path, headers: fillStrings(headers, session) } as const;
  if (parameter === null) return { ...request, query, ...(body && { body }) };
  if (!('parameter' in paging)) return { ...request, path: String(parameter) };
  const { in: part, name } = paging.parameter;
  if (part === 'body') return { ...request, query, body: withValue(body ?? {}, name, parameter) };
  return { ...request, query: { ...query, [name]: parameter }, ...(body && { body }) };
}

interface ListPageResult {
  response: ProviderResponse;
  parameter: PageParameter | null;
  sizedRequest: ListRequest;
  rows: ProxyRecord[];
  session: ProviderSession;
}

function findNextPage(
  { list, object }: ListCandidate,
  { response, parameter, sizedRequest, rows, session }: ListPageResult,
): PageParameter | null {
  const { paging, pageSize } = list;
  const start = 'parameter' in paging ? readParameter(sizedRequest, paging.parameter) : undefined;
  return findNextParameter(list, {
    response,
    baseUrl: session.baseUrl,
    ids: rows.map((row) => findRecordId(object.id, row) ?? ''),
    size: pageSize ? Number(readParameter(sizedRequest, pageSize)) || null : null,
    parameter: parameter ?? start ?? null,
  });
}

function readParameter(
  { query, body }: ListRequest,
  { in: part, name }: RequestLocation,
): PageParameter | undefined {
  const value = part === 'query' ? query[name] : findValue(body, name);
  return typeof value === 'string' || typeof value === 'number' ? value : undefined;
}
