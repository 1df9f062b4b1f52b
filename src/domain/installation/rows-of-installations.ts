/** What belongs to installations that the viewer has found. */
import { keyColumns, type RowKey } from '../../database/row-keys.ts';
import type { Batch } from '../scope.ts';

/**
 * Joins, to an installation `i`, its config `c` and the latest revision `r` of its integration. One after the other, each
 * by its key, as an offset keeps a subquery apart: joined at once, all rows of the project may be paired with each other
 * while the planner takes it to have one of each (docs/decisions/046-rows-are-changed-where-they-were-found.md).
 */
export const JOINED_CONTENTS = `
  cross join lateral (select "content" from "InstallationConfig"
    where "projectId" = i."projectId" and "id" = i."configId" offset 0) c
  cross join lateral (select "latestRevisionId" from "Integration"
    where "projectId" = i."projectId" and "id" = i."integrationId" offset 0) n
  cross join lateral (select "content" from "Revision"
    where "projectId" = i."projectId" and "id" = n."latestRevisionId" offset 0) r`;

/** The installations that are asked for, each with its contents. */
export const ASKED_INSTALLATIONS = `unnest($1::text[], $2::text[]) as requested("projectId", "id")
  cross join lateral (select * from "Installation"
    where "projectId" = requested."projectId" and "id" = requested."id" offset 0) i${JOINED_CONTENTS}`;

/** The rows of each, in their order. The statement gets the projects and the ids of the installations as two arrays. */
export function rowsOfInstallations<R extends { installationId: string }>(
  statement: string,
): Batch<RowKey, R[]> {
  return async ({ database }, installations) => {
    const found = await database.rows.query<R>(statement, keyColumns(installations));
    const byInstallation = Map.groupBy(found, ({ installationId }) => installationId);
    return installations.map(({ id }) => byInstallation.get(id) ?? []);
  };
}
