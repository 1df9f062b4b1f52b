/** Counts a project's activity in a time range by minutes, hours or days. */
import { z } from 'zod';
import type { OperationActionType, OperationStatus } from '../../database/generated/enums.ts';
import type { Row } from '../../database/statements/tables.ts';
import { invalid } from '../../kernel/errors.ts';
import { member, text } from '../../kernel/text.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../work/durations.ts';
import type { Call, RowCall } from '../access/call.ts';
import { read } from '../access/declared-read.ts';
import type { FiltersOf } from '../access/paging/page.ts';
import { computed, enumeration, resource } from '../base/resource.ts';
import {
  operationActionType,
  operationStatus,
  toOperationStatus,
} from '../data/operation/operation.ts';
import { type ActivityRange, type ActivitySeries, readActivitySeries } from './activity-series.ts';

const GRAINS = {
  MINUTE: { grain: 'minute', bucketMs: MINUTE_MS },
  HOUR: { grain: 'hour', bucketMs: HOUR_MS },
  DAY: { grain: 'day', bucketMs: DAY_MS },
} as const;

/** 90 days of hours, or a day and a half of minutes. More buckets would not fit a chart, and take longer to read. */
const RANGE_BUCKETS_MAX = 2_160;

const activityBucket = enumeration('ActivityBucket', 'How activity is divided by time, in UTC.', {
  MINUTE: 'By minutes.',
  HOUR: 'By hours.',
  DAY: 'By days.',
} satisfies Record<keyof typeof GRAINS, string>);

export const activityInput = z.object({
  from: z
    .date()
    .describe('The start of the range. The bucket that contains it is counted in full.'),
  until: z.date().optional().describe('The end of the range, exclusive. Default: now.'),
  bucket: activityBucket.describe(
    `The length of a bucket, in UTC. The range may have at most ${RANGE_BUCKETS_MAX} buckets.`,
  ),
});
type ActivityInput = FiltersOf<typeof activityInput>;

/** Throws BAD_USER_INPUT if the range has too many buckets. */
export const getActivityRange = read(
  'read',
  "Returns counts of a project's activity in a time range of up to 90 days.",
  (call: RowCall, { id: projectId }: Row<'Project'>, input: ActivityInput): ActivityRange =>
    createRange(call, { projectId, destinationId: null }, input),
);

export const listDestinationActivity = read(
  'read',
  'Returns counts of delivery attempts to a destination in a time range of up to 90 days, oldest first.',
  (call: RowCall, { id: destinationId, projectId }: Row<'Destination'>, input: ActivityInput) =>
    listDeliveryActivityInRange(call, createRange(call, { projectId, destinationId }, input)),
);

export const listStreamActivity = read(
  'read',
  'Returns counts of messages appended to a stream in a time range of up to 90 days, oldest first. Empty for a destination of another type.',
  (call: RowCall, { id: destinationId, projectId }: Row<'Destination'>, input: ActivityInput) =>
    listStreamActivityInRange(call, createRange(call, { projectId, destinationId }, input)),
);

type Subject = Pick<ActivityRange, 'projectId' | 'destinationId'>;

/** Creates a range of whole buckets. Its first and last bucket may extend beyond the times of the input. */
function createRange(
  call: Pick<Call, 'now'>,
  subject: Subject,
  { from, until, bucket }: ActivityInput,
): ActivityRange {
  const { grain, bucketMs } = GRAINS[bucket];
  const fromMs = Math.floor(from.getTime() / bucketMs) * bucketMs;
  const untilMs = Math.ceil((until ?? call.now()).getTime() / bucketMs) * bucketMs;
  if ((untilMs - fromMs) / bucketMs > RANGE_BUCKETS_MAX + 1) {
    const detail = text`must be at most ${RANGE_BUCKETS_MAX} buckets before ${member('until')}.`;
    throw invalid(['from'], detail, from);
  }
  // A range whose end is before its start is empty.
  const end = new Date(Math.max(fromMs, untilMs));
  return { ...subject, grain, bucketMs, from: new Date(fromMs), until: end };
}

const startTime = z.date().describe('When the bucket begins.').meta({ wireName: 'time' });

const operationActivityResource = resource(
  'OperationActivity',
  'Operations of one type and status that were created in one bucket of time.',
  {
    startTime,
    actionType: operationActionType.describe('Whether the operations read, write or subscribe.'),
    status: computed(
      operationStatus.describe('The current status of the operations.'),
      ({ status }: OperationActivity) => toOperationStatus(status),
    ),
    count: z.int().describe('The number of operations.'),
  },
);

interface OperationActivity {
  startTime: Date;
  actionType: OperationActionType;
  status: OperationStatus;
  count: number;
}

/** Counts operations by their creation time, type and current status. */
async function listOperationActivity(
  call: RowCall,
  range: ActivityRange,
): Promise<OperationActivity[]> {
  const series = await readActivitySeries(call, 'operation', range);
  return listEntries(range, series, ({ key, total }, bucket, startTime) => {
    const count = total[bucket] ?? 0;
    if (count === 0) return null;
    const [actionType, status] = key.split(' ') as [OperationActionType, OperationStatus];
    return { startTime, actionType, status, count };
  });
}

const recordActivityResource = resource(
  'RecordActivity',
  'Records and events of providers in one bucket of time.',
  {
    startTime,
    read: z.int().describe('The number of records that were read.'),
    written: z.int().describe('The number of records that were written.'),
    receivedEvents: z
      .int()
      .describe(
        'The number of received events of providers. An event counts once for each installation that subscribes to it.',
      ),
  },
);

interface RecordActivity {
  startTime: Date;
  read: number;
  written: number;
  receivedEvents: number;
}

/** Counts records by the time when they were read or written, and events by the time when they were received. */
async function listRecordActivity(call: RowCall, range: ActivityRange): Promise<RecordActivity[]> {
  const series = await readActivitySeries(call, 'record', range);
  const totals = new Map(series.map(({ key, total }) => [key, total]));
  const count = (key: 'read' | 'written' | 'received', bucket: number) =>
    totals.get(key)?.[bucket] ?? 0;
  // An entry has the counts of all series, so it is listed for one of them only.
  return listEntries(range, series.slice(0, 1), (_series, bucket, startTime) => {
    const read = count('read', bucket);
    const written = count('written', bucket);
    const receivedEvents = count('received', bucket);
    const isEmpty = read + written + receivedEvents === 0;
    return isEmpty ? null : { startTime, read, written, receivedEvents };
  });
}

const describePercentile = (share: number) =>
  z
    .int()
    .nullable()
    .describe(
      `${share}% of the attempts took at most this long, in milliseconds. The value may be up to a fifth too high, because durations are counted in steps.`,
    );

export const deliveryActivityResource = resource(
  'DeliveryActivity',
  'Attempts to send to one destination that began in one bucket of time.',
  {
    startTime,
    attempts: z.int().describe('The number of attempts.'),
    failedAttempts: z
      .int()
      .describe('The number of failed attempts, which got no response or another status than 2xx.'),
    p50Ms: describePercentile(50),
    p95Ms: describePercentile(95),
    p99Ms: describePercentile(99),
  },
);

export interface DeliveryActivity {
  startTime: Date;
  projectId: string;
  destinationId: string;
  attempts: number;
  failedAttempts: number;
  p50Ms: number | null;
  p95Ms: number | null;
  p99Ms: number | null;
}

/** Counts attempts by their start time and destination. */
async function listDeliveryActivityInRange(
  call: RowCall,
  range: ActivityRange,
): Promise<DeliveryActivity[]> {
  const { projectId } = range;
  const series = await readActivitySeries(call, 'delivery', range);
  return listEntries(range, series, (counts, bucket, startTime) => {
    const attempts = counts.total[bucket] ?? 0;
    if (attempts === 0) return null;
    return {
      startTime,
      projectId,
      destinationId: counts.key,
      attempts,
      failedAttempts: counts.failed[bucket] ?? 0,
      p50Ms: counts.p50Ms[bucket] || null,
      p95Ms: counts.p95Ms[bucket] || null,
      p99Ms: counts.p99Ms[bucket] || null,
    };
  });
}

export const streamActivityResource = resource(
  'StreamActivity',
  'Messages that were added to one destination of the type STREAM in one bucket of time.',
  {
    startTime,
    messages: z
      .int()
      .describe('The number of messages, including messages that have been removed since.'),
  },
);

export interface StreamActivity {
  startTime: Date;
  projectId: string;
  destinationId: string;
  messages: number;
}

/** Counts stream messages by the time when they were appended, and by destination. */
async function listStreamActivityInRange(
  call: RowCall,
  range: ActivityRange,
): Promise<StreamActivity[]> {
  const { projectId } = range;
  const series = await readActivitySeries(call, 'stream', range);
  return listEntries(range, series, ({ key: destinationId, total }, bucket, startTime) => {
    const messages = total[bucket] ?? 0;
    return messages === 0 ? null : { startTime, projectId, destinationId, messages };
  });
}

export const activityResource = resource(
  'Activity',
  'The activity of a project in a range of time. Empty buckets are omitted.',
  {
    operations: computed(
      z
        .array(operationActivityResource)
        .describe('Counts of operations in the buckets in which they were created, oldest first.'),
      (range: ActivityRange, call: RowCall) => listOperationActivity(call, range),
    ),
    deliveries: computed(
      z
        .array(deliveryActivityResource)
        .describe(
          'Counts of attempts by destination, in the buckets in which they began, oldest first.',
        ),
      (range: ActivityRange, call: RowCall) => listDeliveryActivityInRange(call, range),
    ),
    records: computed(
      z
        .array(recordActivityResource)
        .describe(
          'Counts of records that were read or written and of events that were received, oldest first.',
        ),
      (range: ActivityRange, call: RowCall) => listRecordActivity(call, range),
    ),
    streams: computed(
      z
        .array(streamActivityResource)
        .describe(
          'Counts of messages by stream, in the buckets in which they were added, oldest first.',
        ),
      (range: ActivityRange, call: RowCall) => listStreamActivityInRange(call, range),
    ),
  },
);

/** Lists the entries of all buckets, by time, then by series. `createEntry` returns null for an empty bucket. */
function listEntries<T>(
  { from, until, bucketMs }: ActivityRange,
  series: readonly ActivitySeries[],
  createEntry: (counts: ActivitySeries, bucket: number, startTime: Date) => T | null,
): T[] {
  const entries: T[] = [];
  for (let bucket = 0, ms = from.getTime(); ms < until.getTime(); bucket += 1, ms += bucketMs) {
    const startTime = new Date(ms);
    for (const counts of series) {
      const entry = createEntry(counts, bucket, startTime);
      if (entry) entries.push(entry);
    }
  }
  return entries;
}
