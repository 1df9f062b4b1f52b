/** Queries rows of installations that the viewer has read. */
import { type RowKey, toKeyColumns } from '../../database/row-keys.ts';
import type { Batch } from '../scope.ts';

/**
 * Joins an installation `i` with its config `c` and the latest revision `r` of its integration. `offset 0` makes
 * PostgreSQL fetch each row by its key. In one join, a planner that expects one row of each table may pair all rows of
 * the project (docs/decisions/046-updates-by-row-location.md).
 */
export const JOINED_CONTENTS = `
  cross join lateral (select "content" from "InstallationConfig"
    where "projectId" = i."projectId" and "id" = i."configId" offset 0) c
  cross join lateral (select "latestRevisionId" from "Integration"
    where "projectId" = i."projectId" and "id" = i."integrationId" offset 0) n
  cross join lateral (select "content" from "Revision"
    where "projectId" = i."projectId" and "id" = n."latestRevisionId" offset 0) r`;

/** The requested installations, each with its contents. */
export const REQUESTED_INSTALLATIONS = `unnest($1::text[], $2::text[]) as requested("projectId", "id")
  cross join lateral (select * from "Installation"
    where "projectId" = requested."projectId" and "id" = requested."id" offset 0) i${JOINED_CONTENTS}`;

/**
 * Creates a batch that returns the rows of each installation, in the order of the installations. `statement`
 * takes the projects and the ids of the installations as two arrays.
 */
export function createInstallationBatch<R extends { installationId: string }>(
  statement: string,
): Batch<RowKey, R[]> {
  return async ({ database }, installations) => {
    const rows = await database.rows.query<R>(statement, toKeyColumns(installations));
    const rowsByInstallation = Map.groupBy(rows, ({ installationId }) => installationId);
    return installations.map(({ id }) => rowsByInstallation.get(id) ?? []);
  };
}
