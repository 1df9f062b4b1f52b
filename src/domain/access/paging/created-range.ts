/** Filters that many lists share: a range of creation times, and the order. */
import { z } from 'zod';
import type { Span } from '../../../database/statements/reads/row-list.ts';
import { getFirstIdAt, type IdPrefix } from '../../../kernel/ids.ts';
import { MINUTE_MS } from '../../../work/durations.ts';
import { enumeration } from '../../base/resource.ts';
import type { FiltersOf } from './page.ts';

/**
 * The largest difference between the time in an id and the creation time of its row. An id is created shortly before
 * its row is stored, and the clocks of processes differ.
 */
const ID_TOLERANCE_MS = MINUTE_MS;

export const timeRange = z
  .object({
    from: z.date().nullish().describe('The start of the range, inclusive. Default: no limit.'),
    until: z.date().nullish().describe('The end of the range, exclusive. Default: now.'),
  })
  .meta({ id: 'TimeRangeInput', description: 'A time range. Either end may be omitted.' });
export type TimeRange = z.output<typeof timeRange>;

const listOrder = enumeration(
  'ListOrder',
  'The order of a list by the creation time of its items.',
  {
    NEWEST_FIRST: 'Newest first.',
    OLDEST_FIRST: 'Oldest first.',
  },
);

export const createdFilters = z.object({
  createTime: timeRange.optional().describe('Only items that were created in this range.'),
  order: listOrder
    .optional()
    .describe("The order of the list. Default: the order that the list's description names."),
});
export type CreatedFilters = FiltersOf<typeof createdFilters>;

/** Converts a time range to a condition. Undefined if both ends are open. */
export function toSpan(range: TimeRange | null | undefined): Span<Date> | undefined {
  const { from, until } = range ?? {};
  if (from == null && until == null) return undefined;
  return { ...(from != null && { from }), ...(until != null && { until }) };
}

/** Returns the order that a caller requests, or an empty object for the default order of the list. */
export function toOrder({ order }: CreatedFilters) {
  if (order == null) return {};
  return { order: order === 'NEWEST_FIRST' ? 'newest first' : 'oldest first' } as const;
}

/**
 * Converts the filters for a list that is ordered by id. `timeCondition` compares the exact creation times.
 * `orderOptions` limits the list to a range of ids, which begin with the creation time.
 */
export function toCreateTimeRange(prefix: IdPrefix, filters: CreatedFilters) {
  const createTime = toSpan(filters.createTime);
  if (!createTime) return { timeCondition: {}, orderOptions: toOrder(filters) };
  const { from, until } = createTime;
  const within = {
    ...(from && { above: getIdBefore(prefix, from) }),
    ...(until && { below: getIdAfter(prefix, until) }),
  };
  return { timeCondition: { createTime }, orderOptions: { ...toOrder(filters), within } };
}

/** Returns an id that is below the ids of all rows that were created at that time or later. */
export function getIdBefore(prefix: IdPrefix, time: Date): string {
  return getFirstIdAt(prefix, time.getTime() - ID_TOLERANCE_MS);
}

/** Returns an id that is above the ids of all rows that were created before that time. */
export function getIdAfter(prefix: IdPrefix, time: Date): string {
  return getFirstIdAt(prefix, time.getTime() + ID_TOLERANCE_MS);
}
