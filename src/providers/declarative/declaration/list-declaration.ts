/** How a vendor lists an object's records. */
import { z } from 'zod';
import { json, path, place, pointer, texts, timeFormat } from './place.ts';

/**
 * How the next page is asked for.
 * - cursor: a text or number of the answer goes into the next request.
 * - nextUrl: the answer has the whole address of the next page.
 * - link: the same in a Link header (RFC 8288).
 * - offset: the number of records so far.
 * - page: the number of the page.
 * - lastId: the id of the last record.
 * - none: all records come at once.
 * `more` is a flag of the answer: if it is false, this was the last page. `ends` is one that is true then.
 */
const paging = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('cursor'),
    send: place,
    next: pointer,
    more: pointer.optional(),
    ends: pointer.optional(),
  }),
  z.strictObject({
    kind: z.literal('nextUrl'),
    next: pointer,
    more: pointer.optional(),
    ends: pointer.optional(),
  }),
  z.strictObject({ kind: z.literal('link') }),
  z.strictObject({
    kind: z.literal('offset'),
    send: place,
    more: pointer.optional(),
    ends: pointer.optional(),
    total: pointer.optional(),
  }),
  z.strictObject({
    kind: z.literal('page'),
    send: place,
    first: z.int().default(1),
    more: pointer.optional(),
    /** How many pages there are. */
    pages: pointer.optional(),
    /** A header that has the number of the next page, and is empty on the last. */
    nextHeader: z.string().optional(),
  }),
  z.strictObject({ kind: z.literal('lastId'), send: place, more: pointer.optional() }),
  z.strictObject({ kind: z.literal('none') }),
]);
export type Paging = z.infer<typeof paging>;

/** A bound of the time of change, as the vendor filters by it. */
const timeFilter = z.strictObject({
  ...place.shape,
  format: timeFormat,
  /**
   * What is around the time: `greater-than(updated,{time})`, or JSON in a body, where `{time}` alone is the
   * time as a number if the format is one.
   */
  template: z.union([z.string().includes('{time}'), json]).default('{time}'),
  /** The vendor leaves out what changed at exactly that time. */
  isExclusive: z.boolean().default(false),
  /** The list takes no request without it: a read without that bound asks from the beginning. */
  isRequired: z.boolean().default(false),
  /** Only the first page is asked with it: the cursor knows the rest. */
  isFirstOnly: z.boolean().default(false),
  /**
   * Asked that much wider, for vendors that take it in a zone of their own or not too close to now, and for counted
   * pages that should not move when a record changes.
   */
  marginMs: z.int().nonnegative().default(0),
});
export type TimeFilter = z.output<typeof timeFilter>;

/** Where the names of the wanted fields go, if the vendor gives little without them. */
export const wantedFields = z.strictObject({
  ...place.shape,
  separator: z.string().default(','),
  /** Around the names: a query of GraphQL, say. */
  template: z.string().includes('{fields}').default('{fields}'),
  /** Names that are always there. */
  always: z.array(z.string()).default([]),
  /** A list in the body rather than a text. */
  isList: z.boolean().default(false),
  max: z.int().positive().optional(),
});
export type WantedFields = z.output<typeof wantedFields>;

/** Conditions that a field has a value: the vendor leaves out all other records. */
const equality = z.strictObject({
  ...place.shape,
  /** The place's name may have the field's, as `{field}`. */
  name: z.string().min(1).default('{field}'),
  /** With `{field}` and `{value}`; in JSON, `{value}` alone keeps its type. */
  template: z.union([z.string().includes('{value}'), json]).default('{value}'),
  /** How values are written into a text. In JSON they stay what they are. */
  quoting: z.enum(['none', 'odata', 'formula', 'caret']).default('none'),
  /** What a field may be called: nothing that ends its place in the condition. */
  names: z.instanceof(RegExp).default(/^[A-Za-z_][\w.]*$/),
  /** Conditions in one request. */
  max: z.int().positive().default(10),
});
export type Equality = z.output<typeof equality>;

/** One way to list an object's records. */
export const list = z.strictObject({
  method: z.enum(['GET', 'POST']).default('GET'),
  path,
  query: texts,
  body: json.optional(),
  /** Where the records are; each of them may lie deeper, at `record`. */
  records: pointer,
  record: pointer.default(''),
  /** Something that only records of another kind have: they are left out. */
  skip: pointer.optional(),
  /** The size of a page: what asks for it, and the most that the vendor gives. */
  size: z
    .strictObject({
      ...place.shape,
      max: z.int().positive(),
      /** Around the number, if it is a part of a text. */
      template: z.string().includes('{size}').optional(),
    })
    .optional(),
  paging,
  /** The last days up to today, in UTC: the vendor lists only a range of dates that is no longer than that. */
  days: z.strictObject({ from: place, to: place, count: z.int().positive() }).optional(),
  since: timeFilter.optional(),
  until: timeFilter.optional(),
  /** Both bounds go into one text: `join` stands between them, `wrap` around them. */
  expression: z
    .strictObject({ join: z.string(), wrap: z.string().includes('{all}').default('{all}') })
    .optional(),
  /** Comes newest change first: a read of changes stops at the first that is older. */
  newestFirst: z.boolean().default(false),
  /**
   * Comes oldest change first, and is best asked for again from the last record's time: records that change
   * between two pages move none of the others over the seam, and no page is deep.
   */
  isKeyset: z.boolean().default(false),
  /** How many records the read has in all. */
  total: pointer.optional(),
  /** The same in a header. */
  totalHeader: z.string().optional(),
  fields: wantedFields.optional(),
  equals: equality.optional(),
});
export type List = z.output<typeof list>;
