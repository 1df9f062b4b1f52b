/** Endpoints of lists. A page of a domain list becomes a plain array, or `results` with pagination. */
import { z } from 'zod';
import type { Read } from '../../domain/declared-read.ts';
import { PAGE_MAX, type Page, type PageArgs, pageSize } from '../../domain/paging/page.ts';
import { resource } from '../openapi/schemas.ts';
import {
  describe,
  type Endpoint,
  type EndpointBase,
  endpoint,
  type OtherPlaces,
  type RestRequest,
  respond,
} from './endpoint.ts';
import type { Place } from './places.ts';

interface ListOf<I extends z.ZodObject, Row> extends EndpointBase {
  /** The filters, and the members in the path. */
  input: I;
  places?: OtherPlaces<I>;
  list: Read<[input: z.output<I> & PageArgs], Promise<Page<Row>> | Page<Row>>;
}

/** The items are formatted as their resource, or by the endpoint's own schema and function. */
type ListDefinition<I extends z.ZodObject, Row, Item> = ListOf<I, Row> &
  (
    | { resource: z.ZodObject }
    | {
        item: z.ZodType<unknown, Item>;
        show(row: Row, request: RestRequest): Item | Promise<Item>;
      }
  );

/**
 * Defines a list whose response is a plain array. If there is a next page, the Link header has its URL. A caller who
 * ignores pages gets the first thousand items.
 */
export function listEndpoint<I extends z.ZodObject, Row, Item>(
  definition: ListDefinition<I, Row, Item>,
): Endpoint {
  const { item, showPage, ...rest } = describeList(definition, PAGE_MAX);
  return endpoint({
    ...rest,
    description: `${rest.description} If there is a next page, the Link header has its URL.`.trim(),
    output: z.array(item).describe('One page of the list, in the order that the summary names.'),
    async run(request, input) {
      const { items, nextPageToken } = await showPage(request, input);
      if (nextPageToken !== undefined)
        request.setHeader('link', linkToNext(request, nextPageToken));
      return items;
    },
  });
}

/** The reference API's default size of a page of `results`. */
const RESULTS_DEFAULT = 200;

/** Defines a list whose response has `results` and `pagination`. */
export function pagedEndpoint<I extends z.ZodObject, Row, Item>(
  definition: ListDefinition<I, Row, Item>,
): Endpoint {
  const { item, showPage, ...rest } = describeList(definition, RESULTS_DEFAULT);
  return endpoint({
    ...rest,
    output: z
      .object({
        results: z.array(item).describe('The items of this page.'),
        pagination,
      })
      .describe('One page of the list, in the order that the summary names.'),
    async run(request, input) {
      const { items, nextPageToken } = await showPage(request, input);
      const done = nextPageToken === undefined;
      return { results: items, pagination: { done, nextPageToken } };
    },
  });
}

const pagination = resource(
  'Pagination',
  'Whether there is a next page, and the token that requests it.',
  {
    done: z.boolean().describe('Whether this is the last page.'),
    nextPageToken: z
      .string()
      .optional()
      .describe('Pass it as pageToken to get the next page. Absent on the last page.'),
  },
);

function describeList<I extends z.ZodObject, Row, Item>(
  definition: ListDefinition<I, Row, Item>,
  pageSizeDefault: number,
) {
  const { list, places, input, ...rest } = definition;
  const { output: item, show } = respond<Row, Item>(
    'item' in definition ? { output: definition.item, show: definition.show } : definition,
  );
  const first = pageSize
    .default(pageSizeDefault)
    .describe(
      `The maximum number of items in a page, 1 to ${PAGE_MAX}. Default: ${pageSizeDefault}.`,
    );
  return {
    ...(rest as EndpointBase),
    ...describe(list, rest),
    item: item as z.ZodType<unknown, Item>,
    showPage: (request: RestRequest, given: object) => showPage({ list, show }, request, given),
    pageSizeDefault,
    needs: list.needs,
    method: 'GET' as const,
    status: 200 as const,
    input: z.object({ ...input.shape, first, after }) as z.ZodObject,
    places: { ...places, ...PAGE_PLACES },
  };
}

const after = z
  .string()
  .max(1_024)
  .optional()
  .describe(
    'The token of the next page, from the response with the previous page. Default: the first page.',
  );

/** The query parameters of the domain's page arguments. */
const PAGE_PLACES: Record<string, Place> = {
  first: { in: 'query', name: 'pageSize' },
  after: { in: 'query', name: 'pageToken' },
};

async function showPage<I extends z.ZodObject, Row, Item>(
  {
    list,
    show,
  }: Pick<ListOf<I, Row>, 'list'> & {
    show(row: Row, request: RestRequest): Item | Promise<Item>;
  },
  request: RestRequest,
  input: object,
): Promise<{ items: Item[]; nextPageToken: string | undefined }> {
  const { edges, pageInfo } = await list(request.call, input as z.output<I> & PageArgs);
  // Formats all items in one tick, so that each of their relations is one batch.
  const items = await Promise.all(edges.map(({ node }) => show(node, request)));
  const hasNext = await pageInfo.hasNextPage;
  return { items, nextPageToken: (hasNext && pageInfo.endCursor) || undefined };
}

function linkToNext({ url }: RestRequest, pageToken: string): string {
  const { pathname, searchParams } = new URL(url, 'http://gateway');
  searchParams.set('pageToken', pageToken);
  return `<${pathname}?${searchParams}>; rel="next"`;
}
