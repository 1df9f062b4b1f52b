/** A range of time is one member in the domain and two parameters in a query. */
import { z } from 'zod';
import { type Read, read } from '../../domain/declared-read.ts';
import { createdFilters, type TimeRange } from '../../domain/paging/created-range.ts';

const { createTime: _range, order } = createdFilters.shape;

/** The parameters of lists that can be limited to a range of time. */
export const createdParameters = {
  createTimeFrom: z
    .date()
    .optional()
    .describe('Only those that were created then or later. Default: from the beginning.'),
  createTimeUntil: z
    .date()
    .optional()
    .describe('Only those that were created before then. Default: until now.'),
  order,
};

/** The filters of a list as query parameters. */
export function withCreatedParameters<S extends z.ZodRawShape>({
  createTime: _range,
  order: _order,
  ...others
}: S & { createTime: unknown; order: unknown }) {
  return { ...others, ...createdParameters };
}

interface InQuery {
  createTimeFrom?: Date | undefined;
  createTimeUntil?: Date | undefined;
}

/** Adapts a list so that it takes the range as query parameters. */
export function createdWithin<I extends { createTime?: TimeRange | null | undefined }, R>(
  list: Read<[input: I], R>,
): Read<[input: Omit<I, 'createTime'> & InQuery], R> {
  return read(
    list.needs,
    list.description,
    (call, { createTimeFrom: from, createTimeUntil: until, ...input }) =>
      list(call, { ...input, createTime: { from, until } } as unknown as I),
  );
}
