/** What belongs to installations that the viewer has found. */
import { keyColumns, type RowKey } from '../../database/row-keys.ts';
import type { Batch } from '../scope.ts';

/** Joins, to an installation `i`, its config `c` and the latest revision `r` of its integration. */
export const JOINED_CONTENTS = `
  join "InstallationConfig" c on c."projectId" = i."projectId" and c."id" = i."configId"
  join "Integration" n on n."projectId" = i."projectId" and n."id" = i."integrationId"
  join "Revision" r on r."projectId" = n."projectId" and r."id" = n."latestRevisionId"`;

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
