/** Stores events that providers send. */
import {
  notificationsSql,
  PROVIDER_EVENTS_CHANNEL,
} from '../../transactions/notification-channels.ts';
import type { SharedStatement } from './shared-statements.ts';

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
export const STORE_PROVIDER_EVENTS: SharedStatement<EventsToStore, { stored: number }> = {
  getQueue: ({ projectId, events: [first] }) =>
    `${projectId} ${getQueueNumber(first?.nativeId ?? '')}`,
  getKey: ({ id }) => id,
  text: `
  with input as (
    select request."id", request."projectId", request."providerAppId", request."requestNumber", event.*
    from rows from (jsonb_to_recordset($1::jsonb) as (
        "id" text, "projectId" text, "providerAppId" text, "events" jsonb))
      with ordinality as request("id", "projectId", "providerAppId", "events", "requestNumber")
    cross join lateral rows from (jsonb_to_recordset(request."events") as (
        "nativeId" text, "account" text, "objectName" text, "recordId" text, "kind" text,
        "nativeType" text, "eventTime" timestamptz, "changedFields" text[], "content" jsonb))
      with ordinality as event("nativeId", "account", "objectName", "recordId", "kind",
        "nativeType", "eventTime", "changedFields", "content", "eventNumber")
  ),
  subscriptions as materialized (
    select subscription.*
    from (select distinct "projectId", "providerAppId", "account", "objectName" from input) event
    cross join lateral (
      select "projectId", "providerAppId", "account", "objectName", "installationId", "kinds", "otherEvents", "watchFields"
      from "ObjectSubscription"
      where "projectId" = event."projectId" and "providerAppId" = event."providerAppId"
        and "account" = event."account" and "objectName" = event."objectName" and "isWanted"
      for key share) subscription
  ),
  wanted_events as (
    select distinct on (
        event."projectId", subscription."installationId", event."objectName", event."nativeId")
      event.*, subscription."installationId"
    from input event join subscriptions subscription on subscription."projectId" = event."projectId"
      and subscription."providerAppId" = event."providerAppId" and subscription."account" = event."account"
      and subscription."objectName" = event."objectName"
    where event."kind" = any(subscription."kinds"::text[])
      and (event."kind" <> 'OTHER' or event."nativeType" = any(subscription."otherEvents"))
      and (event."kind" <> 'UPDATE' or cardinality(subscription."watchFields") = 0
        or cardinality(event."changedFields") = 0
        or lower(event."changedFields"::text)::text[] && lower(subscription."watchFields"::text)::text[])
    order by event."projectId", subscription."installationId", event."objectName", event."nativeId",
      event."requestNumber", event."eventNumber"
  ),
  stored_events as (
    insert into "ProviderEvent" ("projectId", "installationId", "objectName", "nativeId",
      "providerAppId", "recordId", "kind", "nativeType", "eventTime", "changedFields", "content", "arrival")
    select "projectId", "installationId", "objectName", "nativeId", "providerAppId", "recordId",
      "kind"::"ProviderEventKind", "nativeType", "eventTime", "changedFields", "content",
      nextval('"ProviderEvent_arrival_seq"')
    from (select * from wanted_events order by "requestNumber", "eventNumber") ordered_event
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
  select "id" as "key", count(*)::int as "stored", ${notificationsSql('notifications')} from stored_requests group by "id"`,
};
