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
    .describe('The start of the range. The bucket that contains it is counted in full.'),
  until: z.date().optional().describe('The end of the range, exclusive. Default: now.'),
  bucket: z.enum(['MINUTE', 'HOUR', 'DAY']).meta({
    id: 'ActivityBucket',
    description: `The length of a bucket, in UTC. The range may have at most ${BUCKETS_MAX - 1} buckets.`,
  }),
});
type ActivityInput = FiltersOf<typeof activityInput>;

/** The range of a project's activity. Throws BAD_USER_INPUT if it has too many buckets. */
export const getActivityRange = read(
  'read',
  "Returns counts of a project's activity in a time range of up to 90 days.",
  (call: Call, { id: projectId }: Row<'Project'>, input: ActivityInput): ActivityRange =>
    parseRange(call, { projectId, destinationId: null }, input),
);

export const listDestinationActivity = read(
  'read',
  'Returns counts of delivery attempts to a destination in a time range of up to 90 days, oldest first.',
  (call: Call, { id: destinationId, projectId }: Row<'Destination'>, input: ActivityInput) =>
    deliveryActivity(call, parseRange(call, { projectId, destinationId }, input)),
);

export const listStreamActivity = read(
  'read',
  'Returns counts of messages appended to a stream in a time range of up to 90 days, oldest first. Empty for a destination of another type.',
  (call: Call, { id: destinationId, projectId }: Row<'Destination'>, input: ActivityInput) =>
    streamActivity(call, parseRange(call, { projectId, destinationId }, input)),
);

type Subject = Pick<ActivityRange, 'projectId' | 'destinationId'>;

function parseRange(
  call: Call,
  subject: Subject,
  { from, until, bucket }: ActivityInput,
): ActivityRange {
  const { grain, bucketMs } = GRAINS[bucket];
  const fromMs = Math.floor(from.getTime() / bucketMs) * bucketMs;
  const untilMs = Math.ceil((until ?? call.now()).getTime() / bucketMs) * bucketMs;
  if ((untilMs - fromMs) / bucketMs > BUCKETS_MAX) {
    throw invalid('from', `must be at most ${BUCKETS_MAX - 1} buckets before until.`, from);
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
  return toBuckets(range, series, ({ key, first }) => {
    const [actionType, status] = key.split(' ') as [OperationActionType, OperationStatus];
    return (time, bucket) => {
      const count = first[bucket] ?? 0;
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
  return toBuckets(range, series, ({ first, second, third }) => (time, bucket) => {
    const [read = 0, written = 0, receivedEvents = 0] = [
      first[bucket],
      second[bucket],
      third[bucket],
    ];
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
  return toBuckets(range, series, ({ key: destinationId, first, second, ...percentiles }) => {
    const { p50Ms, p95Ms, p99Ms } = percentiles;
    return (time, bucket) => {
      const [attempts = 0, failedAttempts = 0] = [first[bucket], second[bucket]];
      if (attempts === 0) return null;
      return {
        time,
        projectId,
        destinationId,
        attempts,
        failedAttempts,
        p50Ms: p50Ms[bucket] || null,
        p95Ms: p95Ms[bucket] || null,
        p99Ms: p99Ms[bucket] || null,
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
  return toBuckets(range, series, ({ key: destinationId, first }) => (time, bucket) => {
    const messages = first[bucket] ?? 0;
    return messages === 0 ? null : { time, projectId, destinationId, messages };
  });
}

/** Returns the entry of a series for a bucket. Null if the bucket is empty. */
type InBucket<T> = (time: Date, bucket: number) => T | null;

/** Returns the entries of all buckets, ordered by time, then by series. */
function toBuckets<T>(
  { from, until, bucketMs }: ActivityRange,
  series: readonly ActivitySeries[],
  createReader: (line: ActivitySeries) => InBucket<T>,
): T[] {
  const readers = series.map(createReader);
  const entries: T[] = [];
  for (let bucket = 0, ms = from.getTime(); ms < until.getTime(); bucket += 1, ms += bucketMs) {
    const time = new Date(ms);
    for (const read of readers) {
      const entry = read(time, bucket);
      if (entry) entries.push(entry);
    }
  }
  return entries;
}
