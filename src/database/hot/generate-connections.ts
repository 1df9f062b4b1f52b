/** Creates connections. The first connection of a group or a consumer creates that row too. */
import { formatRowsByKey } from '../keyed-rows.ts';
import type { Tables } from '../tables.ts';
import { EVENT_COLUMNS, EVENT_CTES, type EventRow } from './append-events.ts';
import { selectNotifications } from './notification-channels.ts';
import type { BatchChange } from './shared-changes.ts';

type Connection = Tables['Connection'];

/** SQL: the name that the input has for an existing row. */
const formatInputName = (table: 'group' | 'consumer') => `(
    select n."name" from ${table}_names n
    where n."projectId" = t."projectId" and n."ref" = t."${table}Ref")`;

/** CTEs: the names in the input, and the rows with the refs of `rows_to_create`. Missing rows are created. */
const formatPartyCtes = (table: 'group' | 'consumer', into: 'Group' | 'Consumer') => `
  ${table}_names as (
    select distinct on ("projectId", "${table}Ref") "projectId", "${table}Ref" as "ref", "${table}Id" as "id",
      "${table}Name" as "name", "now"
    from rows_to_create order by "projectId", "${table}Ref", "${table}Name" nulls last
  ),
  ${table}_rows as (
    insert into "${into}" as t ("id", "projectId", "${table}Ref", "${table}Name")
    select "id", "projectId", "ref", coalesce("name", "ref") from ${table}_names
    on conflict ("projectId", "${table}Ref") do update set
      "${table}Name" = coalesce(${formatInputName(table)}, t."${table}Name"),
      "updateTime" = case when ${formatInputName(table)} <> t."${table}Name"
        then (select max("now") from ${table}_names) else t."updateTime" end
    returning "id", "projectId", "${table}Ref", "${table}Name"
  )`;

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
export const CREATE_PARTIES: BatchChange<
  PartiesToCreate,
  Pick<Tables['Connection'], 'groupId' | 'consumerId'>
> = {
  getQueue: ({ projectId }) => projectId,
  getKey: ({ groupId }) => groupId,
  text: `
  with rows_to_create as (
    select * from jsonb_to_recordset($1::jsonb) as g(
      "projectId" text, "groupId" text, "groupRef" text, "groupName" text,
      "consumerId" text, "consumerRef" text, "consumerName" text, "now" timestamptz)
  ),
  ${formatPartyCtes('group', 'Group')},
  ${formatPartyCtes('consumer', 'Consumer')}
  select n."groupId" as "key", g."id" as "groupId", u."id" as "consumerId" from rows_to_create n
  join group_rows g on g."projectId" = n."projectId" and g."groupRef" = n."groupRef"
  join consumer_rows u on u."projectId" = n."projectId" and u."consumerRef" = n."consumerRef"`,
};

/** The input of a connection that is created or updated. */
export interface ConnectionInput
  extends Pick<
    Connection,
    | 'id'
    | 'projectId'
    | 'provider'
    | 'authScheme'
    | 'providerConsumerRef'
    | 'credentialsSealed'
    | 'tokenExpireTime'
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
  /** The statement adds the consumer's stored name to its data. */
  event: EventRow;
}

/** A ConnectionInput as columns, for `jsonb_to_recordset`. */
export const CONNECTION_COLUMNS = `
  "id" text, "projectId" text, "provider" text, "authScheme" "AuthScheme", "providerAppId" text, "needsApp" boolean,
  "providerWorkspaceRef" text, "providerConsumerRef" text, "providerMetadata" jsonb, "credentialsSealed" text,
  "tokenExpireTime" timestamptz, "groupName" text, "consumerName" text, "now" timestamptz, "event" jsonb`;

/**
 * SQL: the rows `n` of `table`, each with the `appId` of its app, which stays an app of the provider until the commit.
 * Rows that name an unknown app are omitted.
 */
export const formatRowsWithApps = (table: string) => `
    select n.*, a."id" as "appId" from ${table} n
    left join lateral (
      select p."id" from "ProviderApp" p
      where n."needsApp" and p."projectId" = n."projectId" and p."provider" = n."provider"
        and (n."providerAppId" is null or p."id" = n."providerAppId")
      order by p."id" desc limit 1 for share) a on true
    where (n."providerAppId" is null or a."id" is not null)`;

const PROJECT = { projectId: 'n."projectId"' };
const GROUP = { ...PROJECT, groupRef: 'n."groupRef"' };
const CONSUMER = { ...PROJECT, consumerRef: 'n."consumerRef"' };
const CONNECTION = {
  ...PROJECT,
  provider: 'n."provider"',
  groupId: 'g."id"',
  consumerId: 'u."id"',
};

/** A connection to create. The group and the consumer keep their ids if they exist. */
export interface ConnectionToGenerate
  extends ConnectionInput,
    Pick<Connection, 'groupId' | 'consumerId'>,
    Pick<Tables['Group'], 'groupRef'>,
    Pick<Tables['Consumer'], 'consumerRef'> {}

/**
 * Creates connections with the status CREATED, each with its event. An existing connection does not change, and its row
 * has another id. A connection has no row if another call created it at the same time, or if it names an unknown app.
 */
export const GENERATE_CONNECTIONS: BatchChange<ConnectionToGenerate, Connection> = {
  getQueue: ({ projectId }) => projectId,
  getKey: ({ id }) => id,
  text: `
  with input as (
    select * from jsonb_to_recordset($1::jsonb) as g(
      ${CONNECTION_COLUMNS}, "groupId" text, "groupRef" text, "consumerId" text, "consumerRef" text)
  ),
  existing_connections as (
    select n."id" as "key", c.* from input n
    cross join ${formatRowsByKey('Group', GROUP, { columns: ['id'] })} g
    cross join ${formatRowsByKey('Consumer', CONSUMER, { columns: ['id'] })} u
    cross join ${formatRowsByKey('Connection', CONNECTION, { columns: '*' })} c
  ),
  rows_to_create as (${formatRowsWithApps('input')}
      and not exists (select 1 from existing_connections where "key" = n."id")
  ),
  ${formatPartyCtes('group', 'Group')},
  ${formatPartyCtes('consumer', 'Consumer')},
  created_connections as (
    insert into "Connection" ("id", "projectId", "provider", "groupId", "consumerId", "authScheme", "providerAppId",
      "providerWorkspaceRef", "providerConsumerRef", "providerMetadata", "credentialsSealed", "tokenExpireTime")
    select n."id", n."projectId", n."provider", g."id", u."id", n."authScheme", n."appId",
      n."providerWorkspaceRef", n."providerConsumerRef", n."providerMetadata", n."credentialsSealed",
      n."tokenExpireTime"
    from rows_to_create n
    join group_rows g on g."projectId" = n."projectId" and g."groupRef" = n."groupRef"
    join consumer_rows u on u."projectId" = n."projectId" and u."consumerRef" = n."consumerRef"
    order by n."id"
    on conflict do nothing
    returning *
  ),
  new_events as (
    select h."eventId", h."deliveryId", h."projectId", h."eventType", h."wireName",
      h."data" || jsonb_build_object('consumerName', u."consumerName") as "data", h."connectionId",
      h."installationId", h."operationId", h."destinationId", c."groupId", c."consumerId", h."traceparent"
    from created_connections c
    join rows_to_create n on n."id" = c."id"
    join consumer_rows u on u."id" = c."consumerId"
    cross join jsonb_to_record(n."event") as h(${EVENT_COLUMNS})
  ),
  ${EVENT_CTES}
  select *, ${selectNotifications('event_notifications')} from (
    select "id" as "key", * from created_connections union all select * from existing_connections) connection`,
};
