/** Stores events that providers send. */
import { PROVIDER_EVENTS_CHANNEL, selectNotifications } from './notification-channels.ts';
import type { BatchChange } from './shared-changes.ts';

/** The events of one request to the webhook of a provider app. */
export interface EventsToStore {
  /** The id of the request. */
  id: string;
  projectId: string;
  providerAppId: string;
  /** In the order in which they are processed if their times are equal. */
  events: {
    nativeId: string;
    account: string;
    objectName: string;
    recordId: string | null;
    kind: string;
    nativeType: string;
    eventTime: Date;
    changedFields: string[];
    content: object;
  }[];
}

/** Concurrent statements per project: while the database runs one, the next is prepared. */
const QUEUE_COUNT = 2;

/**
 * Returns the queue of a request. A repeated request is in the queue of the first one. In another queue, it would wait
 * for the first, and a third request would wait for both.
 */
function getQueueNumber(nativeId: string): number {
  let sum = 0;
  for (let index = 0; index < nativeId.length; index += 1) {
    sum = (Math.imul(sum, 31) + nativeId.charCodeAt(index)) >>> 0;
  }
  return sum % QUEUE_COUNT;
}

/**
 * Stores a row for each subscription that wants the event, found by app, account and object. Names of fields may differ
 * in case, because some providers spell them in several ways. An event that is already stored does not change. A
 * request without a new and wanted event has no row in the result. The notification is for the processes that deliver
 * events.
 *
 * The lock on a subscription makes its deletion wait for events that are being stored for it. After the deletion, none
 * are stored. The statement counts arrivals itself, because a column of a cluster's shards can't have a sequence as its
 * default. `stored_requests` finds the requests of stored events without a join, because the planner underestimates its
 * rows.
 */
export const STORE_PROVIDER_EVENTS: BatchChange<EventsToStore, { stored: number }> = {
  getQueue: ({ projectId, events: [first] }) =>
    `${projectId} ${getQueueNumber(first?.nativeId ?? '')}`,
  getKey: ({ id }) => id,
  text: `
  with input as (
    select g."id", g."projectId", g."providerAppId", g."request", e.* from rows from (jsonb_to_recordset($1::jsonb) as (
        "id" text, "projectId" text, "providerAppId" text, "events" jsonb))
      with ordinality as g("id", "projectId", "providerAppId", "events", "request")
    cross join lateral rows from (jsonb_to_recordset(g."events") as (
        "nativeId" text, "account" text, "objectName" text, "recordId" text, "kind" text,
        "nativeType" text, "eventTime" timestamptz, "changedFields" text[], "content" jsonb))
      with ordinality as e("nativeId", "account", "objectName", "recordId", "kind",
        "nativeType", "eventTime", "changedFields", "content", "place")
  ),
  subscriptions as materialized (
    select s.* from (select distinct "projectId", "providerAppId", "account", "objectName" from input) e
    cross join lateral (
      select "projectId", "providerAppId", "account", "objectName", "installationId", "kinds", "otherEvents", "watchFields"
      from "ObjectSubscription"
      where "projectId" = e."projectId" and "providerAppId" = e."providerAppId" and "account" = e."account"
        and "objectName" = e."objectName" and "isWanted"
      for key share) s
  ),
  wanted_events as (
    select distinct on (e."projectId", s."installationId", e."objectName", e."nativeId")
      e.*, s."installationId"
    from input e join subscriptions s on s."projectId" = e."projectId"
      and s."providerAppId" = e."providerAppId" and s."account" = e."account"
      and s."objectName" = e."objectName"
    where e."kind" = any(s."kinds"::text[])
      and (e."kind" <> 'OTHER' or e."nativeType" = any(s."otherEvents"))
      and (e."kind" <> 'UPDATE' or cardinality(s."watchFields") = 0
        or cardinality(e."changedFields") = 0 or lower(e."changedFields"::text)::text[]
          && lower(s."watchFields"::text)::text[])
    order by e."projectId", s."installationId", e."objectName", e."nativeId", e."request", e."place"
  ),
  stored_events as (
    insert into "ProviderEvent" ("projectId", "installationId", "objectName", "nativeId",
      "providerAppId", "recordId", "kind", "nativeType", "eventTime", "changedFields", "content", "arrival")
    select "projectId", "installationId", "objectName", "nativeId", "providerAppId", "recordId",
      "kind"::"ProviderEventKind", "nativeType", "eventTime", "changedFields", "content",
      nextval('"ProviderEvent_arrival_seq"')
    from (select * from wanted_events order by "request", "place") in_order
    on conflict do nothing
    returning "projectId", "installationId", "objectName", "nativeId"
  ),
  stored_requests as (
    select max("id") as "id" from (
      select null as "id", "projectId", "installationId", "objectName", "nativeId" from stored_events
      union all select "id", "projectId", "installationId", "objectName", "nativeId" from wanted_events) event
    group by "projectId", "installationId", "objectName", "nativeId" having bool_or("id" is null)
  ),
  notifications as (select '${PROVIDER_EVENTS_CHANNEL} ' as "notification")
  select "id" as "key", count(*)::int as "stored", ${selectNotifications('notifications')} from stored_requests group by "id"`,
};
