/** What a project has done in some time, counted by minutes, hours or days. */
import { z } from 'zod';
import type { OperationActionType, OperationStatus } from '../../database/generated/enums.ts';
import type { Row } from '../../database/rows.ts';
import { invalid } from '../../errors.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../work/durations.ts';
import type { Call } from '../call.ts';
import { read } from '../declared-read.ts';
import type { FiltersOf } from '../paging/page.ts';
import { percentileMs } from './percentile.ts';

const GRAINS = { MINUTE: 'minute', HOUR: 'hour', DAY: 'day' } as const;
const BUCKET_MS = { MINUTE: MINUTE_MS, HOUR: HOUR_MS, DAY: DAY_MS } as const;

/** 90 days of hours, or a day and a half of minutes: more is no picture, and takes longer to read. */
const BUCKETS_MAX = 2_161;

export const activityInput = z.object({
  from: z.date().describe('From when on; the bucket in which it lies is whole.'),
  until: z.date().optional().describe('Until when, exclusive. Default: now.'),
  bucket: z.enum(['MINUTE', 'HOUR', 'DAY']).meta({
    id: 'ActivityBucket',
    description: `How time is divided, in UTC: into at most ${BUCKETS_MAX - 1} buckets.`,
  }),
});
/** As a surface gives it: what must be given is there. */
type ActivityInput = FiltersOf<typeof activityInput>;

/** A range of whole buckets. */
export interface ActivityRange {
  projectId: string;
  /** Only of this destination. */
  destinationId: string | null;
  grain: (typeof GRAINS)[keyof typeof GRAINS];
  from: Date;
  until: Date;
}

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

type Subject = Pick<ActivityRange, 'projectId' | 'destinationId'>;

function rangeOf(
  call: Call,
  subject: Subject,
  { from, until, bucket }: ActivityInput,
): ActivityRange {
  const size = BUCKET_MS[bucket ?? 'HOUR'];
  const fromMs = Math.floor((from?.getTime() ?? 0) / size) * size;
  const untilMs = Math.ceil((until ?? call.now()).getTime() / size) * size;
  if ((untilMs - fromMs) / size > BUCKETS_MAX) {
    throw invalid('from', `must be within ${BUCKETS_MAX - 1} buckets of until.`, from);
  }
  return {
    ...subject,
    grain: GRAINS[bucket ?? 'HOUR'],
    from: new Date(fromMs),
    until: new Date(untilMs),
  };
}

/** What is counted already, and what is still to be added, in one statement: so it is of one moment. */
const COUNTS = `
  select "time", "key", sum("first")::int as "first", sum("second")::int as "second", sum("third")::int as "third"
  from (
    select "time", "key", "first", "second", "third" from "ActivityCount"
    where "projectId" = $1 and "grain" = $2 and "kind" = $3 and "time" >= $4 and "time" < $5
    union all
    select date_trunc($2, "time", 'UTC'), "key", "first", "second", "third" from "ActivityDelta"
    where "projectId" = $1 and "kind" = $3 and "time" >= $4 and "time" < $5
  ) counted
  group by 1, 2 order by 1, 2`;

interface Counted {
  time: Date;
  key: string;
  first: number;
  second: number;
  third: number;
}

function counts(
  { database }: Call,
  kind: string,
  { projectId, grain, from, until }: ActivityRange,
): Promise<Counted[]> {
  return database.rows.query<Counted>(COUNTS, [projectId, grain, kind, from, until]);
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
  const found = await counts(call, 'operation', range);
  return found
    .filter(({ first }) => first !== 0)
    .map(({ time, key, first: count }) => {
      const [actionType, status] = key.split(' ') as [OperationActionType, OperationStatus];
      return { time, actionType, status, count };
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
  const found = await counts(call, 'record', range);
  return found.map(({ time, first: read, second: written, third: receivedEvents }) => ({
    time,
    read,
    written,
    receivedEvents,
  }));
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

const DELIVERIES = (ofDestination: string) => `
  select "time", "key", sum("first")::int as "first", sum("second")::int as "second",
    array_agg("durations") filter (where "durations" <> '{}') as "counted",
    array_agg(array["bucket", "first"]) filter (where "durations" = '{}') as "added"
  from (
    select "time", "key", "first", "second", "durations", 0 as "bucket" from "ActivityCount"
    where "projectId" = $1 and "grain" = $2 and "kind" = 'delivery' and "time" >= $3 and "time" < $4 ${ofDestination}
    union all
    select date_trunc($2, "time", 'UTC'), "key", "first", "second", '{}', "bucket" from "ActivityDelta"
    where "projectId" = $1 and "kind" = 'delivery' and "time" >= $3 and "time" < $4 ${ofDestination}
  ) counted
  group by 1, 2 order by 1, 2`;
const DELIVERIES_OF_ALL = DELIVERIES('');
const DELIVERIES_OF_ONE = DELIVERIES('and "key" = $5');

interface CountedDeliveries extends Counted {
  counted: number[][] | null;
  /** Bucket and number of attempts. */
  added: [bucket: number, attempts: number][] | null;
}

/** By when attempts began, and their destination. */
export async function deliveryActivity(
  { database }: Call,
  { projectId, destinationId, grain, from, until }: ActivityRange,
): Promise<DeliveryActivity[]> {
  const text = destinationId === null ? DELIVERIES_OF_ALL : DELIVERIES_OF_ONE;
  const values = [
    projectId,
    grain,
    from,
    until,
    ...(destinationId === null ? [] : [destinationId]),
  ];
  const found = await database.rows.query<CountedDeliveries>(text, values);
  return found.map(({ time, key, first: attempts, second: failedAttempts, ...parts }) => {
    const durations = histogramOf(parts);
    const percentile = (share: number) => percentileMs(durations, share);
    return {
      ...{ time, projectId, destinationId: key, attempts, failedAttempts },
      ...{ p50Ms: percentile(0.5), p95Ms: percentile(0.95), p99Ms: percentile(0.99) },
    };
  });
}

function histogramOf({ counted, added }: Pick<CountedDeliveries, 'counted' | 'added'>): number[] {
  const durations = [...(counted?.[0] ?? [])];
  for (const [bucket, attempts] of added ?? []) {
    durations[bucket] = (durations[bucket] ?? 0) + attempts;
  }
  return Array.from(durations, (count) => count ?? 0);
}
