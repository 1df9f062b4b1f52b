/** A project's activity in a time range, counted by minutes, hours or days. */
import { z } from 'zod';
import type { OperationActionType, OperationStatus } from '../../database/generated/enums.ts';
import type { Row } from '../../database/rows.ts';
import { invalid } from '../../errors.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../work/durations.ts';
import type { Call } from '../call.ts';
import { read } from '../declared-read.ts';
import type { FiltersOf } from '../paging/page.ts';
import { type ActivityRange, type ActivitySeries, activitySeries } from './activity-series.ts';

const GRAINS = {
  MINUTE: { grain: 'minute', bucketMs: MINUTE_MS },
  HOUR: { grain: 'hour', bucketMs: HOUR_MS },
  DAY: { grain: 'day', bucketMs: DAY_MS },
} as const;

/**
 * The most buckets: 90 days of hours, or a day and a half of minutes. More would not fit a chart, and takes longer to
 * read.
 */
const BUCKETS_MAX = 2_161;

export const activityInput = z.object({
  from: z
    .date()
    .describe('The start of the range; the bucket that it lies in is counted as a whole.'),
  until: z.date().optional().describe('The end of the range, exclusive. Default: now.'),
  bucket: z.enum(['MINUTE', 'HOUR', 'DAY']).meta({
    id: 'ActivityBucket',
    description: `How time is divided, in UTC: into at most ${BUCKETS_MAX - 1} buckets.`,
  }),
});
type ActivityInput = FiltersOf<typeof activityInput>;

/** The range of a project's activity. Throws BAD_USER_INPUT if it has too many buckets. */
export const activityOf = read(
  'read',
  'Counts what a project has done in some time, for up to 90 days.',
  (call: Call, { id: projectId }: Row<'Project'>, input: ActivityInput): ActivityRange =>
    rangeOf(call, { projectId, destinationId: null }, input),
);

/** Counts attempts of deliveries to a destination. */
export const activityOfDestination = read(
  'read',
  'Counts the attempts to send to a destination in some time, for up to 90 days.',
  (call: Call, { id: destinationId, projectId }: Row<'Destination'>, input: ActivityInput) =>
    deliveryActivity(call, rangeOf(call, { projectId, destinationId }, input)),
);

/** Counts the messages of a stream. */
export const activityOfStream = read(
  'read',
  'Counts the messages that were put into a stream in some time, for up to 90 days.',
  (call: Call, { id: destinationId, projectId }: Row<'Destination'>, input: ActivityInput) =>
    streamActivity(call, rangeOf(call, { projectId, destinationId }, input)),
);

type Subject = Pick<ActivityRange, 'projectId' | 'destinationId'>;

function rangeOf(
  call: Call,
  subject: Subject,
  { from, until, bucket }: ActivityInput,
): ActivityRange {
  const { grain, bucketMs } = GRAINS[bucket];
  const fromMs = Math.floor(from.getTime() / bucketMs) * bucketMs;
  const untilMs = Math.ceil((until ?? call.now()).getTime() / bucketMs) * bucketMs;
  if ((untilMs - fromMs) / bucketMs > BUCKETS_MAX) {
    throw invalid('from', `must be within ${BUCKETS_MAX - 1} buckets of until.`, from);
  }
  // A range whose end is before its start is empty.
  const end = new Date(Math.max(fromMs, untilMs));
  return { ...subject, grain, bucketMs, from: new Date(fromMs), until: end };
}

export interface OperationActivity {
  time: Date;
  actionType: OperationActionType;
  status: OperationStatus;
  count: number;
}

/** Counts operations by their creation time, type and current status. */
export async function operationActivity(
  call: Call,
  range: ActivityRange,
): Promise<OperationActivity[]> {
  const series = await activitySeries(call, 'operation', range);
  return bucketsOf(range, series, ({ key, first }) => {
    const [actionType, status] = key.split(' ') as [OperationActionType, OperationStatus];
    return (time, at) => {
      const count = first[at] ?? 0;
      return count === 0 ? null : { time, actionType, status, count };
    };
  });
}

export interface RecordActivity {
  time: Date;
  read: number;
  written: number;
  receivedEvents: number;
}

/** Counts records by the time when they were read or written, and events by the time when they were received. */
export async function recordActivity(call: Call, range: ActivityRange): Promise<RecordActivity[]> {
  const series = await activitySeries(call, 'record', range);
  return bucketsOf(range, series, ({ first, second, third }) => (time, at) => {
    const [read = 0, written = 0, receivedEvents = 0] = [first[at], second[at], third[at]];
    return read + written + receivedEvents === 0 ? null : { time, read, written, receivedEvents };
  });
}

export interface DeliveryActivity {
  time: Date;
  projectId: string;
  destinationId: string;
  attempts: number;
  failedAttempts: number;
  p50Ms: number | null;
  p95Ms: number | null;
  p99Ms: number | null;
}

/** Counts attempts by their start time and destination. */
export async function deliveryActivity(
  call: Call,
  range: ActivityRange,
): Promise<DeliveryActivity[]> {
  const { projectId } = range;
  const series = await activitySeries(call, 'delivery', range);
  return bucketsOf(range, series, ({ key: destinationId, first, second, ...percentiles }) => {
    const { p50Ms, p95Ms, p99Ms } = percentiles;
    return (time, at) => {
      const [attempts = 0, failedAttempts = 0] = [first[at], second[at]];
      if (attempts === 0) return null;
      return {
        time,
        projectId,
        destinationId,
        attempts,
        failedAttempts,
        p50Ms: p50Ms[at] || null,
        p95Ms: p95Ms[at] || null,
        p99Ms: p99Ms[at] || null,
      };
    };
  });
}

export interface StreamActivity {
  time: Date;
  projectId: string;
  destinationId: string;
  messages: number;
}

/** Counts stream messages by the time when they were appended, and by destination. */
export async function streamActivity(call: Call, range: ActivityRange): Promise<StreamActivity[]> {
  const { projectId } = range;
  const series = await activitySeries(call, 'stream', range);
  return bucketsOf(range, series, ({ key: destinationId, first }) => (time, at) => {
    const messages = first[at] ?? 0;
    return messages === 0 ? null : { time, projectId, destinationId, messages };
  });
}

/** Returns the entry of a series for a bucket. Null if the bucket is empty. */
type InBucket<T> = (time: Date, at: number) => T | null;

/** Returns the entries of all buckets, ordered by time, then by series. */
function bucketsOf<T>(
  { from, until, bucketMs }: ActivityRange,
  series: readonly ActivitySeries[],
  createReader: (line: ActivitySeries) => InBucket<T>,
): T[] {
  const readers = series.map(createReader);
  const found: T[] = [];
  for (let at = 0, ms = from.getTime(); ms < until.getTime(); at += 1, ms += bucketMs) {
    const time = new Date(ms);
    for (const read of readers) {
      const one = read(time, at);
      if (one) found.push(one);
    }
  }
  return found;
}
