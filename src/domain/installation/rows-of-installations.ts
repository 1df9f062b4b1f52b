/** What belongs to installations that the viewer has found. */
import { keyColumns, type RowKey } from '../../database/row-keys.ts';
import type { Batch } from '../scope.ts';

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
