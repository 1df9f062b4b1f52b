/** Whether installations work, by their operations and connections. */
import type { Row } from '../../database/rows.ts';
import type { Batch } from '../scope.ts';

export type InstallationHealth = 'HEALTHY' | 'UNHEALTHY';

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

/** UNHEALTHY: the connection is BAD_CREDENTIALS, or the last three operations that ended all failed. */
export const installationHealth: Batch<string, InstallationHealth> = async ({ database }, ids) => {
  const unhealthy = await database.rows.query<{ id: string }>(UNHEALTHY, [
    [...ids],
    FAILURES_IN_A_ROW,
  ]);
  const found = new Set(unhealthy.map(({ id }) => id));
  return ids.map((id) => (found.has(id) ? 'UNHEALTHY' : 'HEALTHY'));
};

/** They all failed if the third newest failure is newer than every success. */
const UNHEALTHY = `
  select i."id" from "Installation" i
  join "Connection" c on c."id" = i."connectionId"
  where i."id" = any($1) and (c."status" = 'BAD_CREDENTIALS' or (
    select o."id" from "Operation" o
    where o."installationId" = i."id" and o."status" = 'FAILURE'
    order by o."id" desc offset $2 - 1 limit 1
  ) > coalesce((
    select o."id" from "Operation" o
    where o."installationId" = i."id" and o."status" = 'SUCCESS'
    order by o."id" desc limit 1
  ), ''))`;
