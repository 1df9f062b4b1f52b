/** Lists of what was created in some time, in either order: filters that many lists have. */
import { z } from 'zod';
import type { Span } from '../../database/rows.ts';
import { firstIdAt, type IdPrefix } from '../../ids.ts';
import { MINUTE_MS } from '../../work/durations.ts';
import type { FiltersOf } from './page.ts';

/** Ids are made at most so long before their rows are stored, by clocks that differ by less than that. */
const ID_SPREAD_MS = MINUTE_MS;

export const timeRange = z
  .object({
    from: z.date().nullish().describe('Inclusive. Default: from the beginning.'),
    until: z.date().nullish().describe('Exclusive. Default: until now.'),
  })
  .meta({ id: 'TimeRangeInput', description: 'A range of time; either end may be left out.' });
export type TimeRange = z.output<typeof timeRange>;

export const createdFilters = z.object({
  createTime: timeRange.optional().describe('Only those that were created in this time.'),
  order: z
    .enum(['NEWEST_FIRST', 'OLDEST_FIRST'])
    .meta({ id: 'ListOrder' })
    .optional()
    .describe('The order of the list. Default: the one that its description says.'),
});
export type CreatedFilters = FiltersOf<typeof createdFilters>;

/** The range without its ends that are open; undefined if both are. */
export function spanOf(range: TimeRange | null | undefined): Span<Date> | undefined {
  const { from, until } = range ?? {};
  if (from == null && until == null) return undefined;
  return { ...(from != null && { from }), ...(until != null && { until }) };
}

/** A list's order; undefined for its own. */
export function orderOf({ order }: CreatedFilters) {
  if (order == null) return {};
  return { order: order === 'NEWEST_FIRST' ? 'newest first' : 'oldest first' } as const;
}

/**
 * What a list of rows in the order of their ids needs: the exact times as a condition, and the part of the index in which
 * these rows are, since ids begin with the time at which they were made.
 */
export function createdRange(prefix: IdPrefix, filters: CreatedFilters) {
  const createTime = spanOf(filters.createTime);
  if (!createTime) return { inTime: {}, ordered: orderOf(filters) };
  const { from, until } = createTime;
  const within = {
    ...(from && { above: idBefore(prefix, from) }),
    ...(until && { below: idAfter(prefix, until) }),
  };
  return { inTime: { createTime }, ordered: { ...orderOf(filters), within } };
}

/** Lower than the id of every row that was created at that time or later. */
export function idBefore(prefix: IdPrefix, time: Date): string {
  return firstIdAt(prefix, time.getTime() - ID_SPREAD_MS);
}

/** Higher than the id of every row that was created before that time. */
export function idAfter(prefix: IdPrefix, time: Date): string {
  return firstIdAt(prefix, time.getTime() + ID_SPREAD_MS);
}
