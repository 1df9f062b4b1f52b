/** Lists: a page of the domain's as the platform has it, a plain array or results with pagination. */
import { z } from 'zod';
import { PAGE_DEFAULT, PAGE_MAX, type Page, type PageArgs } from '../../domain/page.ts';
import type { Scope } from '../../domain/viewer/scopes.ts';
import { resource } from '../openapi/schemas.ts';
import { type Asked, type Endpoint, endpoint } from './endpoint.ts';
import type { Place } from './places.ts';

interface ListDefinition<I extends z.ZodObject, Row, Item> {
  id: string;
  path: string;
  tag: string;
  summary: string;
  needs: Scope | 'bearer';
  /** The filters, and what is in the path. */
  input: I;
  places?: { [member in keyof I['shape'] & string]?: Place };
  item: z.ZodType<unknown, Item>;
  list(asked: Asked, input: z.output<I> & PageArgs): Promise<Page<Row>> | Page<Row>;
  show(row: Row, asked: Asked): Item | Promise<Item>;
}

/**
 * A plain array. A Link header names the next page where there is one: callers who know of no pages see
 * the first thousand at once, and the others miss nothing.
 */
export function listEndpoint<I extends z.ZodObject, Row, Item>(
  definition: ListDefinition<I, Row, Item>,
): Endpoint {
  return endpoint({
    ...paged(definition, PAGE_MAX),
    description: 'A Link header names the next page where there is one.',
    output: z.array(definition.item),
    async run(asked, input) {
      const { items, nextPageToken } = await showPage(definition, asked, input);
      if (nextPageToken !== undefined) asked.setHeader('link', linkToNext(asked, nextPageToken));
      return items;
    },
  });
}

/** `results` with `pagination`. */
export function pagedEndpoint<I extends z.ZodObject, Row, Item>(
  definition: ListDefinition<I, Row, Item>,
): Endpoint {
  return endpoint({
    ...paged(definition, PAGE_DEFAULT),
    output: z.object({
      results: z.array(definition.item).describe('The items of this page.'),
      pagination,
    }),
    async run(asked, input) {
      const { items, nextPageToken } = await showPage(definition, asked, input);
      const done = nextPageToken === undefined;
      return { results: items, pagination: { done, nextPageToken } };
    },
  });
}

const pagination = resource('Pagination', 'Where a page lies in its list.', {
  done: z.boolean().describe('Whether this is the last page.'),
  nextPageToken: z.string().optional().describe('The pageToken of the next page.'),
});

function paged<I extends z.ZodObject, Row, Item>(
  { list: _list, show: _show, item: _item, ...rest }: ListDefinition<I, Row, Item>,
  usual: number,
) {
  const first = z
    .int()
    .min(1)
    .max(PAGE_MAX)
    .default(usual)
    .describe(`How many items, 1 to ${PAGE_MAX}.`);
  return {
    ...rest,
    method: 'GET' as const,
    status: 200 as const,
    input: z.object({ ...rest.input.shape, first, after }) as z.ZodObject,
    places: { ...rest.places, ...PAGE_PLACES },
  };
}

const after = z.string().max(1_024).optional().describe('The token that the page before gave.');

/** What callers call the domain's page arguments. */
const PAGE_PLACES: Record<string, Place> = {
  first: { in: 'query', name: 'pageSize' },
  after: { in: 'query', name: 'pageToken' },
};

async function showPage<I extends z.ZodObject, Row, Item>(
  { list, show }: ListDefinition<I, Row, Item>,
  asked: Asked,
  input: object,
): Promise<{ items: Item[]; nextPageToken: string | undefined }> {
  const { edges, pageInfo } = await list(asked, input as z.output<I> & PageArgs);
  // Shown in one tick, so that each of their relations is one batch.
  const items = await Promise.all(edges.map(({ node }) => show(node, asked)));
  const hasNext = await pageInfo.hasNextPage;
  return { items, nextPageToken: (hasNext && pageInfo.endCursor) || undefined };
}

function linkToNext({ url }: Asked, pageToken: string): string {
  const { pathname, searchParams } = new URL(url, 'http://gateway');
  searchParams.set('pageToken', pageToken);
  return `<${pathname}?${searchParams}>; rel="next"`;
}
