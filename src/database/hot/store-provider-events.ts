/** How events that providers send are stored. */
import { notificationsColumn, PROVIDER_EVENTS_CHANNEL } from './notification-channels.ts';
import type { ChangeOfMany } from './shared-changes.ts';

/** What one request brings for a provider app. */
export interface EventsToStore {
  /** Of the request. */
  id: string;
  projectId: string;
  providerAppId: string;
  /** In the order in which they are to be done if their times are the same. */
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

/** Statements of one project at the same time: while the database works on one, the next is prepared. */
const LINES = 2;

/** The same for a request that is sent again: it would wait for the first, and a third for both. */
function lineOf(nativeId: string): number {
  let sum = 0;
  for (let place = 0; place < nativeId.length; place += 1) {
    sum = (Math.imul(sum, 31) + nativeId.charCodeAt(place)) >>> 0;
  }
  return sum % LINES;
}

/**
 * One row for each subscription that wants the event; it is found by the app, the account and the object. Names of
 * fields may differ in case: some providers spell them in several ways. An event
 * that is there already stays as it is. A request that brings nothing wanted and new has no row. The hint is for the
 * processes that do the events. `new` finds the requests of what was stored without a join: its rows are more than the
 * planner thinks. A subscription that is deleted waits for what is being stored for it, and nothing is stored after it.
 * Arrivals are counted here: the shards of a cluster have no defaults that count.
 */
export const STORE_PROVIDER_EVENTS: ChangeOfMany<EventsToStore, { stored: number }> = {
  lineOf: ({ projectId, events: [first] }) => `${projectId} ${lineOf(first?.nativeId ?? '')}`,
  keyOf: ({ id }) => id,
  text: `
  with sent as (
    select g."id", g."projectId", g."providerAppId", g."request", e.* from rows from (jsonb_to_recordset($1::jsonb) as (
        "id" text, "projectId" text, "providerAppId" text, "events" jsonb))
      with ordinality as g("id", "projectId", "providerAppId", "events", "request")
    cross join lateral rows from (jsonb_to_recordset(g."events") as (
        "nativeId" text, "account" text, "objectName" text, "recordId" text, "kind" text,
        "nativeType" text, "eventTime" timestamptz, "changedFields" text[], "content" jsonb))
      with ordinality as e("nativeId", "account", "objectName", "recordId", "kind",
        "nativeType", "eventTime", "changedFields", "content", "place")
  ),
  subscribed as materialized (
    select s.* from (select distinct "projectId", "providerAppId", "account", "objectName" from sent) e
    cross join lateral (
      select "projectId", "providerAppId", "account", "objectName", "installationId", "kinds", "otherEvents", "watchFields"
      from "ObjectSubscription"
      where "projectId" = e."projectId" and "providerAppId" = e."providerAppId" and "account" = e."account"
        and "objectName" = e."objectName" and "isWanted"
      for key share) s
  ),
  wanted as (
    select distinct on (e."projectId", s."installationId", e."objectName", e."nativeId")
      e.*, s."installationId"
    from sent e join subscribed s on s."projectId" = e."projectId"
      and s."providerAppId" = e."providerAppId" and s."account" = e."account"
      and s."objectName" = e."objectName"
    where e."kind" = any(s."kinds"::text[])
      and (e."kind" <> 'OTHER' or e."nativeType" = any(s."otherEvents"))
      and (e."kind" <> 'UPDATE' or cardinality(s."watchFields") = 0
        or cardinality(e."changedFields") = 0 or lower(e."changedFields"::text)::text[]
          && lower(s."watchFields"::text)::text[])
    order by e."projectId", s."installationId", e."objectName", e."nativeId", e."request", e."place"
  ),
  stored as (
    insert into "ProviderEvent" ("projectId", "installationId", "objectName", "nativeId",
      "providerAppId", "recordId", "kind", "nativeType", "eventTime", "changedFields", "content", "arrival")
    select "projectId", "installationId", "objectName", "nativeId", "providerAppId", "recordId",
      "kind"::"ProviderEventKind", "nativeType", "eventTime", "changedFields", "content",
      nextval('"ProviderEvent_arrival_seq"')
    from (select * from wanted order by "request", "place") in_order
    on conflict do nothing
    returning "projectId", "installationId", "objectName", "nativeId"
  ),
  new as (
    select max("id") as "id" from (
      select null as "id", "projectId", "installationId", "objectName", "nativeId" from stored
      union all select "id", "projectId", "installationId", "objectName", "nativeId" from wanted) event
    group by "projectId", "installationId", "objectName", "nativeId" having bool_or("id" is null)
  ),
  hints as (select '${PROVIDER_EVENTS_CHANNEL} ' as "hint")
  select "id" as "of", count(*)::int as "stored", ${notificationsColumn('hints')} from new group by "id"`,
};
