/** The schema for lists of records: how pages and bounds are requested, and where responses hold records. */
import { z } from 'zod';
import { json, path, pointer, requestLocation, texts, timeFormat } from './request-location.ts';

/**
 * How the next page is requested.
 *
 * - cursor: with a text or number of the response.
 *
 * - nextUrl: by the URL in the response.
 *
 * - link: by the URL in a Link header (RFC 8288).
 *
 * - offset: with the number of records so far.
 *
 * - page: with the number of the page.
 *
 * - lastId: with the id of the last record.
 *
 * - none: one response has all records.
 *
 * `more` points at a flag that is false on the last page, `lastPage` at one that is true there.
 */
const paging = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('cursor'),
    send: requestLocation,
    next: pointer,
    more: pointer.optional(),
    lastPage: pointer.optional(),
  }),
  z.strictObject({
    kind: z.literal('nextUrl'),
    next: pointer,
    more: pointer.optional(),
    lastPage: pointer.optional(),
  }),
  z.strictObject({ kind: z.literal('link') }),
  z.strictObject({
    kind: z.literal('offset'),
    send: requestLocation,
    more: pointer.optional(),
    lastPage: pointer.optional(),
    total: pointer.optional(),
  }),
  z.strictObject({
    kind: z.literal('page'),
    send: requestLocation,
    first: z.int().default(1),
    more: pointer.optional(),
    /** Where the response holds the number of pages. */
    pages: pointer.optional(),
    /** A header with the number of the next page. It is empty on the last page. */
    nextHeader: z.string().optional(),
  }),
  z.strictObject({ kind: z.literal('lastId'), send: requestLocation, more: pointer.optional() }),
  z.strictObject({ kind: z.literal('none') }),
]);
export type Paging = z.infer<typeof paging>;

/** A bound of the vendor's filter by time of change. */
const timeFilter = z.strictObject({
  ...requestLocation.shape,
  format: timeFormat,
  /**
   * The form of the filter: a text such as `greater-than(updated,{time})`, or JSON in a body, where `{time}` alone stays a
   * number if the format is one.
   */
  template: z.union([z.string().includes('{time}'), json]).default('{time}'),
  /** The vendor excludes records that changed at exactly that time. */
  isExclusive: z.boolean().default(false),
  /** The list requires this bound. A read without it starts at the earliest time. */
  isRequired: z.boolean().default(false),
  /** Only the request for the first page has the bound, because the cursor includes it. */
  isFirstOnly: z.boolean().default(false),
  /**
   * Widens the bound: for vendors that use their own time zone or refuse times close to now, and for numbered pages that
   * must not shift when a record changes.
   */
  marginMs: z.int().nonnegative().default(0),
});
export type TimeFilter = z.output<typeof timeFilter>;

/** Where a request names the wanted fields, if the vendor returns few without them. */
export const selectedFields = z.strictObject({
  ...requestLocation.shape,
  separator: z.string().default(','),
  /** The text around the names, such as a GraphQL query. */
  template: z.string().includes('{fields}').default('{fields}'),
  /** Names that every request has. */
  always: z.array(z.string()).default([]),
  /** The names are a list in the body instead of a text. */
  isList: z.boolean().default(false),
  max: z.int().positive().optional(),
});
export type SelectedFields = z.output<typeof selectedFields>;

/** The vendor's filter for records whose field has a value. */
const equality = z.strictObject({
  ...requestLocation.shape,
  /** May contain the field's name as `{field}`. */
  name: z.string().min(1).default('{field}'),
  /** Contains `{field}` and `{value}`. In JSON, `{value}` alone keeps the type of the value. */
  template: z.union([z.string().includes('{value}'), json]).default('{value}'),
  /** How values are quoted in a text. JSON values are not quoted. */
  quoting: z.enum(['none', 'odata', 'formula', 'caret']).default('none'),
  /** Permitted field names. They must not contain characters that end the condition. */
  names: z.instanceof(RegExp).default(/^[A-Za-z_][\w.]*$/),
  /** The maximum number of conditions in one request. */
  max: z.int().positive().default(10),
});
export type Equality = z.output<typeof equality>;

/** One way to list an object's records. */
export const list = z.strictObject({
  method: z.enum(['GET', 'POST']).default('GET'),
  path,
  query: texts,
  body: json.optional(),
  /** Where the response holds the list of records. `record` is the location of a record in an item. */
  records: pointer,
  record: pointer.default(''),
  /** Present in records of another kind, which are omitted. */
  skip: pointer.optional(),
  /** The parameter of the page size, and the vendor's maximum. */
  size: z
    .strictObject({
      ...requestLocation.shape,
      max: z.int().positive(),
      /** The text around the number. */
      template: z.string().includes('{size}').optional(),
    })
    .optional(),
  paging,
  /** The vendor only lists a range of at most `count` days. Reads request the last ones, up to today in UTC. */
  days: z
    .strictObject({ from: requestLocation, to: requestLocation, count: z.int().positive() })
    .optional(),
  since: timeFilter.optional(),
  until: timeFilter.optional(),
  /** Both bounds are one text: `join` separates them, and `wrap` encloses them. */
  expression: z
    .strictObject({ join: z.string(), wrap: z.string().includes('{all}').default('{all}') })
    .optional(),
  /** The newest change comes first, so an incremental read stops at the first older record. */
  newestFirst: z.boolean().default(false),
  /**
   * The oldest change comes first, and each page is requested from the time of the last record. A record that changes
   * between two pages then shifts no other record, and no page is deep.
   */
  isKeyset: z.boolean().default(false),
  /** Where the response holds the total number of records. */
  total: pointer.optional(),
  /** The header with the total number of records. */
  totalHeader: z.string().optional(),
  fields: selectedFields.optional(),
  equals: equality.optional(),
});
export type List = z.output<typeof list>;
