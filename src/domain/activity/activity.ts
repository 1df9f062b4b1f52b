/** What a project has done in some time, counted by minutes, hours or days. */
import { z } from 'zod';
import type { OperationActionType, OperationStatus } from '../../database/generated/enums.ts';
import type { Row } from '../../database/rows.ts';
import { invalid } from '../../errors.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../work/durations.ts';
import type { Call } from '../call.ts';
import { read } from '../declared-read.ts';
import type { FiltersOf } from '../paging/page.ts';
import { type ActivityLine, type ActivityRange, activityLines } from './activity-lines.ts';

const GRAINS = {
  MINUTE: { grain: 'minute', bucketMs: MINUTE_MS },
  HOUR: { grain: 'hour', bucketMs: HOUR_MS },
  DAY: { grain: 'day', bucketMs: DAY_MS },
} as const;

/** 90 days of hours, or a day and a half of minutes: more is no picture, and takes longer to read. */
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

/** Where the activity of a project is read from. Throws BAD_USER_INPUT for a range that is too long. */
export const activityOf = read(
  'read',
  (call: Call, { id: projectId }: Row<'Project'>, given: ActivityInput): ActivityRange =>
    rangeOf(call, { projectId, destinationId: null }, given),
);

/** The deliveries to a destination, counted. */
export const activityOfDestination = read(
  'read',
  (call: Call, { id: destinationId, projectId }: Row<'Destination'>, given: ActivityInput) =>
    deliveryActivity(call, rangeOf(call, { projectId, destinationId }, given)),
);

/** The messages of a stream, counted. */
export const activityOfStream = read(
  'read',
  (call: Call, { id: destinationId, projectId }: Row<'Destination'>, given: ActivityInput) =>
    streamActivity(call, rangeOf(call, { projectId, destinationId }, given)),
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
  // A range that ends before it begins has nothing.
  const end = new Date(Math.max(fromMs, untilMs));
  return { ...subject, grain, bucketMs, from: new Date(fromMs), until: end };
}

export interface OperationActivity {
  time: Date;
  actionType: OperationActionType;
  status: OperationStatus;
  count: number;
}

/** By when the operations were created, and what has become of them so far. */
export async function operationActivity(
  call: Call,
  range: ActivityRange,
): Promise<OperationActivity[]> {
  const lines = await activityLines(call, 'operation', range);
  return bucketsOf(range, lines, ({ key, first }) => {
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

/** By when records were read and written, and events were received. */
export async function recordActivity(call: Call, range: ActivityRange): Promise<RecordActivity[]> {
  const lines = await activityLines(call, 'record', range);
  return bucketsOf(range, lines, ({ first, second, third }) => (time, at) => {
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

/** By when attempts began, and their destination. */
export async function deliveryActivity(
  call: Call,
  range: ActivityRange,
): Promise<DeliveryActivity[]> {
  const { projectId } = range;
  const lines = await activityLines(call, 'delivery', range);
  return bucketsOf(range, lines, ({ key: destinationId, first, second, ...percentiles }) => {
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

/** By when messages were put into streams, and their destination. */
export async function streamActivity(call: Call, range: ActivityRange): Promise<StreamActivity[]> {
  const { projectId } = range;
  const lines = await activityLines(call, 'stream', range);
  return bucketsOf(range, lines, ({ key: destinationId, first }) => (time, at) => {
    const messages = first[at] ?? 0;
    return messages === 0 ? null : { time, projectId, destinationId, messages };
  });
}

/** What of a line is in a bucket; null for nothing. */
type InBucket<T> = (time: Date, at: number) => T | null;

/** All that is in the buckets, in the order of time, and in each of them in that of the lines. */
function bucketsOf<T>(
  { from, until, bucketMs }: ActivityRange,
  lines: readonly ActivityLine[],
  of: (line: ActivityLine) => InBucket<T>,
): T[] {
  const readers = lines.map(of);
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
