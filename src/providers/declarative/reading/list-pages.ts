/** All pages of a list as the vendor gives it, for requests that are forwarded: no window and no mapping. */
import type { ProviderAnswer, ProviderRequest, ProviderSession } from '../../contract.ts';
import type { ListRequest } from '../../moving-records.ts';
import { ProviderError } from '../../provider-error.ts';
import type { Declaration } from '../declaration/declaration.ts';
import type { List } from '../declaration/list-declaration.ts';
import type { ObjectDeclaration } from '../declaration/object-declaration.ts';
import { failure, hasSucceeded, type Vendor } from '../failure.ts';
import { idOf } from '../record-id.ts';
import { fillTexts } from '../template.ts';
import { rowsIn } from './list-page.ts';
import { type Next, nextOf } from './paging.ts';

type Row = Record<string, unknown>;

/**
 * The records page by page. Throws BAD_REQUEST before the first one if the path is no list of the declaration,
 * and RETRYABLE if the vendor's pages repeat themselves.
 */
export async function* listPages(
  vendor: Vendor,
  session: ProviderSession,
  { path, query }: ListRequest,
): AsyncGenerator<Row[]> {
  const { list, object } = findList(vendor, path);
  const asked = { ...(list.size && { [list.size.name]: String(list.size.max) }), ...query };
  let at: Next | null = null;
  do {
    const request = requestAt(vendor.declaration, list, { path, query: asked, at, session });
    const answer = await session.send(request);
    if (!hasSucceeded(vendor, answer)) throw failure(vendor, answer, 'READ');
    const rows = rowsIn(answer, list);
    yield rows;
    const next = nextAfter(list, { answer, at, asked, rows, object, session });
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

function findList({ displayName, declaration }: Vendor, path: string): Listed {
  const { objects, anyObject } = declaration;
  const all = [...Object.values(objects), ...(anyObject ? [anyObject] : [])];
  for (const object of all) {
    for (const list of [object.all, object.changed]) {
      if (list && isPageable(list) && patternOf(list.path).test(path)) return { list, object };
    }
  }
  throw new ProviderError('BAD_REQUEST', `${displayName} has no list at ${path} that is known`);
}

/** What a caller can ask for by an address alone. */
function isPageable({ method, paging }: List): boolean {
  return method === 'GET' && (!('send' in paging) || paging.send.in === 'query');
}

function patternOf(path: string): RegExp {
  const parts = path.split(/(\{\{\w+\}\}|\{\+?\w+\})/);
  const pattern = parts.map((part) => {
    if (part.startsWith('{')) return part.startsWith('{+') ? '.+' : '[^/]+';
    return part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${pattern.join('')}$`);
}

function requestAt(
  { headers }: Declaration,
  { paging }: List,
  { path, query, at, session }: ListRequest & { at: Next | null; session: ProviderSession },
): ProviderRequest {
  const request = { method: 'GET', headers: fillTexts(headers, session) } as const;
  if (at === null) return { ...request, path, query };
  if ('send' in paging) return { ...request, path, query: { ...query, [paging.send.name]: at } };
  return { ...request, path: String(at) };
}

interface Arrived {
  answer: ProviderAnswer;
  at: Next | null;
  asked: Record<string, string>;
  rows: Row[];
  object: ObjectDeclaration;
  session: ProviderSession;
}

function nextAfter(
  { paging, size }: List,
  { answer, at, asked, rows, object, session }: Arrived,
): Next | null {
  const start = 'send' in paging ? asked[paging.send.name] : undefined;
  return nextOf(paging, {
    answer,
    baseUrl: session.baseUrl,
    ids: rows.map((row) => idOf(object.id, row) ?? ''),
    size: size ? Number(asked[size.name]) || null : null,
    at: at ?? start ?? null,
  });
}
