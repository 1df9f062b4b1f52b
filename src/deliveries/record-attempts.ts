/**
 * Records attempts and the new states of their deliveries. The SQL is hand-written, because each statement handles many
 * attempts.
 */

import type { Database } from '../database/open/database.ts';
import {
  EVENT_COLUMNS,
  EVENT_CTES,
  type EventRow,
  eventColumnsSql,
} from '../database/statements/hot/append-events.ts';
import {
  isAtPositionSql,
  type MissedCount,
  missedCountSql,
  repeatUntilAllChanged,
  rowsByKeySql,
} from '../database/statements/keyed-rows.ts';
import {
  bindProjects,
  forProjects,
  type InProjects,
} from '../database/statements/projects/all-projects.ts';
import type { RowBatch } from '../database/statements/projects/shard-groups.ts';
import type { RunStatement } from '../database/statements/statements.ts';
import { notificationsSql } from '../database/transactions/notification-channels.ts';
import type { Notification } from '../database/transactions/notifications.ts';
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

interface RecordingResult extends FailingDestinations {
  /** The number of attempts that were recorded, without those whose claims another process has taken over. */
  recorded: number;
}

/** CTE: the rows of `result` whose claims are still valid, with the physical positions of their deliveries. */
const heldCteSql = (inProjects: InProjects) => `
  held as materialized (
    select result.*, delivery."place" from result
    cross join ${rowsByKeySql(
      'Delivery',
      { projectId: 'result."projectId"', id: 'result."deliveryId"' },
      { columns: ['leaseToken', 'status'] },
    )} delivery
    where delivery."leaseToken" = result."leaseToken" and delivery."status" = 'PENDING'
      and ${inProjects('result."projectId"')}
  )`;

/** SQL: joins `delivery` with its row in `held`. True only while its claim is valid. */
const IS_HELD = `${isAtPositionSql('delivery', 'held')}
      and delivery."leaseToken" = held."leaseToken" and ${IS_PENDING}`;

/** CTE: stores the attempts of `recorded`. */
const ATTEMPTS_CTE = `
  attempts as (
    insert into "DeliveryAttempt" ("id", "projectId", "deliveryId", "attemptNumber",
      "responseStatus", "responseBody", "error", "durationMs", "createTime")
    select "attemptId", "projectId", "deliveryId", "attemptCount",
      "responseStatus", "responseBody", "error", "durationMs", "startTime" from recorded
  )`;

/** CTE: resets the failures of the destinations in `succeeded`. */
const RECOVERED_CTE = `
  recovered as (
    update "Destination" destination set "failingSince" = null, "failedAttempts" = 0, "isFailureReported" = false
    from succeeded where destination."projectId" = succeeded."projectId" and destination."id" = succeeded."id"
      and destination."failingSince" is not null
  )`;

const RECORDED_COUNTS = `(select count(*)::int from recorded) as "recorded", ${missedCountSql('held', 'recorded')}`;

const listFailingSql = (condition: string) => `(
    select coalesce(json_agg(json_build_object('projectId', "projectId", 'destinationId', "id")), '[]')
    from failing where ${condition})`;

/**
 * Records attempts, the new states of their deliveries, and the failures of their destinations. If another process has
 * taken over a claim, the result of the older claim changes nothing.
 */
const recordSql = (hasPermanentFailures: boolean) =>
  forProjects<RecordedRow>(
    (inProjects) => `
  with result as (
    select * from json_to_recordset($1::json) as result("attemptId" text, "projectId" text,
      "deliveryId" text, "destinationId" text, "leaseToken" text, "startTime" timestamptz, "durationMs" int,
      "responseStatus" int, "responseBody" text, "event" jsonb, "error" text, "status" text, "failureReason" text,
      "nextAttemptTime" timestamptz)
  ), ${heldCteSql(inProjects)}, recorded as (
    update "Delivery" delivery set
      "status" = held."status"::"DeliveryStatus", "isRetrying" = held."status" = 'PENDING',
      "failureReason" = held."failureReason", "attemptCount" = delivery."attemptCount" + 1,
      "nextAttemptTime" = held."nextAttemptTime",
      "leaseToken" = null, "leaseExpireTime" = null, "updateTime" = $2
    from held where ${IS_HELD}
    returning held.*, delivery."attemptCount", delivery."eventType", delivery."operationId"
  ), ${ATTEMPTS_CTE}, health as (
    select "projectId", "destinationId" as "id", bool_or("status" = 'SUCCEEDED') as "hasSucceeded",
      count(*)::int as "attempts", min("startTime") as "firstFailureTime"
    from recorded group by 1, 2
  ), succeeded as (
    select "projectId", "id" from health where "hasSucceeded"
  ), ${RECOVERED_CTE}, failing as (
    update "Destination" destination set
      "failingSince" = coalesce(destination."failingSince", health."firstFailureTime"),
      "failedAttempts" = destination."failedAttempts" + health."attempts"
    from health where destination."projectId" = health."projectId" and destination."id" = health."id"
      and not health."hasSucceeded"
    returning destination."projectId", destination."id", destination."failingSince",
      destination."failedAttempts", destination."isFailureReported"
  )${hasPermanentFailures ? `, ${FAILURE_EVENT_CTES}` : ''}
  select ${RECORDED_COUNTS},
    ${listFailingSql('"failingSince" <= $3 and "failedAttempts" >= $4')} as "toDisable",
    ${listFailingSql('"failingSince" <= $5 and not "isFailureReported"')} as "toReport"${hasPermanentFailures ? `, ${notificationsSql('event_notifications')}` : ''}`,
  );

/**
 * CTEs that append the events of permanently failed deliveries. A failed delivery of an event about a delivery or about
 * a destination's state appends no event. Otherwise, each failure could cause another.
 */
const FAILURE_EVENT_CTES = `
  new_events as (
    select ${eventColumnsSql({
      data: `event."data" || jsonb_strip_nulls(jsonb_build_object('destinationName', destination."name",
        'operationId', recorded."operationId", 'attempts', recorded."attemptCount"))`,
    })}
    from recorded
    join "Destination" destination on destination."id" = recorded."destinationId"
      and destination."projectId" = recorded."projectId"
    cross join jsonb_to_record(recorded."event") as event(${EVENT_COLUMNS})
    where recorded."status" = 'FAILED' and (recorded."eventType" is null or recorded."eventType" not in
      ('DELIVERY_FAILED', 'DESTINATION_WEBHOOK_FAILING', 'DESTINATION_WEBHOOK_DISABLED'))
  ), ${EVENT_CTES}`;

const RECORD = recordSql(false);
const RECORD_WITH_EVENTS = recordSql(true);

/**
 * Records attempts that all succeeded. Omits failure handling and passes values as columns, which cuts the cost to a
 * third.
 */
const RECORD_SUCCESSES = forProjects<RecordedRow>(
  (inProjects) => `
  with result as (
    select *, null::text as "error" from unnest(
        $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::int[], $8::int[], $9::text[])
      as result("attemptId", "projectId", "deliveryId", "leaseToken", "startTime", "durationMs", "responseStatus",
        "responseBody")
  ), ${heldCteSql(inProjects)}, recorded as (
    update "Delivery" delivery set
      "status" = 'SUCCEEDED', "isRetrying" = false, "failureReason" = null,
      "attemptCount" = delivery."attemptCount" + 1, "nextAttemptTime" = null,
      "leaseToken" = null, "leaseExpireTime" = null, "updateTime" = $1
    from held where ${IS_HELD}
    returning held.*, delivery."attemptCount", delivery."destinationId"
  ), ${ATTEMPTS_CTE}, succeeded as (
    select distinct "projectId", "destinationId" as "id" from recorded
  ), ${RECOVERED_CTE}
  select ${RECORDED_COUNTS}`,
);

type RecordingDatabase = Pick<Database, 'run' | 'notify'>;

interface RecordingTimes {
  now: Date;
  disableThreshold: DisableThreshold;
  reportSince: Date;
}

/** Records a batch of attempts. */
export function recordAttempts(
  database: RecordingDatabase,
  batch: RowBatch<AttemptRecord>,
  times: RecordingTimes,
): Promise<RecordingResult> {
  const allSucceeded = batch.rows.every(({ status }) => status === 'SUCCEEDED');
  return allSucceeded
    ? recordSuccesses(database.run, batch, times)
    : recordWithFailures(database, batch, times);
}

async function recordSuccesses(
  run: RunStatement,
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
  const responses = await repeatUntilAllChanged(() => run(...statement));
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
  { run, notify }: RecordingDatabase,
  { projectIds, rows }: RowBatch<AttemptRecord>,
  { now, disableThreshold, reportSince }: RecordingTimes,
): Promise<RecordingResult> {
  const hasPermanentFailures = rows.some(({ event }) => event !== null);
  const { failingSince, failedAttempts } = disableThreshold;
  const values = [JSON.stringify(rows), now, failingSince, failedAttempts, reportSince];
  const text = hasPermanentFailures ? RECORD_WITH_EVENTS : RECORD;
  const responses = await repeatUntilAllChanged(() =>
    run(...bindProjects(text, projectIds, values)),
  );
  notify(responses.flatMap(({ notifications = [] }) => notifications));
  return mergeResults(responses);
}
