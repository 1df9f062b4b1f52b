/** Replaces the time range of a list with two query parameters, because a query has no objects. */
import { z } from 'zod';
import { type Read, read } from '../../domain/declared-read.ts';
import { createdFilters, type TimeRange } from '../../domain/paging/created-range.ts';

const { createTime: _range, order } = createdFilters.shape;

const createdParameters = {
  createTimeFrom: z
    .date()
    .optional()
    .describe('Only items that were created at this time or later. Default: no limit.'),
  createTimeUntil: z
    .date()
    .optional()
    .describe('Only items that were created before this time. Default: now.'),
  order,
};

/** Replaces the range among the filters of a list with its two parameters. */
export function splitCreateTime<S extends z.ZodRawShape>({
  createTime: _range,
  order: _order,
  ...others
}: S & { createTime: unknown; order: unknown }) {
  return { ...others, ...createdParameters };
}

interface TimeParameters {
  createTimeFrom?: Date | undefined;
  createTimeUntil?: Date | undefined;
}

/** Adapts a list, so that it accepts the two parameters in place of the range. */
export function joinCreateTime<I extends { createTime?: TimeRange | null | undefined }, R>(
  list: Read<[input: I], R>,
): Read<[input: Omit<I, 'createTime'> & TimeParameters], R> {
  return read(
    list.needs,
    list.description,
    (call, { createTimeFrom: from, createTimeUntil: until, ...input }) =>
      list(call, { ...input, createTime: { from, until } } as unknown as I),
  );
}
