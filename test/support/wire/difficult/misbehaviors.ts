/**
 * How the vendors' lists can misbehave, from the vendors' documentation, their forums, and reports of people who sync
 * them. The table shares nothing with the declarations, so that a wrong declaration fails the tests. A misbehavior that
 * no source confirms or excludes is `unknown`, and then the test server shows it.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../src/work/durations.ts';
import type { ServedResponse } from '../../providers/provider-server.ts';

type Can<Detail = never> = 'no' | 'unknown' | Detail;

export interface Misbehaviors {
  /** The vendor selects a page, and then drops the records that the account may not see. */
  hiddenRecords: Can<'yes'>;
  /** A record appears in the list only some time after its time of change. */
  lateRecords: Can<{ upToMs: number }>;
  /** The filter by time compares whole minutes or days, or in another time zone than UTC. */
  coarseFilter: Can<{ precisionMs: number } | { zoneMs: number }>;
  /** The list is ordered and filtered by another time than the one in the record. */
  otherColumn: Can<'yes'>;
  /** The vendor returns a page again and again. */
  repeatedCursor: Can<'yes'>;
  /** The vendor refuses a cursor after this time. */
  expiredCursor: Can<{ lifetimeMs: number; response?: ServedResponse }>;
  /** The cursor of a list of parents expires while their children are read. */
  expiredParents: Can<'yes'>;
  /** A rate limit that does not have the status 429. */
  bodyRateLimit: Can<ServedResponse>;
  /** Values of Retry-After other than whole seconds. */
  oddRetryAfter: Can<'yes'>;
  /** The vendor ignores the fields of a request after this number. */
  fieldLimit: Can<{ max: number }>;
  /** The vendor refuses longer URLs. */
  longUrl: Can<{ bytes: number }>;
  /** The vendor refuses pages below this number of records. `continues` if another way to list reaches all records. */
  depthLimit: Can<{ records: number; continues?: true }>;
  /** A list inside a record has at most this number of items. */
  cutList: Can<{ list: string; itemsMax: number }>;
  /** Records change between two pages of a read. */
  changesDuringRead: 'yes';
}

export type Misbehavior = keyof Misbehaviors;

const UNKNOWN: Misbehaviors = {
  hiddenRecords: 'unknown',
  lateRecords: 'unknown',
  coarseFilter: 'unknown',
  otherColumn: 'unknown',
  repeatedCursor: 'unknown',
  expiredCursor: 'unknown',
  expiredParents: 'no',
  bodyRateLimit: 'unknown',
  oddRetryAfter: 'unknown',
  fieldLimit: 'no',
  longUrl: 'no',
  depthLimit: 'unknown',
  cutList: 'unknown',
  changesDuringRead: 'yes',
};

/** The reference documents a filter by date and time, and records contain the compared column. */
const EXACT_FILTER = { coarseFilter: 'no', otherColumn: 'no' } as const;
/** The list can't filter by time. */
const NO_FILTER = EXACT_FILTER;
/** The reference documents 429 as the only status of a rate limit. */
const ONLY_429 = { bodyRateLimit: 'no' } as const;
/** Page numbers, offsets and ids of records don't expire. */
const NUMBERED_PAGES = { expiredCursor: 'no' } as const;
/** Cursors lead to any depth. */
const ANY_DEPTH = { depthLimit: 'no' } as const;
/** Records have no time of change. */
const NO_CHANGE_TIMES = { lateRecords: 'no', ...NO_FILTER } as const;

const CRM: Record<string, Misbehaviors> = {
  attio: { ...UNKNOWN, ...NO_CHANGE_TIMES, ...NUMBERED_PAGES, ...ONLY_429 },
  close: { ...UNKNOWN, ...EXACT_FILTER, ...NUMBERED_PAGES, ...ONLY_429 },
  // "Compose a query with functions": a GET request has at most 32 KB. Rows are selected with their access rights. Columns
  // have one value, and related rows are returned only on request.
  dynamicsCRM: {
    ...UNKNOWN,
    ...EXACT_FILTER,
    ...ONLY_429,
    ...ANY_DEPTH,
    hiddenRecords: 'no',
    longUrl: { bytes: 32_768 },
    cutList: 'no',
  },
  // Published connectors add a look-back of minutes to searches. A page of a search ends at 10,000 records, and the
  // filter by ID or time continues after them. Properties have one value.
  hubspot: {
    ...UNKNOWN,
    ...EXACT_FILTER,
    ...NUMBERED_PAGES,
    ...ONLY_429,
    hiddenRecords: 'no',
    lateRecords: { upToMs: 5 * MINUTE_MS },
    longUrl: { bytes: 8_192 },
    depthLimit: { records: 10_000, continues: true },
    cutList: 'no',
  },
  outreach: { ...UNKNOWN, ...EXACT_FILTER, ...ONLY_429, ...ANY_DEPTH },
  pipedrive: { ...UNKNOWN, ...EXACT_FILTER, ...ONLY_429, ...ANY_DEPTH },
  // SystemModstamp is set at the start of a transaction, which lasts up to 10 minutes. A query locator lives 2 days. URI
  // and headers together have at most 16,384 bytes. The limit of requests is a 403.
  salesforce: {
    ...UNKNOWN,
    ...EXACT_FILTER,
    ...ANY_DEPTH,
    hiddenRecords: 'no',
    lateRecords: { upToMs: 10 * MINUTE_MS },
    expiredCursor: { lifetimeMs: 2 * DAY_MS },
    bodyRateLimit: {
      status: 403,
      body: [{ message: 'TotalRequests Limit exceeded.', errorCode: 'REQUEST_LIMIT_EXCEEDED' }],
    },
    longUrl: { bytes: 16_384 },
    cutList: 'no',
  },
  // Lists are in the order of ids, and pages start after an id. The limit of requests has the code 66 or 122.
  // Fields have one value.
  accountEngagement: {
    ...UNKNOWN,
    ...EXACT_FILTER,
    ...NUMBERED_PAGES,
    ...ANY_DEPTH,
    bodyRateLimit: {
      status: 403,
      body: { code: 122, message: 'Daily API rate limit met.' },
    },
    longUrl: 'unknown',
    cutList: 'no',
  },
  salesloft: { ...UNKNOWN, ...EXACT_FILTER, ...NUMBERED_PAGES, ...ONLY_429 },
  // "Get records": 50 fields, a page token lives 24 hours and leads to at most 100,000 records.
  zoho: {
    ...UNKNOWN,
    ...EXACT_FILTER,
    ...ANY_DEPTH,
    expiredCursor: { lifetimeMs: DAY_MS },
    bodyRateLimit: {
      status: 400,
      body: { code: 'TOO_MANY_REQUESTS', message: 'too many requests', status: 'error' },
    },
    fieldLimit: { max: 50 },
  },
};

const COMMERCE: Record<string, Misbehaviors> = {
  // The vendor's forum: cursors expire, after three days as a rule of thumb.
  klaviyo: {
    ...UNKNOWN,
    ...EXACT_FILTER,
    ...ONLY_429,
    ...ANY_DEPTH,
    expiredCursor: {
      lifetimeMs: 3 * DAY_MS,
      response: {
        status: 400,
        body: {
          errors: [
            {
              status: 400,
              code: 'invalid',
              title: 'Invalid input.',
              detail: 'Invalid cursor provided.',
            },
          ],
        },
      },
    },
  },
  mailchimp: { ...UNKNOWN, ...EXACT_FILTER, ...NUMBERED_PAGES, ...ONLY_429 },
  // The vendor's forum shows a throttled response with the status 200. A connection has as many items as the
  // query selects.
  shopify: {
    ...UNKNOWN,
    ...EXACT_FILTER,
    ...ANY_DEPTH,
    bodyRateLimit: {
      status: 200,
      body: { errors: [{ message: 'Throttled', extensions: { code: 'THROTTLED' } }] },
    },
    cutList: 'no',
  },
  // "Search customers": a profile becomes available in about a minute. The vendor's forum: a cursor lives 15 minutes.
  square: {
    ...UNKNOWN,
    ...EXACT_FILTER,
    ...ONLY_429,
    ...ANY_DEPTH,
    lateRecords: { upToMs: 2 * MINUTE_MS },
    expiredCursor: {
      lifetimeMs: 15 * MINUTE_MS,
      response: {
        status: 400,
        body: { errors: [{ category: 'INVALID_REQUEST_ERROR', code: 'INVALID_CURSOR' }] },
      },
    },
  },
  // The vendor's developers on forums: a list inside a record has at most ten items, and `has_more`.
  stripe: {
    ...UNKNOWN,
    ...NO_CHANGE_TIMES,
    ...NUMBERED_PAGES,
    ...ONLY_429,
    ...ANY_DEPTH,
    cutList: { list: 'sources', itemsMax: 10 },
  },
  // "Contacts": pages contain whole records unless `summaryOnly` is set.
  xero: { ...UNKNOWN, ...EXACT_FILTER, ...NUMBERED_PAGES, ...ONLY_429, cutList: 'no' },
};

const SUPPORT: Record<string, Misbehaviors> = {
  // "List all tickets": at most 300 pages, in the order of `updated_at`, from `updated_since`.
  freshdesk: {
    ...UNKNOWN,
    ...EXACT_FILTER,
    ...NUMBERED_PAGES,
    ...ONLY_429,
    depthLimit: { records: 30_000, continues: true },
  },
  front: { ...UNKNOWN, ...EXACT_FILTER, ...ONLY_429, ...ANY_DEPTH },
  // Published descriptions of the API: search rounds times to the start of the day, in the workspace's time zone.
  intercom: {
    ...UNKNOWN,
    ...ONLY_429,
    ...ANY_DEPTH,
    coarseFilter: { precisionMs: DAY_MS },
    otherColumn: 'no',
    lateRecords: { upToMs: 5 * MINUTE_MS },
  },
  // Access rules apply after the limit. Sources disagree on the time zone of a query. Fields have one
  // value.
  serviceNow: {
    ...UNKNOWN,
    ...NUMBERED_PAGES,
    ...ONLY_429,
    hiddenRecords: 'yes',
    coarseFilter: { zoneMs: 5.5 * HOUR_MS },
    otherColumn: 'no',
    longUrl: { bytes: 8_192 },
    cutList: 'no',
  },
  // "Incremental exports": ordered by generated_timestamp, which system updates change without `updated_at`. The last minute
  // is excluded.
  zendeskSupport: {
    ...UNKNOWN,
    ...ONLY_429,
    ...ANY_DEPTH,
    coarseFilter: 'no',
    lateRecords: { upToMs: MINUTE_MS },
    otherColumn: 'yes',
    expiredCursor: 'no',
  },
};

const WORK: Record<string, Misbehaviors> = {
  // Reports: an iterator ends "due to client inactivity or server restarts", with 422.
  airtable: {
    ...UNKNOWN,
    ...EXACT_FILTER,
    ...ONLY_429,
    ...ANY_DEPTH,
    expiredCursor: {
      lifetimeMs: 10 * MINUTE_MS,
      response: { status: 422, body: { error: 'LIST_RECORDS_ITERATOR_NOT_AVAILABLE' } },
    },
  },
  // Published connectors met 400 for tokens of parents that expired during the read of children.
  asana: {
    ...UNKNOWN,
    ...EXACT_FILTER,
    ...ONLY_429,
    ...ANY_DEPTH,
    expiredCursor: {
      lifetimeMs: 5 * MINUTE_MS,
      response: {
        status: 400,
        body: { errors: [{ message: 'offset: Your pagination token has expired' }] },
      },
    },
    expiredParents: 'yes',
    longUrl: 'unknown',
  },
  // "Search and reconcile": a delay from seconds to minutes. JQL compares minutes, in the user's time zone.
  atlassian: {
    ...UNKNOWN,
    ...ONLY_429,
    ...ANY_DEPTH,
    lateRecords: { upToMs: 5 * MINUTE_MS },
    coarseFilter: { precisionMs: MINUTE_MS },
    otherColumn: 'no',
    expiredCursor: { lifetimeMs: 7 * DAY_MS },
  },
  // "Rate limits": the secondary limit is a 403 or 429, possibly without headers.
  github: {
    ...UNKNOWN,
    ...EXACT_FILTER,
    ...NUMBERED_PAGES,
    bodyRateLimit: {
      status: 403,
      body: { message: 'You have exceeded a secondary rate limit. Please wait a few minutes.' },
    },
  },
  // "Offset-based pagination": offsets end at 50,000. The list of projects also filters by the time of change.
  gitlab: {
    ...UNKNOWN,
    ...EXACT_FILTER,
    ...NUMBERED_PAGES,
    ...ONLY_429,
    depthLimit: { records: 50_000, continues: true },
  },
  // "Rate limiting": status 400 with the code RATELIMITED. A connection has as many items as the query selects.
  linear: {
    ...UNKNOWN,
    ...EXACT_FILTER,
    ...ANY_DEPTH,
    bodyRateLimit: {
      status: 400,
      body: {
        errors: [{ message: 'Rate limit exceeded', extensions: { code: 'RATELIMITED' } }],
      },
    },
    cutList: 'no',
  },
  // Since 2025 the error has the code COMPLEXITY_BUDGET_EXHAUSTED. A cursor lives 60 minutes.
  monday: {
    ...UNKNOWN,
    ...NO_FILTER,
    ...ANY_DEPTH,
    expiredCursor: {
      lifetimeMs: HOUR_MS,
      response: {
        status: 200,
        body: {
          errors: [
            {
              message: 'The cursor provided for pagination has expired.',
              extensions: { code: 'CursorExpiredError' },
            },
          ],
        },
      },
    },
    bodyRateLimit: {
      status: 200,
      body: {
        errors: [
          {
            message: 'Complexity budget exhausted',
            extensions: { code: 'COMPLEXITY_BUDGET_EXHAUSTED', retry_in_seconds: 60 },
          },
        ],
      },
    },
  },
  // "Page object": last_edited_time is rounded down to the minute.
  notion: {
    ...UNKNOWN,
    ...ONLY_429,
    ...ANY_DEPTH,
    coarseFilter: { precisionMs: MINUTE_MS },
    otherColumn: 'no',
    cutList: { list: 'properties', itemsMax: 25 },
  },
  // "Pagination": a token lives 15 minutes.
  zoom: {
    ...UNKNOWN,
    ...NO_CHANGE_TIMES,
    ...ONLY_429,
    ...ANY_DEPTH,
    expiredCursor: {
      lifetimeMs: 15 * MINUTE_MS,
      response: {
        status: 400,
        body: { code: 300, message: 'The next page token is invalid or expired.' },
      },
    },
    expiredParents: 'yes',
  },
};

/** By the provider's name. `accountEngagement` is the module of Salesforce. */
export const MISBEHAVIORS: Record<string, Misbehaviors> = {
  ...CRM,
  ...COMMERCE,
  ...SUPPORT,
  ...WORK,
};
