/**
 * How a vendor's lists behave where they differ from the simple case: pages that hide records, coarse filters, records
 * that appear late, cursors that expire, and limits. Every provider that reads records declares every member. The value
 * `notDocumented` selects the cautious behavior, which may repeat records and requests but loses no record.
 */
import { z } from 'zod';
import { MINUTE_MS } from '../work/durations.ts';

const NOT_DOCUMENTED = 'notDocumented';
/** Most vendors show a change in their lists within this time. */
const SETTLE_MS_MIN = MINUTE_MS;

/** Matches an error response that has all of the given parts. */
export const errorMatch = z.strictObject({
  status: z.int().optional(),
  /** A header with this value, or with any value if `value` is absent. */
  header: z.strictObject({ name: z.string(), value: z.string().optional() }).optional(),
  /** A string in the body of the response, regardless of case. */
  contains: z.string().optional(),
});
export type ErrorMatch = z.infer<typeof errorMatch>;

/** The vendor's filter by time of change. */
const timeFilter = z.strictObject({
  /** The precision at which the vendor compares times, if it is coarser than the format of its filter. */
  precision: z.enum(['format', 'minute', 'day', NOT_DOCUMENTED]),
  /** The time zone of the filter. `utc` also means a format that contains an offset. */
  zone: z.enum(['utc', NOT_DOCUMENTED]),
  /** Whether a record that changed at exactly the bound is returned. */
  bounds: z.enum(['inclusive', 'exclusive', NOT_DOCUMENTED]),
  /**
   * The time that the filter compares: the object's `changedAt`, or another one. With another one, the gateway does not
   * drop records that changed before the window.
   */
  column: z.enum(['changedAt', 'other', NOT_DOCUMENTED]),
});
export type TimeFilterBehavior = z.infer<typeof timeFilter>;

/** How long a record may stay invisible in the list after its time of change. */
const visibility = z.union([
  z.literal(NOT_DOCUMENTED),
  /** The window of a read ends this long before the read. */
  z.strictObject({ settleMs: z.int().min(SETTLE_MS_MIN) }),
  /**
   * The window of a read begins this long before the previous window's end, and entries that were already delivered
   * are skipped. Use it if few records appear much later than the others.
   */
  z.strictObject({ lookBackMs: z.int().positive() }),
]);

const expiredCursor = z.union([
  z.literal(NOT_DOCUMENTED),
  /** Why a cursor can't expire, for example because it is a page number. */
  z.strictObject({ never: z.string().min(1) }),
  /** The error responses to an expired cursor. */
  z.array(errorMatch).min(1),
]);

/** The number of records after which the vendor refuses further pages. */
const depthLimit = z.union([
  z.enum(['none', NOT_DOCUMENTED]),
  z.strictObject({
    records: z.int().positive(),
    /**
     * How a read continues. `keyset` requests pages from the last record's time or id, so it never reaches the limit.
     * `deepList` reads the object's other list. `fails` means that the read fails with the vendor's error.
     */
    beyond: z.enum(['keyset', 'deepList', 'fails']),
  }),
]);

/** A list inside a record that the vendor may cut. */
const nestedList = z.strictObject({
  /** The JSON Pointer of the list in the record. `*` matches any member. */
  at: z.string().regex(/^\//),
  /** The maximum number of items in the record. Absent if the vendor does not document it. */
  itemsMax: z.int().positive().optional(),
  /** `read` if the gateway reads the other items, `missing` if the provider's page says that they are missing. */
  otherItems: z.enum(['read', 'missing']),
});

const rateLimitMatch = errorMatch.extend({
  /** How long to wait at least if the response does not say. */
  waitMs: z.int().positive().optional(),
});
export type RateLimitMatch = z.infer<typeof rateLimitMatch>;

export const behavior = z.strictObject({
  /**
   * The meaning of a page with fewer records than requested, if the response has no other sign:
   *
   * - `last`: it is the last page.
   *
   * - `hidden`: the vendor selects a page and then hides records that the account may not see. The next page starts
   *   after the requested number of records.
   */
  shortPage: z.enum(['last', 'hidden', NOT_DOCUMENTED]),
  /** `none` if no list of the provider can filter by time. */
  timeFilter: z.union([z.literal('none'), timeFilter]),
  visibility,
  expiredCursor,
  depthLimit,
  /** The maximum number of fields that a request may name. */
  fieldsMax: z.union([z.int().positive(), z.enum(['none', NOT_DOCUMENTED])]),
  /** The maximum length of a request's URL, in bytes. */
  urlBytesMax: z.union([z.int().positive(), z.enum(['none', NOT_DOCUMENTED])]),
  /** `complete` if the vendor returns all items of every list inside a record. */
  nestedLists: z.union([z.enum(['complete', NOT_DOCUMENTED]), z.array(nestedList).min(1)]),
  /** Responses that mean a rate limit, besides the status 429. `status429` if there are no others. */
  rateLimits: z.union([z.enum(['status429', NOT_DOCUMENTED]), z.array(rateLimitMatch).min(1)]),
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
