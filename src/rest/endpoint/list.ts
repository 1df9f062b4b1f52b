/** Defines endpoints of lists. Responses are plain arrays, or objects with `results` and `pagination`. */
import { z } from 'zod';
import { type Read, read } from '../../domain/declared-read.ts';
import { createdFilters, type TimeRange } from '../../domain/paging/created-range.ts';
import { PAGE_MAX, type Page, type PageArgs, pageSize } from '../../domain/paging/page.ts';
import { resource } from '../../domain/resource.ts';
import {
  type DeclaredLocations,
  describeEndpoint,
  type Endpoint,
  type EndpointBase,
  endpoint,
  type RestRequest,
} from './endpoint.ts';
import type { Location } from './locations.ts';

/** The reference API's default size of a page of `results`. */
const RESULTS_DEFAULT = 200;

/** The locations of the domain's page arguments. */
const PAGE_LOCATIONS: Record<string, Location> = {
  first: { in: 'query', name: 'pageSize' },
  after: { in: 'query', name: 'pageToken' },
};

const after = z
  .string()
  .max(1_024)
  .optional()
  .describe(
    'The token of the next page, from the response with the previous page. Default: the first page.',
  );

const pagination = resource(
  'Pagination',
  'Whether there is a next page, and the token that requests it.',
  {
    done: z.boolean().describe('Whether this is the last page.'),
    nextPageToken: z
      .string()
      .nullable()
      .describe('Pass it as pageToken to get the next page. Null on the last page.'),
  },
);

interface ListDefinition<I extends z.ZodObject> extends EndpointBase {
  /** The filters, and the members in the path. */
  input: I;
  locations?: DeclaredLocations<I>;
  list: Read<[input: z.output<I> & PageArgs], Promise<Page<object>> | Page<object>>;
  /** The resource of the items. */
  resource: z.ZodObject;
}

/**
 * Defines a list whose response is a plain array. The Link header has the URL of the next page. By default a page has
 * as many items as possible, for clients that ignore pages.
 */
export function listEndpoint<I extends z.ZodObject>(definition: ListDefinition<I>): Endpoint {
  return definePages(definition, {
    pageSizeDefault: PAGE_MAX,
    remark: 'If there is a next page, the Link header has its URL.',
    body: z.array(definition.resource),
    toBody(items, nextPageToken, request) {
      if (nextPageToken !== null) request.setHeader('link', linkToNext(request, nextPageToken));
      return items;
    },
  });
}

function linkToNext({ url }: RestRequest, pageToken: string): string {
  const { pathname, searchParams } = new URL(url, 'http://gateway');
  searchParams.set('pageToken', pageToken);
  return `<${pathname}?${searchParams}>; rel="next"`;
}

/** Defines a list whose response has `results` and `pagination`. */
export function pagedEndpoint<I extends z.ZodObject>(definition: ListDefinition<I>): Endpoint {
  const results = z.array(definition.resource).describe('The items of this page.');
  return definePages(definition, {
    pageSizeDefault: RESULTS_DEFAULT,
    body: z.object({ results, pagination }),
    toBody: (results, nextPageToken) => ({
      results,
      pagination: { done: nextPageToken === null, nextPageToken },
    }),
  });
}

interface PageFormat {
  pageSizeDefault: number;
  /** Sentences that follow the description. */
  remark?: string;
  body: z.ZodType;
  toBody(items: object[], nextPageToken: string | null, request: RestRequest): object;
}

function definePages<I extends z.ZodObject>(
  { list, locations, input, ...definition }: ListDefinition<I>,
  { pageSizeDefault, remark, body, toBody }: PageFormat,
): Endpoint {
  const first = pageSize
    .default(pageSizeDefault)
    .describe(
      `The maximum number of items in a page, 1 to ${PAGE_MAX}. Default: ${pageSizeDefault}.`,
    );
  const { summary, description } = describeEndpoint(list, definition);
  return endpoint({
    ...definition,
    summary,
    description: [description, remark].filter(Boolean).join(' '),
    method: 'GET',
    needs: list.needs,
    input: z.object({ ...input.shape, first, after }) as z.ZodObject,
    pageSizeDefault,
    locations: { ...locations, ...PAGE_LOCATIONS },
    status: 200,
    resource: body.describe('One page of the list, in the order that the summary names.'),
    async run(request, input) {
      const { edges, pageInfo } = await list(request.call, input as z.output<I> & PageArgs);
      const nextPageToken = ((await pageInfo.hasNextPage) && pageInfo.endCursor) || null;
      const items = edges.map(({ node }) => node);
      return toBody(items, nextPageToken, request);
    },
  });
}

const createdParameters = {
  createTimeFrom: z
    .date()
    .optional()
    .describe('Only items that were created at this time or later. Default: no limit.'),
  createTimeUntil: z
    .date()
    .optional()
    .describe('Only items that were created before this time. Default: now.'),
  order: createdFilters.shape.order,
};

/** Replaces the time range among the filters of a list with two parameters, because a query has no objects. */
export function splitCreateTime<S extends z.ZodRawShape>({
  createTime: _range,
  order: _order,
  ...others
}: S & { createTime: unknown; order: unknown }) {
  return { ...others, ...createdParameters };
}

interface TimeParameters {
  createTimeFrom?: Date | undefined;
  createTimeUntil?: Date | undefined;
}

/** Adapts a list, so that it accepts the two parameters in place of the range. */
export function joinCreateTime<I extends { createTime?: TimeRange | null | undefined }, R>(
  list: Read<[input: I], R>,
): Read<[input: Omit<I, 'createTime'> & TimeParameters], R> {
  return read(
    list.needs,
    list.description,
    (call, { createTimeFrom: from, createTimeUntil: until, ...input }) =>
      list(call, { ...input, createTime: { from, until } } as unknown as I),
  );
}
