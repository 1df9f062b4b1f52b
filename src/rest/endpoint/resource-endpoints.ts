/**
 * Defines the endpoints of declared reads, lists and mutations. The declaration determines the need and the description
 * of its endpoint.
 */
import { z } from 'zod';
import type { Mutation } from '../../domain/access/declared-mutation.ts';
import { type Read, read } from '../../domain/access/declared-read.ts';
import { createdFilters, type TimeRange } from '../../domain/access/paging/created-range.ts';
import { PAGE_MAX, type Page, type PageArgs, pageSize } from '../../domain/access/paging/page.ts';
import { withMovedPaths } from '../../domain/base/parse-input.ts';
import { resource } from '../../domain/base/resource.ts';
import {
  type DeclaredLocations,
  describeEndpoint,
  type Endpoint,
  type EndpointBase,
  type EndpointDefinition,
  type EndpointResponse,
  endpoint,
  NOT_MODIFIED,
  type RestRequest,
} from './endpoint.ts';
import { type Location, locateMember } from './request-form.ts';
import { declareNames } from './stored-spelling.ts';

interface ReadDefinition<I extends z.ZodObject, R> extends EndpointBase, EndpointResponse {
  read: Read<[input: z.output<I>], R | Promise<R>>;
  input: I;
  locations?: DeclaredLocations<I>;
  /** Returns the value of `resource`. Default: the result of the read. */
  show?(result: R, request: RestRequest, input: z.output<I>): unknown;
  /** Returns the version of the response. A client that already has this version gets 304. */
  etag?(result: R): string;
}

export function readEndpoint<I extends z.ZodObject, R>(definition: ReadDefinition<I, R>): Endpoint {
  const { read, etag, show } = definition;
  return endpoint<I>({
    ...definition,
    ...describeEndpoint(read, definition),
    method: 'GET',
    status: 200,
    needs: read.needs,
    hasEtag: etag !== undefined,
    async run(request, input) {
      const result = await read(request.call, input);
      const tag = etag && `"${etag(result)}"`;
      if (tag) request.setHeader('etag', tag);
      if (tag && matchesTag(request.knownVersions, tag)) return NOT_MODIFIED;
      return show ? show(result, request, input) : result;
    },
  });
}

/** True if the header `If-None-Match` names the tag. Proxies may have marked it as weak (RFC 9110, 13.1.2). */
function matchesTag(header: string | undefined, tag: string): boolean {
  const names = (header ?? '').split(',').map((name) => name.trim().replace(/^W\//, ''));
  return names.includes('*') || names.includes(tag);
}

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
      .describe('Pass it as pageToken to get the next page. Absent on the last page.'),
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

const LINK_REMARK = 'If there is a next page, the Link header has its URL.';

/**
 * Defines a list whose response is a plain array. The Link header has the URL of the next page. By default a page has
 * as many items as possible, for clients that ignore pages.
 */
export function listEndpoint<I extends z.ZodObject>(definition: ListDefinition<I>): Endpoint {
  return definePages(definition, {
    pageSizeDefault: PAGE_MAX,
    remark: LINK_REMARK,
    body: z.array(definition.resource),
    toBody(items, nextPageToken, request) {
      linkToNext(request, nextPageToken);
      return items;
    },
  });
}

/**
 * Defines a list whose response is an object with the items by name, for clients that read one item. Its pages are those
 * of a plain array.
 */
export function namedListEndpoint<I extends z.ZodObject>(definition: ListDefinition<I>): Endpoint {
  return definePages(definition, {
    pageSizeDefault: PAGE_MAX,
    remark: LINK_REMARK,
    body: z.record(z.string(), definition.resource),
    toBody(items, nextPageToken, request) {
      linkToNext(request, nextPageToken);
      return Object.fromEntries(items.map((item) => [(item as { name: string }).name, item]));
    },
  });
}

function linkToNext({ url, setHeader }: RestRequest, pageToken: string | null): void {
  if (pageToken === null) return;
  const { pathname, searchParams } = new URL(url, 'http://gateway');
  searchParams.set('pageToken', pageToken);
  setHeader('link', `<${pathname}?${searchParams}>; rel="next"`);
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
  list: Read<[input: I], Promise<R> | R>,
): Read<[input: Omit<I, 'createTime'> & TimeParameters], Promise<R>> {
  return read(
    list.needs,
    list.description,
    (call, { createTimeFrom: from, createTimeUntil: until, ...input }) => {
      const createTime = from || until ? { from, until } : undefined;
      const parameter = from ? 'createTimeFrom' : 'createTimeUntil';
      return withMovedPaths(
        (path) =>
          path[0] === 'createTime' ? [TIME_PARAMETERS[String(path[1])] ?? parameter] : path,
        () => list(call, { ...input, ...(createTime && { createTime }) } as unknown as I),
      );
    },
  );
}

/** The parameters of the range's members. */
const TIME_PARAMETERS: Record<string, string> = {
  from: 'createTimeFrom',
  until: 'createTimeUntil',
};

interface ChangeDefinition<S extends z.ZodObject, R, B extends z.ZodRawShape> extends EndpointBase {
  mutation: Mutation<S, R>;
  locations?: DeclaredLocations<S> & { [member in keyof B & string]?: Location };
  mask?: string;
  /** Members of the request that are not part of the mutation's input. */
  extraInput?: B;
  /** Runs before the mutation. Throws to refuse the request, for example because of the extra members. */
  precheck?(request: RestRequest, input: z.output<S> & z.output<z.ZodObject<B>>): Promise<unknown>;
}

interface MutationDefinition<S extends z.ZodObject, R, B extends z.ZodRawShape>
  extends ChangeDefinition<S, R, B>,
    EndpointResponse {
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  status: 200 | 201 | 204;
  /** Returns the value of `resource`. Default: the result of the mutation. */
  show?(result: R, request: RestRequest): unknown;
}

type NoShape = Record<never, never>;

export function mutationEndpoint<S extends z.ZodObject, R, B extends z.ZodRawShape = NoShape>(
  definition: MutationDefinition<S, R, B>,
): Endpoint {
  const { mutation, extraInput, precheck, show } = definition;
  const { input: schema, needs, providerCalls } = mutation;
  const defined = endpoint({
    ...definition,
    ...describeEndpoint(mutation, definition),
    needs,
    ...(providerCalls && { providerCalls }),
    input: extraInput ? schema.safeExtend(extraInput as z.ZodRawShape) : schema,
    async run(request: RestRequest, input: object) {
      await precheck?.(request, input as Parameters<typeof precheck>[1]);
      const result = await mutation(request.call, pickMembers(schema, input));
      return show ? show(result, request) : result;
    },
  } as EndpointDefinition<z.ZodObject>);
  declareNames(schema.meta()?.id, (path) => locateMember(defined.locations, path).name);
  return defined;
}

/** Defines a DELETE endpoint, whose response has no body. */
export function deleteEndpoint<S extends z.ZodObject, R, B extends z.ZodRawShape = NoShape>(
  definition: ChangeDefinition<S, R, B>,
): Endpoint {
  return mutationEndpoint({ ...definition, method: 'DELETE', status: 204, resource: null });
}

function pickMembers<S extends z.ZodObject>({ shape }: S, input: object): z.output<S> {
  const members = Object.entries(input).filter(([name]) => Object.hasOwn(shape, name));
  return Object.fromEntries(members) as z.output<S>;
}
