/**
 * How a vendor's lists behave where they differ from the simple case: pages that hide records, coarse filters, records
 * that appear late, cursors that expire, and limits. The value `notDocumented`, which is the default of every member, selects
 * the cautious behavior, which may repeat records and requests but loses no record.
 */
import { z } from 'zod';
import { DAY_MS, MINUTE_MS } from '../work/durations.ts';

const NOT_DOCUMENTED = 'notDocumented';
/** Most vendors show a change in their lists within this time. */
const SETTLE_MS_MIN = MINUTE_MS;
/** A list that is later than this is of no use. The bound also keeps times within the range of `Date`. */
const LATENESS_MS_MAX = 7 * DAY_MS;
/** A vendor's windows for rate limits are at most a day. */
const WAIT_MS_MAX = DAY_MS;

export const errorMatch = z
  .strictObject({
    status: z.int().min(100).max(599).optional(),
    header: z
      .strictObject({ name: z.string(), value: z.string().optional() })
      .optional()
      .describe('A header with this value, or with any value if `value` is absent.'),
    contains: z
      .string()
      .optional()
      .describe('A string in the body of the response, regardless of case.'),
  })
  .describe('Matches an error response that has all of the given parts.');
export type ErrorMatch = z.infer<typeof errorMatch>;

const timeFilter = z
  .strictObject({
    precision: z
      .enum(['format', 'minute', 'day', NOT_DOCUMENTED])
      .default(NOT_DOCUMENTED)
      .describe(
        'The precision at which the vendor compares times, if it is coarser than the format of its filter.',
      ),
    zone: z
      .enum(['utc', NOT_DOCUMENTED])
      .default(NOT_DOCUMENTED)
      .describe('The time zone of the filter. `utc` also means a format that contains an offset.'),
    bounds: z
      .enum(['inclusive', 'exclusive', NOT_DOCUMENTED])
      .default(NOT_DOCUMENTED)
      .describe('Whether a record that changed at exactly the bound is returned.'),
    column: z
      .enum(['changedAt', 'other', NOT_DOCUMENTED])
      .default(NOT_DOCUMENTED)
      .describe(
        "The time that the filter compares: the object's `changedAt`, or another one. With another one, the gateway does not drop records that changed before the window.",
      ),
  })
  .describe("The vendor's filter by time of change.");
export type TimeFilterBehavior = z.infer<typeof timeFilter>;

const visibility = z
  .union([
    z.literal(NOT_DOCUMENTED),
    /** The window of a read ends this long before the read. */
    z.strictObject({ settleMs: z.int().min(SETTLE_MS_MIN).max(LATENESS_MS_MAX) }),
    /**
     * The window of a read begins this long before the previous window's end, and entries that were already delivered
     * are skipped. Use it if few records appear much later than the others.
     */
    z.strictObject({ lookBackMs: z.int().positive().max(LATENESS_MS_MAX) }),
  ])
  .describe('How long a record may stay invisible in the list after its time of change.');

const expiredCursor = z.union([
  z.literal(NOT_DOCUMENTED),
  /** Why a cursor can't expire, for example because it is a page number. */
  z.strictObject({ never: z.string().min(1) }),
  /** The error responses to an expired cursor. */
  z.array(errorMatch).min(1).max(20),
]);

const depthLimit = z
  .union([
    z.enum(['none', NOT_DOCUMENTED]),
    z.strictObject({
      records: z.int().positive(),
      beyond: z
        .enum(['keyset', 'deepList', 'fails'])
        .describe(
          "How a read continues. `keyset` requests pages from the last record's time or id, so it never reaches the limit. `deepList` reads the object's other list. `fails` means that the read fails with the vendor's error.",
        ),
    }),
  ])
  .describe('The number of records after which the vendor refuses further pages.');

const nestedList = z
  .strictObject({
    at: z
      .string()
      .regex(/^\//)
      .describe('The JSON Pointer of the list in the record. `*` matches any member.'),
    itemsMax: z
      .int()
      .positive()
      .optional()
      .describe(
        'The maximum number of items in the record. Absent if the vendor does not document it.',
      ),
    otherItems: z
      .enum(['read', 'missing'])
      .describe(
        "`read` if the gateway reads the other items, `missing` if the provider's page says that they are missing.",
      ),
  })
  .describe('A list inside a record that the vendor may cut.');

const rateLimitMatch = errorMatch.extend({
  waitMs: z
    .int()
    .positive()
    .max(WAIT_MS_MAX)
    .optional()
    .describe('How long to wait at least if the response does not say.'),
});
export type RateLimitMatch = z.infer<typeof rateLimitMatch>;

const members = {
  shortPage: z
    .enum(['last', 'hidden', NOT_DOCUMENTED])
    .describe(
      'The meaning of a page with fewer records than requested, if the response has no other sign:\n- `last`: it is the last page.\n- `hidden`: the vendor selects a page and then hides records that the account may not see. The next page starts after the requested number of records.',
    ),
  timeFilter: z
    .union([z.literal('none'), timeFilter])
    .describe('`none` if no list of the provider can filter by time.'),
  visibility,
  expiredCursor,
  depthLimit,
  fieldsMax: z
    .union([z.int().positive(), z.enum(['none', NOT_DOCUMENTED])])
    .describe('The maximum number of fields that a request may name.'),
  urlBytesMax: z
    .union([z.int().positive(), z.enum(['none', NOT_DOCUMENTED])])
    .describe("The maximum length of a request's URL, in bytes."),
  nestedLists: z
    .union([z.enum(['complete', NOT_DOCUMENTED]), z.array(nestedList).min(1).max(100)])
    .describe('`complete` if the vendor returns all items of every list inside a record.'),
  rateLimits: z
    .union([z.enum(['status429', NOT_DOCUMENTED]), z.array(rateLimitMatch).min(1).max(50)])
    .describe(
      'Responses that mean a rate limit, besides the status 429. `status429` if there are no others.',
    ),
};
const { rateLimits: _, ...listMembers } = members;

export const listBehavior = z
  .strictObject(listMembers)
  .partial()
  .describe("The behavior of one list: the members that differ from the provider's.");

export const behavior = z.strictObject({
  ...members,
  shortPage: members.shortPage.default(NOT_DOCUMENTED),
  timeFilter: members.timeFilter.prefault({}),
  visibility: members.visibility.default(NOT_DOCUMENTED),
  expiredCursor: members.expiredCursor.default(NOT_DOCUMENTED),
  depthLimit: members.depthLimit.default(NOT_DOCUMENTED),
  fieldsMax: members.fieldsMax.default(NOT_DOCUMENTED),
  urlBytesMax: members.urlBytesMax.default(NOT_DOCUMENTED),
  nestedLists: members.nestedLists.default(NOT_DOCUMENTED),
  rateLimits: members.rateLimits.default(NOT_DOCUMENTED),
});
export type Behavior = z.infer<typeof behavior>;

/** The visibility of records that are in their list as soon as the vendor stores them. */
export const IMMEDIATE: Behavior['visibility'] = { settleMs: SETTLE_MS_MIN };

/** The look-back for lists whose delay is not documented. */
const CAUTIOUS_LOOK_BACK_MS = 10 * MINUTE_MS;

/** When a scheduled read of a list begins and ends. */
export interface ReadTiming {
  /** The window ends this long before the read starts. */
  settleMs: number;
  /** The window begins this long before the end of the previous one. */
  lookBackMs: number;
}

/** Returns the timing for a list whose records have a time of change. */
export function getReadTiming({ visibility }: Pick<Behavior, 'visibility'>): ReadTiming {
  if (visibility === NOT_DOCUMENTED) {
    return { settleMs: SETTLE_MS_MIN, lookBackMs: CAUTIOUS_LOOK_BACK_MS };
  }
  return 'settleMs' in visibility
    ? { settleMs: visibility.settleMs, lookBackMs: 0 }
    : { settleMs: SETTLE_MS_MIN, lookBackMs: visibility.lookBackMs };
}
