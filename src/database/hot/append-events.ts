/**
 * Appends an event to the log of its project, in one statement: the event with its topics, a delivery or a stream
 * message for each destination, and a notification for followers. An event without a route is not stored.
 */
import { changeAndNotify, type Transaction } from '../transaction.ts';
import { EVENTS_CHANNEL, selectNotifications } from './notification-channels.ts';

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
  /** The trace of which its deliveries are a part. */
  traceparent?: string | undefined;
}

/** The members of an EventRow as columns, for `jsonb_to_recordset`. */
export const EVENT_COLUMNS = `
  "eventId" text, "deliveryId" text, "projectId" text, "eventType" "NotificationEventType", "wireName" text,
  "data" jsonb, "connectionId" text, "installationId" text, "operationId" text, "destinationId" text,
  "groupId" text, "consumerId" text, "traceparent" text`;

const ID_DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';
const COUNTING_DIGITS = 4;

/** SQL: the id of the delivery to one of the event's destinations, which are counted from 0. */
function formatDeliveryId(base: string, count: string): string {
  const digits = Array.from({ length: COUNTING_DIGITS }, (_, exponent) => {
    const shift = 5 * (COUNTING_DIGITS - 1 - exponent);
    return `substr('${ID_DIGITS}', ((${count} >> ${shift}) & 31)::int + 1, 1)`;
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
    select t.*, row_number() over so_far as "place", sum(octet_length(t."body")) over so_far as "bytes"
    from to_stream t
    window so_far as (partition by t."destinationId" order by t."nth" rows unbounded preceding)
  ),
  stream_additions as (
    select m."projectId", m."destinationId", max(m."place") as "messages", max(m."bytes") as "bytes"
    from measured_messages m join log_ends l on l."projectId" = m."projectId"
    group by m."projectId", m."destinationId"
  ),
  stream_ends as (
    update "StreamLog" s set "lastPosition" = s."lastPosition" + a."messages", "lastByte" = s."lastByte" + a."bytes"
    from stream_additions a
    where s."projectId" = a."projectId" and s."destinationId" = a."destinationId" and not s."isDeleted"
    returning s."projectId", s."destinationId", s."lastPosition", s."lastByte"
  ),
  appended_messages as (
    insert into "StreamMessage" ("id", "projectId", "destinationId", "position", "lastByte", "groupId", "consumerId", "body")
    select m."id", m."projectId", m."destinationId", s."lastPosition" - a."messages" + m."place",
      s."lastByte" - a."bytes" + m."bytes", m."groupId", m."consumerId", m."body"
    from measured_messages m
    join stream_additions a on a."projectId" = m."projectId" and a."destinationId" = m."destinationId"
    join stream_ends s on s."projectId" = m."projectId" and s."destinationId" = m."destinationId"
  )`;

/**
 * CTEs that append the events of `new_events`, which must precede them with EVENT_COLUMNS. The caller sends the
 * notifications in `event_notifications`. From `log_ends` to the commit, other events of the project wait, so that
 * positions are in commit order (docs/decisions/003-positions-are-commit-order.md).
 */
export const EVENT_CTES = `
  event_routes as (
    select h."eventId", r."projectId", r."topicId", r."eventType"
    from new_events h
    join "EventTopicRoute" r on r."projectId" = h."projectId" and r."eventType" = h."eventType"
  ),
  routed_events as (
    select h.*,
      row_number() over (partition by h."projectId" order by h."eventId") as "nth",
      count(*) over (partition by h."projectId") as "projectEvents"
    from new_events h where h."eventId" in (select "eventId" from event_routes)
  ),
  log_ends as (
    insert into "EventLog" as l ("projectId", "lastPosition")
    select "projectId", count(*) from routed_events group by "projectId" order by "projectId"
    on conflict ("projectId") do update set "lastPosition" = l."lastPosition" + excluded."lastPosition"
    returning l."projectId", l."lastPosition"
  ),
  appended_events as (
    insert into "NotificationEvent" ("id", "projectId", "position", "eventType", "data",
      "connectionId", "installationId", "operationId", "destinationId", "groupId", "consumerId")
    select k."eventId", k."projectId", l."lastPosition" - k."projectEvents" + k."nth", k."eventType", k."data",
      k."connectionId", k."installationId", k."operationId", k."destinationId", k."groupId", k."consumerId"
    from routed_events k join log_ends l on l."projectId" = k."projectId"
    returning "id", "position"
  ),
  appended_topics as (
    insert into "NotificationEventTopic" ("eventId", "topicId", "projectId", "position", "eventType")
    select r."eventId", r."topicId", r."projectId", a."position", r."eventType"
    from event_routes r join appended_events a on a."id" = r."eventId"
  ),
  destinations as (
    select distinct r."eventId", r."projectId", t."destinationId"
    from event_routes r
    join "TopicDestinationRoute" t on t."projectId" = r."projectId" and t."topicId" = r."topicId"
  ),
  numbered_destinations as (
    select d.*, s."destinationId" is not null as "isStream",
      row_number() over (partition by d."eventId" order by d."destinationId") - 1 as "count"
    from destinations d
    left join "StreamLog" s on s."projectId" = d."projectId" and s."destinationId" = d."destinationId"
  ),
  messages as (
    select ${formatDeliveryId('k."deliveryId"', 'o."count"')} as "id", k."projectId", o."destinationId", o."isStream",
      k."nth", k."eventId", k."eventType", k."groupId", k."consumerId", k."traceparent",
      '{"notificationType":' || to_json(k."wireName")::text || ',"data":' || k."data"::text || '}' as "body"
    from numbered_destinations o join routed_events k on k."eventId" = o."eventId"
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

const APPEND_EVENTS = `
  with new_events as (select * from jsonb_to_recordset($1::jsonb) as h(${EVENT_COLUMNS})),
  ${EVENT_CTES}
  select ${selectNotifications('event_notifications')}`;

/** Appends events. Call it last in a transaction, because other events of the project wait from here to the commit. */
export async function appendEvents(tx: Transaction, rows: readonly EventRow[]): Promise<void> {
  await changeAndNotify(tx, APPEND_EVENTS, [JSON.stringify(rows)]);
}

const APPEND_TO_STREAM = `
  with log_ends as (
    insert into "EventLog" as l ("projectId") values ($1)
    on conflict ("projectId") do update set "lastPosition" = l."lastPosition"
    returning l."projectId"
  ),
  to_stream as (
    select "id", $1 as "projectId", $2 as "destinationId", "nth", $3::text as "groupId", $4::text as "consumerId", "body"
    from unnest($5::text[], $6::text[]) with ordinality as input("id", "body", "nth")
  ),
  ${STREAM_CTES}
  select array['${EVENTS_CHANNEL} ' || "destinationId"] as "notifications" from stream_ends`;

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

/** Appends messages to a stream. Other events and messages of the project wait from here to the commit. */
export async function appendToStream(
  tx: Transaction,
  { projectId, destinationId, groupId, consumerId, ids, bodies }: StreamMessages,
): Promise<void> {
  const values = [projectId, destinationId, groupId, consumerId, ids, bodies];
  await changeAndNotify(tx, APPEND_TO_STREAM, values);
}
