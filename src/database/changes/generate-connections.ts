/** How a connection is made, with the group and the consumer whose first it is. */
import type { Tables } from '../tables.ts';
import { APPENDING, EVENT_COLUMNS, type EventRow } from './append-events.ts';
import type { ChangeOfMany } from './shared-changes.ts';

type Connection = Tables['Connection'];

/** A connection to make. Those of its group and consumer that exist already keep their ids. */
export interface ConnectionToGenerate
  extends Pick<
      Connection,
      | 'id'
      | 'projectId'
      | 'provider'
      | 'groupId'
      | 'consumerId'
      | 'authScheme'
      | 'providerConsumerRef'
      | 'credentialsSealed'
      | 'tokenExpireTime'
    >,
    Pick<Tables['Group'], 'groupRef'>,
    Pick<Tables['Consumer'], 'consumerRef'> {
  providerWorkspaceRef: string | null;
  providerMetadata: object | null;
  /** Null for the one that is stored, or else the ref. */
  groupName: string | null;
  consumerName: string | null;
  now: Date;
  /** Its data gets the consumer's name as it is stored. */
  event: EventRow;
}

/** The name that was given for one that exists. */
const givenName = (table: 'group' | 'consumer') => `(
    select n."name" from ${table}_names n
    where n."projectId" = t."projectId" and n."ref" = t."${table}Ref")`;

/** Members of a `with`: the names that are given, and the rows with the refs of `absent`, made where they are missing. */
const putting = (table: 'group' | 'consumer', into: 'Group' | 'Consumer') => `
  ${table}_names as (
    select distinct on ("projectId", "${table}Ref") "projectId", "${table}Ref" as "ref", "${table}Id" as "id",
      "${table}Name" as "name", "now"
    from absent order by "projectId", "${table}Ref", "${table}Name" nulls last
  ),
  ${table}_rows as (
    insert into "${into}" as t ("id", "projectId", "${table}Ref", "${table}Name")
    select "id", "projectId", "ref", coalesce("name", "ref") from ${table}_names
    on conflict ("projectId", "${table}Ref") do update set
      "${table}Name" = coalesce(${givenName(table)}, t."${table}Name"),
      "updateTime" = case when ${givenName(table)} <> t."${table}Name"
        then (select max("now") from ${table}_names) else t."updateTime" end
    returning "id", "projectId", "${table}Ref", "${table}Name"
  )`;

/** Makes connections, each CREATED and with its event. One that exists already has no row, and nothing is changed. */
export const GENERATE_CONNECTIONS: ChangeOfMany<ConnectionToGenerate, Connection> = {
  lineOf: ({ projectId }) => projectId,
  keyOf: ({ id }) => id,
  text: `
  with given as (
    select * from jsonb_to_recordset($1::jsonb) as g(
      "id" text, "projectId" text, "provider" text, "groupId" text, "groupRef" text, "groupName" text,
      "consumerId" text, "consumerRef" text, "consumerName" text, "authScheme" "AuthScheme",
      "providerWorkspaceRef" text, "providerConsumerRef" text, "providerMetadata" jsonb,
      "credentialsSealed" text, "tokenExpireTime" timestamptz, "now" timestamptz, "event" jsonb)
  ),
  absent as (
    select * from given n where not exists (
      select 1 from "Group" g
      join "Connection" c on c."projectId" = g."projectId" and c."groupId" = g."id" and c."provider" = n."provider"
      join "Consumer" u on u."projectId" = c."projectId" and u."id" = c."consumerId" and u."consumerRef" = n."consumerRef"
      where g."projectId" = n."projectId" and g."groupRef" = n."groupRef")
  ),
  ${putting('group', 'Group')},
  ${putting('consumer', 'Consumer')},
  generated as (
    insert into "Connection" ("id", "projectId", "provider", "groupId", "consumerId", "authScheme",
      "providerWorkspaceRef", "providerConsumerRef", "providerMetadata", "credentialsSealed", "tokenExpireTime")
    select n."id", n."projectId", n."provider", g."id", u."id", n."authScheme",
      n."providerWorkspaceRef", n."providerConsumerRef", n."providerMetadata", n."credentialsSealed",
      n."tokenExpireTime"
    from absent n
    join group_rows g on g."projectId" = n."projectId" and g."groupRef" = n."groupRef"
    join consumer_rows u on u."projectId" = n."projectId" and u."consumerRef" = n."consumerRef"
    order by n."id"
    on conflict do nothing
    returning *
  ),
  happened as (
    select h."eventId", h."deliveryId", h."projectId", h."eventType", h."wireName",
      h."data" || jsonb_build_object('consumerName', u."consumerName") as "data", h."connectionId",
      h."installationId", h."operationId", h."destinationId", c."groupId", c."consumerId", h."traceparent"
    from generated c
    join absent n on n."id" = c."id"
    join consumer_rows u on u."id" = c."consumerId"
    cross join jsonb_to_record(n."event") as h(${EVENT_COLUMNS})
  ),
  ${APPENDING}
  select c."id" as "of", c.* from generated c where (select count(*) from announced) >= 0`,
};
