/**
 * Records attempts and the new states of their deliveries. The SQL is hand-written, because each statement handles many
 * attempts.
 */
import type { Database } from '../database/database.ts';
import { EVENT_COLUMNS, EVENT_CTES, type EventRow } from '../database/hot/append-events.ts';
import { selectNotifications } from '../database/hot/notification-channels.ts';
import {
  formatRowsByKey,
  type MissedCount,
  matchPosition,
  repeatUntilAllChanged,
  selectMissedCount,
} from '../database/keyed-rows.ts';
import type { Notification } from '../database/notifications/notifications.ts';
import { bindProjects, forProjects, type InProjects } from '../database/projects/all-projects.ts';
import type { RowBatch } from '../database/projects/project-groups.ts';
import type { RunQuery } from '../database/rows.ts';
import { type DestinationKey, IS_PENDING } from './outbox.ts';

/** The outcome of one attempt, and the new state of its delivery. */
export interface AttemptRecord {
  attemptId: string;
  projectId: string;
  deliveryId: string;
  destinationId: string;
  leaseToken: string;
  startTime: Date;
  durationMs: number;
  responseStatus: number | null;
  responseBody: string | null;
  error: string | null;
  /** The DELIVERY_FAILED event to append. Null unless the delivery has failed permanently. */
  event: EventRow | null;
  status: 'PENDING' | 'SUCCEEDED' | 'FAILED';
  failureReason: string | null;
  nextAttemptTime: Date | null;
}

export interface DisableThreshold {
  /** Disables destinations that have been failing since this time or earlier. */
  failingSince: Date;
  /** Disables only destinations with at least this many failed attempts. */
  failedAttempts: number;
}

/** Destinations that have been failing for a long time. */
export interface FailingDestinations {
  toDisable: DestinationKey[];
  /** Destinations that no event has reported yet. */
  toReport: DestinationKey[];
}

export interface RecordingResult extends FailingDestinations {
  /** The number of attempts that were recorded, without those whose claims another process has taken over. */
  recorded: number;
}

const listFailingSql = (condition: string) => `(
    select coalesce(json_agg(json_build_object('projectId', "projectId", 'destinationId', "id")), '[]')
    from failing where ${condition})`;

/**
 * Returns the CTE `held`: the rows of `result` whose claims are still valid, with the physical positions of their
 * deliveries.
 */
const selectHeldSql = (inProjects: InProjects) => `
  held as materialized (
    select r.*, d."place" from result r
    cross join ${formatRowsByKey('Delivery', { projectId: 'r."projectId"', id: 'r."deliveryId"' }, { columns: ['leaseToken', 'status'] })} d
    where d."leaseToken" = r."leaseToken" and d."status" = 'PENDING' and ${inProjects('r."projectId"')}
  )`;
/** An SQL condition: the delivery `d` belongs to a row `r` of `held`, and its claim is still valid. */
const IS_HELD = `${matchPosition('d', { with: 'held', as: 'r' })}
      and d."leaseToken" = r."leaseToken" and ${IS_PENDING}`;

/**
 * Records attempts, the new states of their deliveries, and the failures of their destinations. If another process has
 * taken over a claim, the result of the older claim changes nothing.
 */
const recordSql = (hasPermanentFailures: boolean) =>
  forProjects(
    (inProjects) => `
  with result as (
    select * from json_to_recordset($1::json) as r("attemptId" text, "projectId" text,
      "deliveryId" text, "destinationId" text, "leaseToken" text, "startTime" timestamptz, "durationMs" int,
      "responseStatus" int, "responseBody" text, "event" jsonb, "error" text, "status" text, "failureReason" text,
      "nextAttemptTime" timestamptz)
  ), ${selectHeldSql(inProjects)}, recorded as (
    update "Delivery" d set
      "status" = r."status"::"DeliveryStatus", "isRetrying" = r."status" = 'PENDING',
      "failureReason" = r."failureReason", "attemptCount" = d."attemptCount" + 1, "nextAttemptTime" = r."nextAttemptTime",
      "leaseToken" = null, "leaseExpireTime" = null, "updateTime" = $2
    from held r where ${IS_HELD}
    returning r.*, d."attemptCount", d."eventType", d."operationId"
  ), attempt as (
    insert into "DeliveryAttempt" ("id", "projectId", "deliveryId", "attemptNumber",
      "responseStatus", "responseBody", "error", "durationMs", "createTime")
    select "attemptId", "projectId", "deliveryId", "attemptCount",
      "responseStatus", "responseBody", "error", "durationMs", "startTime" from recorded
  ), health as (
    select "projectId", "destinationId" as "id", bool_or("status" = 'SUCCEEDED') as "hasSucceeded",
      count(*)::int as "attempts", min("startTime") as "firstFailureTime"
    from recorded group by 1, 2
  ), recovered as (
    update "Destination" d set "failingSince" = null, "failedAttempts" = 0, "isFailingTold" = false
    from health h
    where d."projectId" = h."projectId" and d."id" = h."id" and h."hasSucceeded" and d."failingSince" is not null
  ), failing as (
    update "Destination" d set
      "failingSince" = coalesce(d."failingSince", h."firstFailureTime"),
      "failedAttempts" = d."failedAttempts" + h."attempts"
    from health h where d."projectId" = h."projectId" and d."id" = h."id" and not h."hasSucceeded"
    returning d."projectId", d."id", d."failingSince", d."failedAttempts", d."isFailingTold"
  )${hasPermanentFailures ? FAILURE_EVENTS : ''}
  select (select count(*)::int from recorded) as "recorded", ${selectMissedCount('held', 'recorded')},
    ${listFailingSql('"failingSince" <= $3 and "failedAttempts" >= $4')} as "toDisable",
    ${listFailingSql('"failingSince" <= $5 and not "isFailingTold"')} as "toReport"${hasPermanentFailures ? `, ${selectNotifications('event_notifications')}` : ''}`,
  );

/**
 * CTEs that append the events of permanently failed deliveries. A delivery of such an event, or of an event about a
 * destination's state, causes no further event.
 */
const FAILURE_EVENTS = `,
  new_events as (
    select h."eventId", h."deliveryId", h."projectId", h."eventType", h."wireName",
      h."data" || jsonb_strip_nulls(jsonb_build_object('destinationName', t."name",
        'operationId', r."operationId", 'attempts', r."attemptCount")) as "data",
      h."connectionId", h."installationId", h."operationId", h."destinationId", h."groupId", h."consumerId", h."traceparent"
    from recorded r
    join "Destination" t on t."id" = r."destinationId" and t."projectId" = r."projectId"
    cross join jsonb_to_record(r."event") as h(${EVENT_COLUMNS})
    where r."status" = 'FAILED' and (r."eventType" is null or r."eventType" not in
      ('DELIVERY_FAILED', 'DESTINATION_WEBHOOK_FAILING', 'DESTINATION_WEBHOOK_DISABLED'))
  ), ${EVENT_CTES}`;

const RECORD = recordSql(false);
const RECORD_WITH_EVENTS = recordSql(true);

/**
 * Records attempts that all succeeded. Omits failure handling and passes values as columns, which cuts the cost to a
 * third.
 */
const RECORD_SUCCESSES = forProjects(
  (inProjects) => `
  with result as (
    select * from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::int[], $8::int[], $9::text[])
      as r("attemptId", "projectId", "deliveryId", "leaseToken", "startTime", "durationMs", "responseStatus", "responseBody")
  ), ${selectHeldSql(inProjects)}, recorded as (
    update "Delivery" d set
      "status" = 'SUCCEEDED', "isRetrying" = false, "failureReason" = null,
      "attemptCount" = d."attemptCount" + 1, "nextAttemptTime" = null,
      "leaseToken" = null, "leaseExpireTime" = null, "updateTime" = $1
    from held r where ${IS_HELD}
    returning r.*, d."attemptCount", d."destinationId"
  ), attempt as (
    insert into "DeliveryAttempt" ("id", "projectId", "deliveryId", "attemptNumber",
      "responseStatus", "responseBody", "durationMs", "createTime")
    select "attemptId", "projectId", "deliveryId", "attemptCount",
      "responseStatus", "responseBody", "durationMs", "startTime" from recorded
  ), recovered as (
    update "Destination" d set "failingSince" = null, "failedAttempts" = 0, "isFailingTold" = false
    from (select distinct "projectId", "destinationId" from recorded) r
    where d."projectId" = r."projectId" and d."id" = r."destinationId" and d."failingSince" is not null
  )
  select (select count(*)::int from recorded) as "recorded", ${selectMissedCount('held', 'recorded')}`,
);

type RecordingDatabase = Pick<Database, 'rows' | 'notify'>;

interface RecordingTimes {
  now: Date;
  toDisable: DisableThreshold;
  reportSince: Date;
}

/** Records a batch of attempts. */
export function recordAttempts(
  database: RecordingDatabase,
  batch: RowBatch<AttemptRecord>,
  times: RecordingTimes,
): Promise<RecordingResult> {
  const haveSucceeded = batch.rows.every(({ status }) => status === 'SUCCEEDED');
  return haveSucceeded
    ? recordSuccesses(database.rows.query, batch, times)
    : recordWithFailures(database, batch, times);
}

async function recordSuccesses(
  query: RunQuery,
  { projectIds, rows }: RowBatch<AttemptRecord>,
  { now }: RecordingTimes,
): Promise<RecordingResult> {
  const values = [
    now,
    rows.map(({ attemptId }) => attemptId),
    rows.map(({ projectId }) => projectId),
    rows.map(({ deliveryId }) => deliveryId),
    rows.map(({ leaseToken }) => leaseToken),
    rows.map(({ startTime }) => startTime),
    rows.map(({ durationMs }) => durationMs),
    rows.map(({ responseStatus }) => responseStatus),
    rows.map(({ responseBody }) => responseBody),
  ];
  const statement = bindProjects(RECORD_SUCCESSES, projectIds, values);
  const responses = await repeatUntilAllChanged(() => query<RecordedRow>(...statement));
  return mergeResults(responses);
}

/** The row that one statement returns. */
interface RecordedRow extends MissedCount, Partial<FailingDestinations> {
  recorded: number;
  notifications?: Notification[];
}

function mergeResults(responses: readonly RecordedRow[]): RecordingResult {
  return {
    recorded: responses.reduce((sum, { recorded }) => sum + recorded, 0),
    toDisable: responses.flatMap(({ toDisable = [] }) => toDisable),
    toReport: responses.flatMap(({ toReport = [] }) => toReport),
  };
}

async function recordWithFailures(
  { rows: { query }, notify }: RecordingDatabase,
  { projectIds, rows }: RowBatch<AttemptRecord>,
  { now, toDisable, reportSince }: RecordingTimes,
): Promise<RecordingResult> {
  const hasPermanentFailures = rows.some(({ event }) => event !== null);
  const { failingSince, failedAttempts } = toDisable;
  const values = [JSON.stringify(rows), now, failingSince, failedAttempts, reportSince];
  const text = hasPermanentFailures ? RECORD_WITH_EVENTS : RECORD;
  const responses = await repeatUntilAllChanged(() =>
    query<RecordedRow>(...bindProjects(text, projectIds, values)),
  );
  notify(responses.flatMap(({ notifications = [] }) => notifications));
  return mergeResults(responses);
}
