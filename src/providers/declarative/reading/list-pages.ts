/** All pages of a list as the vendor gives it, for requests that are forwarded: no window and no mapping. */
import type { ProviderRequest, ProviderResponse, ProviderSession } from '../../contract.ts';
import type { ListRequest } from '../../moving-records.ts';
import { ProviderError } from '../../provider-error.ts';
import type { Declaration } from '../declaration/declaration.ts';
import type { List } from '../declaration/list-declaration.ts';
import type { ObjectDeclaration } from '../declaration/object-declaration.ts';
import type { Place } from '../declaration/place.ts';
import { allObjects } from '../describe-object.ts';
import { failure, hasSucceeded, type Vendor } from '../failure.ts';
import { valueAt, withValue } from '../json.ts';
import { idOf } from '../record-id.ts';
import { fillTexts } from '../template.ts';
import { rowsIn } from './list-page.ts';
import { type Next, nextOf } from './paging.ts';

type Row = Record<string, unknown>;

/**
 * The records page by page. Throws BAD_REQUEST before the first one if the request is for no list of the declaration,
 * and RETRYABLE if the vendor's pages repeat themselves. A request with a body is a POST: one that searches, or a
 * query of GraphQL, which says by a variable where a page begins.
 */
export async function* listPages(
  vendor: Vendor,
  session: ProviderSession,
  request: ListRequest,
): AsyncGenerator<Row[]> {
  const known = findLists(vendor, request);
  const [first] = known;
  const asked = withSize(first.list, request);
  let found: Listed | undefined;
  let at: Next | null = null;
  do {
    const { list } = found ?? first;
    const response = await session.send(
      requestAt(vendor.declaration, list, { ...asked, at, session }),
    );
    if (!hasSucceeded(vendor, response)) throw failure(vendor, response, 'READ');
    found ??= answeredBy(known, response);
    const rows = rowsIn(response, found.list);
    yield rows;
    const next = nextAfter(found, { response, at, asked, rows, session });
    if (next !== null && next === at) {
      throw new ProviderError('RETRYABLE', 'The pages of the list repeat themselves');
    }
    at = next;
  } while (at !== null);
}

interface Listed {
  list: List;
  object: ObjectDeclaration;
}

type Known = [Listed, ...Listed[]];

/** At least one; of a vendor of GraphQL the answer tells which. Throws BAD_REQUEST. */
function findLists({ displayName, declaration }: Vendor, request: ListRequest): Known {
  const listed = allObjects(declaration).flatMap((object) =>
    [object.all, object.changed].flatMap((list) => (list ? { list, object } : [])),
  );
  const text = queryIn(request);
  const [first, ...others] = listed
    .filter(({ list }) => isAsked(list, request))
    .filter(({ list }) => text === null || text.includes(`$${variableOf(list)}`));
  if (first) return [first, ...others];
  const why =
    text === null
      ? `has no list at ${request.path} that is known`
      : 'has no list that is known to be asked for so: a query must say by a variable where a page begins';
  throw new ProviderError('BAD_REQUEST', `${displayName} ${why}`);
}

/** A request that is described by a URL, or by a URL and a body. */
function isAsked({ method, path: template, paging }: List, { path, body }: ListRequest): boolean {
  if (method !== (body ? 'POST' : 'GET') || !patternOf(template).test(path)) return false;
  if ('send' in paging) return body ? paging.send.in !== 'header' : paging.send.in === 'query';
  return body === undefined;
}

/** Of GraphQL; null for another request. Throws BAD_REQUEST if the text is not a query: it would be sent again and again. */
function queryIn({ body }: ListRequest): string | null {
  const text = body?.query;
  if (typeof text !== 'string') return null;
  if (/^\s*(query\b|\{)/.test(text)) return text;
  throw new ProviderError('BAD_REQUEST', 'Only queries have pages: the text must begin with one');
}

/** The last part of the place: `after` of `/variables/after`. */
function variableOf({ paging }: List): string {
  return 'send' in paging ? (paging.send.name.split('/').at(-1) ?? '') : '';
}

function answeredBy(known: Known, response: ProviderResponse): Listed {
  const [first, ...others] = known;
  if (others.length === 0) return first;
  const found = known.find(({ list }) => Array.isArray(valueAt(response.body, list.records)));
  if (found) return found;
  throw new ProviderError('BAD_REQUEST', 'The answer has no list that is known', {
    status: response.status,
  });
}

/** As large a page as the vendor gives, unless the caller says another size. */
function withSize({ size }: List, { path, query, body }: ListRequest): ListRequest {
  if (!size || size.in === 'header') return { path, query, ...(body && { body }) };
  if (size.in === 'query') {
    return { path, query: { [size.name]: String(size.max), ...query }, ...(body && { body }) };
  }
  const text = body?.query;
  const name = size.name.split('/').at(-1);
  const isTaken = typeof text !== 'string' || text.includes(`$${name}`);
  const isSaid = valueAt(body, size.name) !== undefined;
  return {
    path,
    query,
    body: isSaid || !isTaken ? body : withValue(body ?? {}, size.name, size.max),
  };
}

function patternOf(path: string): RegExp {
  const parts = path.split(/(\{\{\w+\}\}|\{\+?\w+\})/);
  const pattern = parts.map((part) => {
    if (part.startsWith('{')) return part.startsWith('{+') ? '.+' : '[^/]+';
    return part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${pattern.join('') || '/?'}$`);
}

function requestAt(
  { headers }: Declaration,
  { paging }: List,
  { path, query, body, at, session }: ListRequest & { at: Next | null; session: ProviderSession },
): ProviderRequest {
  const method = body ? 'POST' : 'GET';
  const request = { method, path, headers: fillTexts(headers, session) } as const;
  if (at === null) return { ...request, query, ...(body && { body }) };
  if (!('send' in paging)) return { ...request, path: String(at) };
  const { in: part, name } = paging.send;
  if (part === 'body') return { ...request, query, body: withValue(body ?? {}, name, at) };
  return { ...request, query: { ...query, [name]: at }, ...(body && { body }) };
}

interface Arrived {
  response: ProviderResponse;
  at: Next | null;
  asked: ListRequest;
  rows: Row[];
  session: ProviderSession;
}

function nextAfter(
  { list: { paging, size }, object }: Listed,
  { response, at, asked, rows, session }: Arrived,
): Next | null {
  const start = 'send' in paging ? saidIn(asked, paging.send) : undefined;
  return nextOf(paging, {
    response,
    baseUrl: session.baseUrl,
    ids: rows.map((row) => idOf(object.id, row) ?? ''),
    size: size ? Number(saidIn(asked, size)) || null : null,
    at: at ?? start ?? null,
  });
}

function saidIn({ query, body }: ListRequest, { in: part, name }: Place): Next | undefined {
  const value = part === 'query' ? query[name] : valueAt(body, name);
  return typeof value === 'string' || typeof value === 'number' ? value : undefined;
}
