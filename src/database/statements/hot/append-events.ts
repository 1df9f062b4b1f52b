/**
 * Appends an event to the log of its project, in one statement: the event with its topics, a delivery or a stream
 * message for each destination, and a notification for followers. An event without a route is not stored.
 */

import { EVENTS_CHANNEL, notificationsSql } from '../../transactions/notification-channels.ts';
import type { Transaction } from '../../transactions/transaction.ts';
import { type ChangeStatement, runInTransaction } from './shared-statements.ts';

/** An event to append. The statement looks up its routes. */
export interface EventRow {
  eventId: string;
  /** The base of the ids of its deliveries. Their last characters count the destinations. */
  deliveryId: string;
  projectId: string;
  eventType: string;
  /** The event's type as it appears in messages. */
  wireName: string;
  data: object;
  connectionId?: string | undefined;
  installationId?: string | undefined;
  operationId?: string | undefined;
  destinationId?: string | undefined;
  /** The group that the event's data names. */
  groupId?: string | null;
  consumerId?: string | null;
  /** The trace that its deliveries continue. */
  traceparent?: string | undefined;
}

const EVENT_COLUMN_TYPES = {
  eventId: 'text',
  deliveryId: 'text',
  projectId: 'text',
  eventType: '"NotificationEventType"',
  wireName: 'text',
  data: 'jsonb',
  connectionId: 'text',
  installationId: 'text',
  operationId: 'text',
  destinationId: 'text',
  groupId: 'text',
  consumerId: 'text',
  traceparent: 'text',
} satisfies Record<keyof EventRow, string>;

/** SQL: the members of an EventRow as columns, for `jsonb_to_recordset`. */
export const EVENT_COLUMNS = Object.entries(EVENT_COLUMN_TYPES)
  .map(([column, type]) => `"${column}" ${type}`)
  .join(', ');

/** SQL: selects the columns of `event`, some of them from other expressions. */
export function eventColumnsSql(expressions: { [K in keyof EventRow]?: string }): string {
  const expressionByColumn: Record<string, string> = expressions;
  return Object.keys(EVENT_COLUMN_TYPES)
    .map((column) => `${expressionByColumn[column] ?? `event."${column}"`} as "${column}"`)
    .join(', ');
}

const ID_DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';
const COUNTING_DIGITS = 4;

/** SQL: the id of a delivery, from the event's base and the number of the destination, which is counted from 0. */
function deliveryIdSql(base: string, destinationNumber: string): string {
  const digits = Array.from({ length: COUNTING_DIGITS }, (_, exponent) => {
    const shift = 5 * (COUNTING_DIGITS - 1 - exponent);
    return `substr('${ID_DIGITS}', ((${destinationNumber} >> ${shift}) & 31)::int + 1, 1)`;
  });
  return `left(${base}, -${COUNTING_DIGITS}) || ${digits.join(' || ')}`;
}

/**
 * CTEs that append the messages of `to_stream` ("id", "projectId", "destinationId", "nth", "groupId",
 * "consumerId", "body"; "nth" is their order) to their streams. `log_ends` must precede them and contain the EventLog
 * of each project: no stream changes without it (docs/decisions/027-streams.md). The caller notifies the followers of
 * the destinations in `stream_ends`.
 */
export const STREAM_CTES = `
  measured_messages as (
    select message.*, row_number() over so_far as "place", sum(octet_length(message."body")) over so_far as "bytes"
    from to_stream message
    window so_far as (partition by message."destinationId" order by message."nth" rows unbounded preceding)
  ),
  stream_additions as (
    select message."projectId", message."destinationId", max(message."place") as "messages",
      max(message."bytes") as "bytes"
    from measured_messages message join log_ends on log_ends."projectId" = message."projectId"
    group by message."projectId", message."destinationId"
  ),
  stream_ends as (
    update "StreamLog" stream set "lastPosition" = stream."lastPosition" + addition."messages",
      "lastByte" = stream."lastByte" + addition."bytes"
    from stream_additions addition
    where stream."projectId" = addition."projectId" and stream."destinationId" = addition."destinationId"
      and not stream."isDeleted"
    returning stream."projectId", stream."destinationId", stream."lastPosition", stream."lastByte"
  ),
  appended_messages as (
    insert into "StreamMessage" ("id", "projectId", "destinationId", "position", "lastByte", "groupId", "consumerId", "body")
    select message."id", message."projectId", message."destinationId",
      stream."lastPosition" - addition."messages" + message."place",
      stream."lastByte" - addition."bytes" + message."bytes",
      message."groupId", message."consumerId", message."body"
    from measured_messages message
    join stream_additions addition on addition."projectId" = message."projectId"
      and addition."destinationId" = message."destinationId"
    join stream_ends stream on stream."projectId" = message."projectId"
      and stream."destinationId" = message."destinationId"
  )`;

/**
 * CTEs that append the events of `new_events`, which must precede them with EVENT_COLUMNS. The caller sends the
 * notifications in `event_notifications`. From `log_ends` to the commit, other events of the project wait, so that
 * positions are in commit order (docs/decisions/003-positions-are-commit-order.md).
 */
export const EVENT_CTES = `
  event_routes as (
    select event."eventId", route."projectId", route."topicId", route."eventType"
    from new_events event
    join "EventTopicRoute" route on route."projectId" = event."projectId" and route."eventType" = event."eventType"
  ),
  routed_events as (
    select event.*,
      row_number() over (partition by event."projectId" order by event."eventId") as "nth",
      count(*) over (partition by event."projectId") as "projectEvents"
    from new_events event where event."eventId" in (select "eventId" from event_routes)
  ),
  log_ends as (
    insert into "EventLog" as log ("projectId", "lastPosition")
    select "projectId", count(*) from routed_events group by "projectId" order by "projectId"
    on conflict ("projectId") do update set "lastPosition" = log."lastPosition" + excluded."lastPosition"
    returning log."projectId", log."lastPosition"
  ),
  appended_events as (
    insert into "NotificationEvent" ("id", "projectId", "position", "eventType", "data",
      "connectionId", "installationId", "operationId", "destinationId", "groupId", "consumerId")
    select event."eventId", event."projectId", log."lastPosition" - event."projectEvents" + event."nth",
      event."eventType", event."data", event."connectionId", event."installationId", event."operationId",
      event."destinationId", event."groupId", event."consumerId"
    from routed_events event join log_ends log on log."projectId" = event."projectId"
    returning "id", "position"
  ),
  appended_topics as (
    insert into "NotificationEventTopic" ("eventId", "topicId", "projectId", "position", "eventType")
    select route."eventId", route."topicId", route."projectId", event."position", route."eventType"
    from event_routes route join appended_events event on event."id" = route."eventId"
  ),
  destinations as (
    select distinct event_route."eventId", event_route."projectId", topic_route."destinationId"
    from event_routes event_route
    join "TopicDestinationRoute" topic_route on topic_route."projectId" = event_route."projectId"
      and topic_route."topicId" = event_route."topicId"
  ),
  numbered_destinations as (
    select destination.*, stream."destinationId" is not null as "isStream",
      row_number() over (partition by destination."eventId" order by destination."destinationId") - 1 as "number"
    from destinations destination
    left join "StreamLog" stream on stream."projectId" = destination."projectId"
      and stream."destinationId" = destination."destinationId"
  ),
  messages as (
    select ${deliveryIdSql('event."deliveryId"', 'destination."number"')} as "id",
      event."projectId", destination."destinationId", destination."isStream",
      event."nth", event."eventId", event."eventType", event."groupId", event."consumerId", event."traceparent",
      '{"notificationType":' || to_json(event."wireName")::text || ',"data":' || event."data"::text || '}' as "body"
    from numbered_destinations destination join routed_events event on event."eventId" = destination."eventId"
  ),
  appended_deliveries as (
    insert into "Delivery" ("id", "projectId", "destinationId", "eventId", "eventType", "groupId", "consumerId", "traceparent", "body")
    select "id", "projectId", "destinationId", "eventId", "eventType", "groupId", "consumerId", "traceparent", "body"
    from messages where not "isStream"
  ),
  to_stream as (
    select 'msg' || substr("id", 4) as "id", "projectId", "destinationId", "nth", "groupId", "consumerId", "body"
    from messages where "isStream"
  ),
  ${STREAM_CTES},
  event_notifications as (
    select '${EVENTS_CHANNEL} ' || "projectId" as "notification" from log_ends
    union all select '${EVENTS_CHANNEL} ' || "destinationId" from stream_ends)`;

const APPEND_EVENTS: ChangeStatement<EventRow> = {
  text: `
  with new_events as (select * from jsonb_to_recordset($1::jsonb) as event(${EVENT_COLUMNS})),
  ${EVENT_CTES}
  select ${notificationsSql('event_notifications')}`,
};

/** Appends events. Call it last in a transaction, because other events of the project wait from here to the commit. */
export async function appendEvents(tx: Transaction, rows: readonly EventRow[]): Promise<void> {
  await runInTransaction(tx, APPEND_EVENTS, rows);
}

/** Messages to one stream, about one subject. */
interface StreamMessages {
  projectId: string;
  destinationId: string;
  groupId: string | null;
  consumerId: string | null;
  /** In the order of the stream. */
  ids: string[];
  bodies: string[];
}

const APPEND_TO_STREAM: ChangeStatement<StreamMessages> = {
  text: `
  with input as (
    select * from jsonb_to_recordset($1::jsonb) as input(
      "projectId" text, "destinationId" text, "groupId" text, "consumerId" text, "ids" text[], "bodies" text[])
  ),
  log_ends as (
    insert into "EventLog" as log ("projectId") select "projectId" from input
    on conflict ("projectId") do update set "lastPosition" = log."lastPosition"
    returning log."projectId"
  ),
  to_stream as (
    select message."id", input."projectId", input."destinationId", message."nth", input."groupId", input."consumerId",
      message."body"
    from input cross join lateral unnest(input."ids", input."bodies")
      with ordinality as message("id", "body", "nth")
  ),
  ${STREAM_CTES}
  select array['${EVENTS_CHANNEL} ' || "destinationId"] as "notifications" from stream_ends`,
};

/** Appends messages to a stream. Other events and messages of the project wait from here to the commit. */
export async function appendToStream(tx: Transaction, messages: StreamMessages): Promise<void> {
  await runInTransaction(tx, APPEND_TO_STREAM, [messages]);
}
