/**
 * How a provider is said as data. A declaration names where a vendor's lists are, how they page, how they
 * filter by time, and where ids, records and errors stand in the answers; the files beside this one turn it
 * into capabilities. Every part is checked when the module is loaded, so a wrong declaration does not start.
 *
 * Places in JSON are JSON Pointers (RFC 6901): '' is the whole, `/data/id` a member of a member.
 */
import { z } from 'zod';

const pointer = z.string().regex(/^(\/[^/]*)*$/, 'must be a JSON Pointer like /data/id');
/** A path below the base URL; `{id}` stands for a record's id. */
const path = z.string().regex(/^\//, 'must start with a slash');

/** Where a value goes in a request; in a body the name is a JSON Pointer. */
const place = z.strictObject({ in: z.enum(['query', 'header', 'body']), name: z.string().min(1) });
export type Place = z.infer<typeof place>;

/** The size of a page: what asks for it, and the most that the vendor gives. */
const pageSize = z.strictObject({ ...place.shape, max: z.int().positive() });

export const TIME_FORMATS = [
  /** 2026-01-02T03:04:05.678Z */
  'iso',
  /** 2026-01-02T03:04:05Z */
  'isoSeconds',
  /** 2026-01-02T03:04:05+00:00 */
  'isoOffset',
  /** 2026-01-02 03:04:05, in UTC */
  'spaced',
  'unixSeconds',
  'unixMilliseconds',
  /** Fri, 02 Jan 2026 03:04:05 GMT */
  'httpDate',
] as const;
const timeFormat = z.enum(TIME_FORMATS);
export type TimeFormat = z.infer<typeof timeFormat>;

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
  /** The text around the time: `greater-than(updated,{time})`. */
  template: z.string().includes('{time}').default('{time}'),
  /** The vendor leaves out what changed at exactly that time. */
  isExclusive: z.boolean().default(false),
  /** The list takes no request without it: a read without that bound asks from the beginning. */
  isRequired: z.boolean().default(false),
  /** Only the first page is asked with it: the cursor knows the rest. */
  isFirstOnly: z.boolean().default(false),
});
export type TimeFilter = z.infer<typeof timeFilter>;

/** One way to list an object's records. */
const list = z.strictObject({
  method: z.enum(['GET', 'POST']).default('GET'),
  path,
  query: z.record(z.string(), z.string()).default({}),
  body: z.record(z.string(), z.unknown()).optional(),
  /** Where the records are; each of them may lie deeper, at `record`. */
  records: pointer,
  record: pointer.default(''),
  size: pageSize.optional(),
  paging,
  since: timeFilter.optional(),
  until: timeFilter.optional(),
  /** Comes newest change first: a read of changes stops at the first that is older. */
  newestFirst: z.boolean().default(false),
  /** How many records the read has in all. */
  total: pointer.optional(),
  /** Where the names of the wanted fields go, if the vendor gives little without them. */
  fields: z.strictObject({ ...place.shape, separator: z.string().default(',') }).optional(),
});
export type List = z.infer<typeof list>;

/** How a record is sent and what comes back. */
const write = z.strictObject({
  method: z.enum(['POST', 'PUT', 'PATCH']),
  /** `{id}` is the record's; a create has none. */
  path,
  /** Where the record goes in the body. */
  wrap: pointer.default(''),
  /** What the body has beside it. */
  body: z.record(z.string(), z.unknown()).default({}),
  /** Where the answer has the record; left out if it has none. */
  record: pointer.optional(),
});
export type Write = z.infer<typeof write>;

const removal = z.strictObject({
  method: z.enum(['DELETE', 'PATCH', 'PUT', 'POST']).default('DELETE'),
  path,
  body: z.record(z.string(), z.unknown()).optional(),
});
export type Removal = z.infer<typeof removal>;

/** Fields that the account tells: standard and custom ones. */
const fieldList = z.strictObject({
  path,
  query: z.record(z.string(), z.string()).default({}),
  fields: pointer,
  name: pointer,
  /** Before the name, if records have the field under a longer one: `custom.`. */
  prefix: z.string().default(''),
  displayName: pointer.optional(),
  type: pointer.optional(),
  /** The vendor's types as ours; others are OTHER. */
  types: z.record(z.string(), z.string()).default({}),
  isRequired: pointer.optional(),
  isCustom: pointer.optional(),
  /** A flag that the field can be written. */
  isWritable: pointer.optional(),
  options: z.strictObject({ at: pointer, value: pointer, displayValue: pointer }).optional(),
});
export type FieldList = z.infer<typeof fieldList>;

const objectDeclaration = z.strictObject({
  displayName: z.string(),
  /** Where a record has its id. */
  id: pointer.default('/id'),
  /** When a record was last changed; a read of changes keeps to its bounds by it. */
  changedAt: z.strictObject({ at: pointer, format: timeFormat }).optional(),
  /** Maps of a record whose members count as fields of its own; a write puts back what has such a name. */
  nested: z
    .array(z.strictObject({ at: pointer, names: z.instanceof(RegExp).optional() }))
    .default([]),
  all: list,
  /** Another way for what changed, if the vendor has one. */
  changed: list.optional(),
  create: write.optional(),
  update: write.optional(),
  remove: removal.optional(),
  fields: fieldList.optional(),
});
export type ObjectDeclaration = z.output<typeof objectDeclaration>;
export type ObjectDeclarationInput = z.input<typeof objectDeclaration>;

/** What an answer means beyond its status. The first rule that fits counts. */
const errorRule = z.strictObject({
  status: z.int().optional(),
  /** A header with exactly this value, or with any. */
  header: z.strictObject({ name: z.string(), value: z.string().optional() }).optional(),
  /** A text somewhere in the answer's words. */
  words: z.string().optional(),
  kind: z.enum([
    'AUTH_INVALIDATED',
    'FORBIDDEN',
    'BAD_REQUEST',
    'MISSING_OBJECT',
    'CURSOR_GONE',
    'RATE_LIMITED',
    'SERVER_ERROR',
    'RETRYABLE',
  ]),
});

export const declaration = z.strictObject({
  /** Of the vendor's API, where it is chosen by a header or a path. */
  apiVersion: z.string().optional(),
  /** The vendor's documentation. */
  docsUrl: z.url(),
  /** What the facts were checked against; no live account was reached. */
  checkedAgainst: z.string().min(1),
  headers: z.record(z.string(), z.string()).default({}),
  bodyFormat: z.enum(['json', 'form']).default('json'),
  idempotencyHeader: z.string().optional(),
  errors: z.strictObject({
    /** Where the words of a refusal are: each may be a text, a list, or a map of texts. */
    messages: z.array(pointer).min(1),
    rules: z.array(errorRule).default([]),
    /** A member of a successful answer that means a failure. */
    inSuccess: pointer.optional(),
    /** What to wait after a 429 that does not say it. */
    defaultRetryAfterMs: z.int().positive().optional(),
  }),
  objects: z.record(z.string().regex(/^[\w-]+$/), objectDeclaration),
});
export type Declaration = z.output<typeof declaration>;
export type DeclarationInput = z.input<typeof declaration>;
