/** The schema for lists of records: how pages and bounds are requested, and where responses hold records. */
import { z } from 'zod';
import { behavior } from '../../behavior.ts';
import {
  jsonObject,
  pathTemplate,
  pointer,
  requestLocation,
  stringMap,
  timeFormat,
} from './request-location.ts';

/**
 * How the next page is requested.
 *
 * - cursor: by a string or number in the response.
 *
 * - nextUrl: by the URL in the response.
 *
 * - link: by the URL in a Link header (RFC 8288).
 *
 * - offset: by the number of records before it.
 *
 * - page: by the number of the page.
 *
 * - lastId: by the id of the last record.
 *
 * - none: one response has all records.
 *
 * `hasMore` points to a flag that is false on the last page, `isLastPage` to one that is true there.
 */
const paging = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('cursor'),
    parameter: requestLocation,
    next: pointer,
    hasMore: pointer.optional(),
    isLastPage: pointer.optional(),
    /**
     * True if the vendor keeps the position of the read. Every page then has a cursor, which may be the same for all pages,
     * and an empty page is the last one. A repeated request returns the next page, so a request without a response
     * restarts the read.
     */
    isScroll: z.boolean().default(false),
  }),
  z.strictObject({
    kind: z.literal('nextUrl'),
    next: pointer,
    hasMore: pointer.optional(),
    isLastPage: pointer.optional(),
  }),
  z.strictObject({ kind: z.literal('link') }),
  z.strictObject({
    kind: z.literal('offset'),
    parameter: requestLocation,
    hasMore: pointer.optional(),
    isLastPage: pointer.optional(),
  }),
  z.strictObject({
    kind: z.literal('page'),
    parameter: requestLocation,
    firstPage: z.int().default(1),
    hasMore: pointer.optional(),
    /** Where the response holds the number of pages. */
    pageCount: pointer.optional(),
    /** A header with the number of the next page. It is empty on the last page. */
    nextHeader: z.string().optional(),
  }),
  z.strictObject({
    kind: z.literal('lastId'),
    parameter: requestLocation,
    hasMore: pointer.optional(),
  }),
  z.strictObject({ kind: z.literal('none') }),
]);
export type Paging = z.infer<typeof paging>;

/** A bound of the vendor's filter by time of change. */
const timeFilter = z.strictObject({
  ...requestLocation.shape,
  format: timeFormat,
  /**
   * The form of the filter: a string such as `greater-than(updated,{time})`, or JSON in a body. In JSON, `{time}` alone
   * becomes a number if the format is numeric.
   */
  template: z.union([z.string().includes('{time}'), jsonObject]).default('{time}'),
  /** True if the vendor requires this bound. Reads without one then start at the earliest time. */
  isRequired: z.boolean().default(false),
  /** True if only the first page's request has the bound, because the cursor includes it. */
  isFirstPageOnly: z.boolean().default(false),
  /**
   * Widens the bound further than `behavior.timeFilter`. Needed for numbered pages, which must not shift when a record
   * changes.
   */
  marginMs: z.int().nonnegative().default(0),
  /** The minimum age of a time that the vendor accepts. Requests have an earlier time instead of a younger one. */
  ageMsMin: z.int().nonnegative().default(0),
});
export type TimeFilter = z.output<typeof timeFilter>;

/** Where a request selects fields. Declare it if the vendor returns few fields by default. */
export const selectedFields = z.strictObject({
  ...requestLocation.shape,
  separator: z.string().default(','),
  /** The string around the names, such as a GraphQL query. */
  template: z.string().includes('{fields}').default('{fields}'),
  /** Names that every request selects. */
  always: z.array(z.string()).default([]),
  /** True if the names are a JSON list in the body instead of one string. */
  isList: z.boolean().default(false),
  /** True if the vendor returns all fields to a request without names. Requests with too many names then have none. */
  returnsAllByDefault: z.boolean().default(false),
  /**
   * True if the vendor returns empty fields too. A field that a response omits is then absent from the record and not
   * null, because the vendor can't return its value.
   */
  returnsEmptyFields: z.boolean().default(false),
  /** Fields that the vendor selects only together, and the name that selects them. */
  container: z.strictObject({ namePattern: z.instanceof(RegExp), name: z.string() }).optional(),
});
export type SelectedFields = z.output<typeof selectedFields>;

/** The vendor's filter for records with a given value in a field. */
const equalityFilter = z.strictObject({
  ...requestLocation.shape,
  /** May contain the field's name as `{field}`. */
  name: z.string().min(1).default('{field}'),
  /** Contains `{field}` and `{value}`. In JSON, `{value}` alone keeps the type of the value. */
  template: z.union([z.string().includes('{value}'), jsonObject]).default('{value}'),
  /** How values are quoted in a string. JSON values are not quoted. */
  quoting: z.enum(['none', 'odata', 'formula', 'caret']).default('none'),
  /** Permitted field names. They must exclude characters that could end the condition. */
  namePattern: z.instanceof(RegExp).default(/^[A-Za-z_][\w.]*$/),
  /** The maximum number of conditions in one request. */
  max: z.int().positive().default(10),
});
export type EqualityFilter = z.output<typeof equalityFilter>;

/** One way to list an object's records. */
export const listDeclaration = z.strictObject({
  method: z.enum(['GET', 'POST']).default('GET'),
  path: pathTemplate,
  query: stringMap,
  body: jsonObject.optional(),
  /** Where the response holds the list, and where an item of the list holds its record. */
  records: pointer,
  record: pointer.default(''),
  /** Records with a value here are of another kind, and are skipped. */
  skipIfPresent: pointer.optional(),
  /** The parameter of the page size, and the vendor's maximum. */
  pageSize: z
    .strictObject({
      ...requestLocation.shape,
      max: z.int().positive(),
      /** The string around the number. */
      template: z.string().includes('{size}').optional(),
    })
    .optional(),
  paging,
  /** Declared if the vendor lists at most `days` days at a time. Reads request the days up to today in UTC. */
  dayRange: z
    .strictObject({ from: requestLocation, to: requestLocation, days: z.int().positive() })
    .optional(),
  since: timeFilter.optional(),
  until: timeFilter.optional(),
  /** Declared if all conditions are one string: `separator` joins them, and `template` encloses them. */
  filterExpression: z
    .strictObject({
      separator: z.string(),
      template: z.string().includes('{all}').default('{all}'),
    })
    .optional(),
  /** True if the newest change comes first. An incremental read then stops at the first older record. */
  isNewestFirst: z.boolean().default(false),
  /**
   * True if the oldest change comes first. Each page is then requested from the time of the last record (keyset
   * pagination), so a record that changes between two pages shifts no other record, and offsets stay small.
   */
  isKeysetPaged: z.boolean().default(false),
  /**
   * The filter for records after an id. Declared if the list is in the order of the ids. Each page is then requested from
   * the last record's id, so no change or deletion between two pages shifts another record.
   */
  afterId: z
    .strictObject({ ...requestLocation.shape, template: z.string().includes('{id}') })
    .optional(),
  /**
   * A member of the response, and its value if the vendor omits records beyond its limit although the page looks like the
   * last one. A keyset-paged list continues from its last record. Other reads fail.
   */
  limitMark: z.strictObject({ at: pointer, value: z.string() }).optional(),
  /** Where the response holds the total number of records. */
  total: pointer.optional(),
  /** The header with the total number of records. */
  totalHeader: z.string().optional(),
  selectedFields: selectedFields.optional(),
  equalityFilter: equalityFilter.optional(),
  /** The members that differ from the provider's `behavior`. */
  behavior: behavior.omit({ rateLimits: true }).partial().optional(),
});
export type ListDeclaration = z.output<typeof listDeclaration>;
