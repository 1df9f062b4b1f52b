/** How Salesforce's queries behave. */
import { MINUTE_MS } from '../../work/durations.ts';
import type { Behavior } from '../behavior.ts';

/** The maximum length of the URI and the headers together. */
export const URL_BYTES_MAX = 16_384;

export const behavior: Behavior = {
  shortPage: 'notDocumented',
  timeFilter: { precision: 'format', zone: 'utc', bounds: 'inclusive', column: 'changedAt' },
  // A record gets its SystemModstamp when it is saved, and appears when its transaction is committed. A transaction may
  // take ten minutes.
  visibility: { lookBackMs: 15 * MINUTE_MS },
  // A query can be continued for two days. A user has ten open queries, and an eleventh one closes the oldest.
  expiredCursor: [{ contains: 'INVALID_QUERY_LOCATOR' }],
  depthLimit: 'none',
  // A query may have 100,000 characters.
  fieldsMax: 'none',
  urlBytesMax: URL_BYTES_MAX,
  // Queries contain columns, but no subqueries, which are the only source of lists.
  nestedLists: 'complete',
  rateLimits: [{ status: 403, contains: 'REQUEST_LIMIT_EXCEEDED' }],
};
