/** Creates connections. The first connection of a group or a consumer creates that row too. */

import { notificationsSql } from '../../transactions/notification-channels.ts';
import { rowsByKeySql } from '../keyed-rows.ts';
import type { Tables } from '../tables.ts';
import { EVENT_COLUMNS, EVENT_CTES, type EventRow, eventColumnsSql } from './append-events.ts';
import type { SharedStatement } from './shared-statements.ts';

type Connection = Tables['Connection'];

/** CTEs that create the missing groups or consumers of `rows_to_create`. Names in the input replace stored names. */
function partyCtesSql(party: 'group' | 'consumer', table: 'Group' | 'Consumer'): string {
  const inputName = `(
    select party_input."name" from ${party}_inputs party_input
    where party_input."projectId" = party."projectId" and party_input."ref" = party."${party}Ref")`;
  return `
  ${party}_inputs as (
    select distinct on ("projectId", "${party}Ref") "projectId", "${party}Ref" as "ref", "${party}Id" as "id",
      "${party}Name" as "name", "now"
    from rows_to_create order by "projectId", "${party}Ref", "${party}Name" nulls last
  ),
  ${party}_rows as (
    insert into "${table}" as party ("id", "projectId", "${party}Ref", "${party}Name")
    select "id", "projectId", "ref", coalesce("name", "ref") from ${party}_inputs
    on conflict ("projectId", "${party}Ref") do update set
      "${party}Name" = coalesce(${inputName}, party."${party}Name"),
      "updateTime" = case when ${inputName} <> party."${party}Name"
        then (select max("now") from ${party}_inputs) else party."updateTime" end
    returning "id", "projectId", "${party}Ref", "${party}Name"
  )`;
}

const PARTY_CTES = `${partyCtesSql('group', 'Group')},${partyCtesSql('consumer', 'Consumer')}`;

/** Joins `input` with its group and its consumer. */
const JOINED_PARTIES = `
    join group_rows group_row on group_row."projectId" = input."projectId" and group_row."groupRef" = input."groupRef"
    join consumer_rows consumer_row on consumer_row."projectId" = input."projectId"
      and consumer_row."consumerRef" = input."consumerRef"`;

/** The group and the consumer of a connection. Existing rows keep their ids. */
export interface PartiesToCreate {
  projectId: string;
  groupId: string;
  groupRef: string;
  /** Null keeps the stored name. A new row gets the ref as its name. */
  groupName: string | null;
  consumerId: string;
  consumerRef: string;
  consumerName: string | null;
  now: Date;
}

/** Creates the missing groups and consumers. */
export const CREATE_PARTIES: SharedStatement<
  PartiesToCreate,
  Pick<Tables['Connection'], 'groupId' | 'consumerId'>
> = {
  getQueue: ({ projectId }) => projectId,
  getKey: ({ groupId }) => groupId,
  text: `
  with rows_to_create as (
    select * from jsonb_to_recordset($1::jsonb) as input(
      "projectId" text, "groupId" text, "groupRef" text, "groupName" text,
      "consumerId" text, "consumerRef" text, "consumerName" text, "now" timestamptz)
  ),
  ${PARTY_CTES}
  select input."groupId" as "key", group_row."id" as "groupId", consumer_row."id" as "consumerId"
  from rows_to_create input ${JOINED_PARTIES}`,
};

/** The input of a connection that is created or updated. */
export interface ConnectionInput
  extends Pick<
    Connection,
    | 'id'
    | 'projectId'
    | 'provider'
    | 'authScheme'
    | 'isWorkspaceFromToken'
    | 'providerConsumerRef'
    | 'credentialsSealed'
    | 'credentialTargets'
    | 'tokenExpireTime'
    | 'refreshDueTime'
    | 'unrefreshableSince'
  > {
  /** Null selects the newest app of the provider, if the provider needs one. */
  providerAppId: string | null;
  needsApp: boolean;
  /** Null keeps the stored value. */
  providerWorkspaceRef: string | null;
  providerMetadata: object | null;
  /** Null keeps the stored name. A new row gets the ref as its name. */
  groupName: string | null;
  consumerName: string | null;
  now: Date;
  /** The event to append. The statement adds the name of the consumer, which may be stored already, to its data. */
  event: EventRow;
}

/** A ConnectionInput as columns, for `jsonb_to_recordset`. */
export const CONNECTION_COLUMNS = `
  "id" text, "projectId" text, "provider" text, "authScheme" "AuthScheme", "providerAppId" text, "needsApp" boolean,
  "providerWorkspaceRef" text, "isWorkspaceFromToken" boolean, "providerConsumerRef" text, "providerMetadata" jsonb, "credentialsSealed" text,
  "credentialTargets" text,
  "tokenExpireTime" timestamptz, "refreshDueTime" timestamptz, "unrefreshableSince" timestamptz, "groupName" text,
  "consumerName" text, "now" timestamptz, "event" jsonb`;

/**
 * SQL: the rows of `input`, each with `appId`, the id of its app. Omits rows that name an unknown app. Locks the apps, so
 * that they keep their provider and are not deleted before the commit.
 */
export const INPUT_WITH_APPS = `
    select input.*, app."id" as "appId" from input
    left join lateral (
      select provider_app."id" from "ProviderApp" provider_app
      where input."needsApp" and provider_app."projectId" = input."projectId"
        and provider_app."provider" = input."provider"
        and (input."providerAppId" is null or provider_app."id" = input."providerAppId")
      order by provider_app."id" desc limit 1 for share) app on true
    where (input."providerAppId" is null or app."id" is not null)`;

const EXISTING_GROUP = rowsByKeySql(
  'Group',
  { projectId: 'input."projectId"', groupRef: 'input."groupRef"' },
  { columns: ['id'] },
);
const EXISTING_CONSUMER = rowsByKeySql(
  'Consumer',
  { projectId: 'input."projectId"', consumerRef: 'input."consumerRef"' },
  { columns: ['id'] },
);
const EXISTING_CONNECTION = rowsByKeySql(
  'Connection',
  {
    projectId: 'input."projectId"',
    provider: 'input."provider"',
    groupId: 'group_row."id"',
    consumerId: 'consumer_row."id"',
  },
  { columns: '*' },
);

/** A connection to create. The group and the consumer keep their ids if they exist. */
export interface ConnectionToGenerate
  extends ConnectionInput,
    Pick<Connection, 'groupId' | 'consumerId'>,
    Pick<Tables['Group'], 'groupRef'>,
    Pick<Tables['Consumer'], 'consumerRef'> {}

/**
 * Creates connections with the status CREATED, each with its event. If the connection exists, returns its row unchanged,
 * whose id differs from the input's. A connection has no row if another call created it at the same time, or if it
 * names an unknown app.
 */
export const GENERATE_CONNECTIONS: SharedStatement<ConnectionToGenerate, Connection> = {
  getQueue: ({ projectId }) => projectId,
  getKey: ({ id }) => id,
  text: `
  with input as (
    select * from jsonb_to_recordset($1::jsonb) as input(
      ${CONNECTION_COLUMNS}, "groupId" text, "groupRef" text, "consumerId" text, "consumerRef" text)
  ),
  existing_connections as (
    select input."id" as "key", connection.* from input
    cross join ${EXISTING_GROUP} group_row
    cross join ${EXISTING_CONSUMER} consumer_row
    cross join ${EXISTING_CONNECTION} connection
  ),
  rows_to_create as (${INPUT_WITH_APPS}
      and not exists (select 1 from existing_connections where "key" = input."id")
  ),
  ${PARTY_CTES},
  created_connections as (
    insert into "Connection" ("id", "projectId", "provider", "groupId", "consumerId", "authScheme", "providerAppId",
      "providerWorkspaceRef", "isWorkspaceFromToken", "providerConsumerRef", "providerMetadata", "credentialsSealed",
      "credentialTargets", "tokenExpireTime", "refreshDueTime", "unrefreshableSince")
    select input."id", input."projectId", input."provider", group_row."id", consumer_row."id", input."authScheme",
      input."appId", input."providerWorkspaceRef", input."isWorkspaceFromToken", input."providerConsumerRef",
      input."providerMetadata", input."credentialsSealed", input."credentialTargets",
      input."tokenExpireTime", input."refreshDueTime",
      input."unrefreshableSince"
    from rows_to_create input ${JOINED_PARTIES}
    order by input."id"
    on conflict do nothing
    returning *
  ),
  new_events as (
    select ${eventColumnsSql({
      data: `event."data" || jsonb_build_object('consumerName', consumer_row."consumerName")`,
      groupId: 'connection."groupId"',
      consumerId: 'connection."consumerId"',
    })}
    from created_connections connection
    join rows_to_create input on input."id" = connection."id"
    join consumer_rows consumer_row on consumer_row."id" = connection."consumerId"
    cross join jsonb_to_record(input."event") as event(${EVENT_COLUMNS})
  ),
  ${EVENT_CTES}
  select *, ${notificationsSql('event_notifications')} from (
    select "id" as "key", * from created_connections union all select * from existing_connections) connection`,
};
