/** Filters that many lists share: a range of creation times, and the order. */
import { z } from 'zod';
import type { Span } from '../../database/rows.ts';
import { getFirstIdAt, type IdPrefix } from '../../ids.ts';
import { MINUTE_MS } from '../../work/durations.ts';
import { enumeration } from '../resource.ts';
import type { FiltersOf } from './page.ts';

/**
 * The most by which the time in an id differs from the creation time of its row: an id is created shortly before its
 * row is stored, and clocks of processes differ.
 */
const ID_SPREAD_MS = MINUTE_MS;

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

/** The bounds of the range that are set. Undefined if both are open. */
export function toSpan(range: TimeRange | null | undefined): Span<Date> | undefined {
  const { from, until } = range ?? {};
  if (from == null && until == null) return undefined;
  return { ...(from != null && { from }), ...(until != null && { until }) };
}

/** The requested order of a list, or an empty object for its default order. */
export function toOrder({ order }: CreatedFilters) {
  if (order == null) return {};
  return { order: order === 'NEWEST_FIRST' ? 'newest first' : 'oldest first' } as const;
}

/**
 * Options for a list ordered by id: the exact times as a condition, and the range of ids with these rows, since ids
 * begin with their creation time.
 */
export function createdRange(prefix: IdPrefix, filters: CreatedFilters) {
  const createTime = toSpan(filters.createTime);
  if (!createTime) return { inTime: {}, ordered: toOrder(filters) };
  const { from, until } = createTime;
  const within = {
    ...(from && { above: idBefore(prefix, from) }),
    ...(until && { below: idAfter(prefix, until) }),
  };
  return { inTime: { createTime }, ordered: { ...toOrder(filters), within } };
}

/** An id that is lower than the id of every row that was created at that time or later. */
export function idBefore(prefix: IdPrefix, time: Date): string {
  return getFirstIdAt(prefix, time.getTime() - ID_SPREAD_MS);
}

/** An id that is higher than the id of every row that was created before that time. */
export function idAfter(prefix: IdPrefix, time: Date): string {
  return getFirstIdAt(prefix, time.getTime() + ID_SPREAD_MS);
}
