/** How groups and consumers are made at their first use, and named: the two ends of a connection. */
import type { Tables } from '../tables.ts';
import type { ChangeOfMany } from './shared-changes.ts';

/** The name that was given for one that exists. */
const givenName = (table: 'group' | 'consumer') => `(
    select n."name" from ${table}_names n
    where n."projectId" = t."projectId" and n."ref" = t."${table}Ref")`;

/** Members of a `with`: the names that are given, and the rows with the refs of `absent`, made where they are missing. */
export const putting = (table: 'group' | 'consumer', into: 'Group' | 'Consumer') => `
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

/** Those that exist already keep their ids. */
export interface EndsToPut {
  projectId: string;
  groupId: string;
  groupRef: string;
  /** Null for the one that is stored, or else the ref. */
  groupName: string | null;
  consumerId: string;
  consumerRef: string;
  consumerName: string | null;
  now: Date;
}

/** Makes what is missing of each pair. */
export const PUT_ENDS: ChangeOfMany<
  EndsToPut,
  Pick<Tables['Connection'], 'groupId' | 'consumerId'>
> = {
  lineOf: ({ projectId }) => projectId,
  keyOf: ({ groupId }) => groupId,
  text: `
  with absent as (
    select * from jsonb_to_recordset($1::jsonb) as g(
      "projectId" text, "groupId" text, "groupRef" text, "groupName" text,
      "consumerId" text, "consumerRef" text, "consumerName" text, "now" timestamptz)
  ),
  ${putting('group', 'Group')},
  ${putting('consumer', 'Consumer')}
  select n."groupId" as "of", g."id" as "groupId", u."id" as "consumerId" from absent n
  join group_rows g on g."projectId" = n."projectId" and g."groupRef" = n."groupRef"
  join consumer_rows u on u."projectId" = n."projectId" and u."consumerRef" = n."consumerRef"`,
};
