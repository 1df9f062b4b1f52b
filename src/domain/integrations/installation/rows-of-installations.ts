/** Loads rows that belong to installations, in batches. */
import { type RowKey, toKeyColumns } from '../../../database/statements/row-keys.ts';
import type { SqlStatement } from '../../../database/statements/statements.ts';
import type { Batch } from '../../access/scope.ts';

/**
 * SQL: joins `installation` with its `config`, its `integration` and the integration's latest `revision`. `offset 0`
 * makes PostgreSQL fetch each row by its key. Without it, the planner may underestimate the row counts and join every
 * row of the project with every other (docs/decisions/046-updates-by-row-location.md).
 */
export const JOINED_CONTENTS = `
  cross join lateral (select "content" from "InstallationConfig"
    where "projectId" = installation."projectId" and "id" = installation."configId" offset 0) config
  cross join lateral (select "latestRevisionId" from "Integration"
    where "projectId" = installation."projectId" and "id" = installation."integrationId" offset 0) integration
  cross join lateral (select "content" from "Revision"
    where "projectId" = installation."projectId" and "id" = integration."latestRevisionId" offset 0) revision`;

/** SQL: the requested installations as `installation`, each joined with its contents. */
export const REQUESTED_INSTALLATIONS = `unnest($1::text[], $2::text[]) as requested("projectId", "id")
  cross join lateral (select * from "Installation"
    where "projectId" = requested."projectId" and "id" = requested."id" offset 0) installation${JOINED_CONTENTS}`;

/**
 * Creates a batch that returns the rows of each installation, in the order of the installations. `statement` takes the
 * projects and the ids of the installations as two arrays.
 */
export function createInstallationBatch<R extends { installationId: string }>(
  statement: SqlStatement<R>,
): Batch<RowKey, R[]> {
  return async ({ database }, installations) => {
    const rows = await database.run(statement, toKeyColumns(installations));
    const rowsByInstallation = Map.groupBy(rows, ({ installationId }) => installationId);
    return installations.map(({ id }) => rowsByInstallation.get(id) ?? []);
  };
}
