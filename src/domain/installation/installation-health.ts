/** Whether installations work, by their operations and connections. */
import type { Row } from '../../database/rows.ts';
import type { Batch } from '../scope.ts';

export interface InstallationHealth {
  status: 'HEALTHY' | 'UNHEALTHY';
  /** Why it is not healthy, for people. */
  reason: string | null;
}

/** Failures in a row that make an installation unhealthy. */
const FAILURES_IN_A_ROW = 3;

/** The newest operation of installations that the viewer has found. */
export const lastOperations: Batch<string, Row<'Operation'> | null> = async ({ database }, ids) => {
  const found = await database.rows.query<Row<'Operation'>>(LAST_OPERATIONS, [[...new Set(ids)]]);
  const byInstallation = new Map(found.map((operation) => [operation.installationId, operation]));
  return ids.map((id) => byInstallation.get(id) ?? null);
};

const LAST_OPERATIONS = `
  select newest.* from unnest($1::text[]) as requested("id")
  cross join lateral (
    select * from "Operation" o where o."installationId" = requested."id" order by o."id" desc limit 1
  ) newest`;

/** UNHEALTHY: bad credentials, fields that are not mapped, a subscription that does not work, or three failures in a row at the end. */
export const installationHealth: Batch<string, InstallationHealth> = async ({ database }, ids) => {
  const unhealthy = await database.rows.query<Unhealthy>(UNHEALTHY, [
    [...new Set(ids)],
    FAILURES_IN_A_ROW,
  ]);
  const found = new Map(unhealthy.map((row) => [row.id, reasonOf(row)]));
  return ids.map((id) => {
    const reason = found.get(id) ?? null;
    return { status: reason === null ? 'HEALTHY' : 'UNHEALTHY', reason };
  });
};

interface Unhealthy {
  id: string;
  isRefused: boolean;
  /** `contacts: owner` */
  unmapped: string | null;
  /** `contacts: The project has no provider app.` */
  unsubscribed: string | null;
}

function reasonOf({ isRefused, unmapped, unsubscribed }: Unhealthy): string {
  if (isRefused) return 'The provider refuses the credentials of its connection.';
  if (unmapped !== null) {
    return `Its config maps no field to what the integration requires: ${unmapped}. Reads wait.`;
  }
  if (unsubscribed !== null) return `Its subscriptions do not work: ${unsubscribed}`;
  return `Its last ${FAILURES_IN_A_ROW} operations have failed.`;
}

/** Required fields that the config in force leaves unmapped, as mapped-names.ts tells them. */
const UNMAPPED = `
  select string_agg((spec."value"->>'objectName') || ': ' || (field."value"->>'mapToName'), ', ')
  from "Integration" n
  join "Revision" r on r."id" = n."latestRevisionId"
  join "InstallationConfig" g on g."id" = i."configId"
  cross join lateral jsonb_array_elements(r."content"->'read'->'objects') spec
  cross join lateral jsonb_array_elements(spec."value"->'requiredFields') field
  join lateral jsonb_array_elements(g."content"->'read') choice
    on choice."value"->>'objectName' = spec."value"->>'objectName'
  where n."id" = i."integrationId" and field."value"->>'fieldName' is null
    and field."value"->>'default' is null
    and choice."value"->>'disabled' = 'false'
    and not exists (
      select from jsonb_array_elements(choice."value"->'fieldMappings') mapping
      where mapping."value"->>'mapToName' = field."value"->>'mapToName'
    )
    and not exists (
      select from jsonb_array_elements(choice."value"->'dynamicMappings') mapping
      where mapping."value"->>'mapToName' = field."value"->>'mapToName'
        and mapping."value"->>'fieldName' is not null
    )`;

const UNSUBSCRIBED = `
  select string_agg(s."objectName" || ': ' || coalesce(s."error", ''), ' ') from "ObjectSubscription" s
  where s."projectId" = i."projectId" and s."installationId" = i."id" and s."isWanted"
    and s."status" in ('FAILED', 'UNSUPPORTED')`;

/** They all failed if the third newest failure is newer than every success. */
const UNHEALTHY = `
  with found as materialized (
    select i."id", c."status" = 'BAD_CREDENTIALS' as "isRefused", (${UNMAPPED}) as "unmapped",
      (${UNSUBSCRIBED}) as "unsubscribed", (
      select o."id" from "Operation" o
      where o."installationId" = i."id" and o."status" = 'FAILURE'
      order by o."id" desc offset $2 - 1 limit 1
    ) > coalesce((
      select o."id" from "Operation" o
      where o."installationId" = i."id" and o."status" = 'SUCCESS'
      order by o."id" desc limit 1
    ), '') as "isFailing"
    from unnest($1::text[]) as requested("id")
    cross join lateral (select * from "Installation" where "id" = requested."id" limit 1) i
    cross join lateral (
      select "status" from "Connection" where "projectId" = i."projectId" and "id" = i."connectionId" limit 1
    ) c
  )
  select * from found
  where found."isRefused" or found."unmapped" is not null or found."unsubscribed" is not null
    or found."isFailing"`;
