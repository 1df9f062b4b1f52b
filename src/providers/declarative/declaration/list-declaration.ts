/** The schema for lists of records: how pages and bounds are requested, and where responses hold records. */
import { z } from 'zod';
import { DAY_MS } from '../../../work/durations.ts';
import { listBehavior } from '../../behavior.ts';
import { nameRule, searchNameRule } from './name-rule.ts';
import {
  checkName,
  jsonObject,
  pathTemplate,
  pointer,
  requestLocation,
  stringMap,
  timeFormat,
} from './request-location.ts';

export const paging = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('cursor'),
      parameter: requestLocation,
      next: pointer,
      hasMore: pointer.optional(),
      isLastPage: pointer.optional(),
      isScroll: z
        .boolean()
        .default(false)
        .describe(
          'True if the vendor keeps the position of the read. Every page then has a cursor, which may be the same for all pages, and an empty page is the last one. A repeated request returns the next page, so a request without a response restarts the read.',
        ),
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
      firstPage: z.int().min(0).max(1_000).default(1),
      hasMore: pointer.optional(),
      pageCount: pointer.optional().describe('Where the response holds the number of pages.'),
      nextHeader: z
        .string()
        .optional()
        .describe('A header with the number of the next page. It is empty on the last page.'),
    }),
    z.strictObject({
      kind: z.literal('lastId'),
      parameter: requestLocation,
      hasMore: pointer.optional(),
    }),
    z.strictObject({ kind: z.literal('none') }),
  ])
  .describe(
    'How the next page is requested.\n- cursor: by a string or number in the response.\n- nextUrl: by the URL in the response.\n- link: by the URL in a Link header (RFC 8288).\n- offset: by the number of records before it.\n- page: by the number of the page.\n- lastId: by the id of the last record.\n- none: one response has all records.\n`hasMore` points to a flag that is false on the last page, `isLastPage` to one that is true there.',
  );
export type Paging = z.infer<typeof paging>;

/** Keeps bounds within the range of `Date`. */
const MARGIN_MS_MAX = 366 * DAY_MS;

export const timeFilter = z
  .strictObject({
    ...requestLocation.shape,
    format: timeFormat,
    template: z
      .union([z.string().includes('{time}'), jsonObject])
      .default('{time}')
      .describe(
        'The form of the filter: a string such as `greater-than(updated,{time})`, or JSON in a body. In JSON, `{time}` alone becomes a number if the format is numeric.',
      ),
    isRequired: z
      .boolean()
      .default(false)
      .describe(
        'True if the vendor requires this bound. Reads without one then start at the earliest time.',
      ),
    isFirstPageOnly: z
      .boolean()
      .default(false)
      .describe(
        "True if only the first page's request has the bound, because the cursor includes it.",
      ),
    marginMs: z
      .int()
      .nonnegative()
      .max(MARGIN_MS_MAX)
      .default(0)
      .describe(
        'Widens the bound further than `behavior.timeFilter`. Needed for numbered pages, which must not shift when a record changes.',
      ),
    ageMsMin: z
      .int()
      .nonnegative()
      .max(MARGIN_MS_MAX)
      .default(0)
      .describe(
        'The minimum age of a time that the vendor accepts. Requests have an earlier time instead of a younger one.',
      ),
  })
  .superRefine(checkName)
  .describe("A bound of the vendor's filter by time of change.");
export type TimeFilter = z.output<typeof timeFilter>;

export const selectedFields = z
  .strictObject({
    ...requestLocation.shape,
    separator: z.string().default(','),
    template: z
      .string()
      .includes('{fields}')
      .default('{fields}')
      .describe('The string around the names, such as a GraphQL query.'),
    always: z.array(z.string()).default([]).describe('Names that every request selects.'),
    isList: z
      .boolean()
      .default(false)
      .describe('True if the names are a JSON list in the body instead of one string.'),
    returnsAllByDefault: z
      .boolean()
      .default(false)
      .describe(
        'True if the vendor returns all fields to a request without names. Requests with too many names then have none.',
      ),
    returnsEmptyFields: z
      .boolean()
      .default(false)
      .describe(
        "True if the vendor returns empty fields too. A field that a response omits is then absent from the record and not null, because the vendor can't return its value.",
      ),
    container: z
      .strictObject({ names: nameRule, name: z.string() })
      .optional()
      .describe('Fields that the vendor selects only together, and the name that selects them.'),
  })
  .superRefine(checkName)
  .describe(
    'Where a request selects fields. Declare it if the vendor returns few fields by default.',
  );
export type SelectedFields = z.output<typeof selectedFields>;

const equalityFilter = z
  .strictObject({
    ...requestLocation.shape,
    name: z
      .string()
      .min(1)
      .default('{field}')
      .describe("May contain the field's name as `{field}`."),
    template: z
      .union([z.string().includes('{value}'), jsonObject])
      .default('{value}')
      .describe(
        'Contains `{field}` and `{value}`. In JSON, `{value}` alone keeps the type of the value.',
      ),
    quoting: z
      .enum(['none', 'odata', 'formula', 'caret'])
      .default('none')
      .describe('How values are quoted in a string. JSON values are not quoted.'),
    names: searchNameRule.describe(
      'Permitted field names. They must exclude characters that could end the condition.',
    ),
    max: z
      .int()
      .positive()
      .default(10)
      .describe('The maximum number of conditions in one request.'),
  })
  .superRefine(checkName)
  .describe("The vendor's filter for records with a given value in a field.");
export type EqualityFilter = z.output<typeof equalityFilter>;

export const listDeclaration = z
  .strictObject({
    method: z.enum(['GET', 'POST']).default('GET'),
    path: pathTemplate,
    query: stringMap,
    body: jsonObject.optional(),
    records: pointer.describe(
      'Where the response holds the list, and where an item of the list holds its record.',
    ),
    record: pointer.default(''),
    skipIfPresent: pointer
      .optional()
      .describe('Records with a value here are of another kind, and are skipped.'),
    pageSize: z
      .strictObject({
        ...requestLocation.shape,
        max: z.int().positive().max(10_000),
        template: z
          .string()
          .includes('{size}')
          .optional()
          .describe('The string around the number.'),
      })
      .superRefine(checkName)
      .optional()
      .describe("The parameter of the page size, and the vendor's maximum."),
    paging,
    dayRange: z
      .strictObject({
        from: requestLocation,
        to: requestLocation,
        days: z.int().positive().max(366),
      })
      .optional()
      .describe(
        'Declared if the vendor lists at most `days` days at a time. Reads request the days up to today in UTC.',
      ),
    since: timeFilter.optional(),
    until: timeFilter.optional(),
    filterExpression: z
      .strictObject({
        separator: z.string(),
        template: z.string().includes('{all}').default('{all}'),
      })
      .optional()
      .describe(
        'Declared if all conditions are one string: `separator` joins them, and `template` encloses them.',
      ),
    isNewestFirst: z
      .boolean()
      .default(false)
      .describe(
        'True if the newest change comes first. An incremental read then stops at the first older record.',
      ),
    isKeysetPaged: z
      .boolean()
      .default(false)
      .describe(
        'True if the oldest change comes first. Each page is then requested from the time of the last record (keyset pagination), so a record that changes between two pages shifts no other record, and offsets stay small.',
      ),
    afterId: z
      .strictObject({ ...requestLocation.shape, template: z.string().includes('{id}') })
      .superRefine(checkName)
      .optional()
      .describe(
        "The filter for records after an id. Declared if the list is in the order of the ids. Each page is then requested from the last record's id, so no change or deletion between two pages shifts another record.",
      ),
    limitMark: z
      .strictObject({ at: pointer, value: z.string() })
      .optional()
      .describe(
        'A member of the response, and its value if the vendor omits records beyond its limit although the page looks like the last one. A keyset-paged list continues from its last record. Other reads fail.',
      ),
    total: pointer.optional().describe('Where the response holds the total number of records.'),
    totalHeader: z.string().optional().describe('The header with the total number of records.'),
    selectedFields: selectedFields.optional(),
    equalityFilter: equalityFilter.optional(),
    behavior: listBehavior
      .optional()
      .describe("The members that differ from the provider's `behavior`."),
  })
  .describe("One way to list an object's records.");
export type ListDeclaration = z.output<typeof listDeclaration>;
