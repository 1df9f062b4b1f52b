import { type RowKey, toKeyColumns } from '../../database/row-keys.ts';
import type { Row } from '../../database/rows.ts';
import type { Batch } from '../scope.ts';

/** Finds the newest operation of each installation. The viewer must have read the installations. */
export const findLastOperations: Batch<RowKey, Row<'Operation'> | null> = async (
  { database },
  installations,
) => {
  const operations = await database.rows.query<Row<'Operation'>>(
    LAST_OPERATIONS,
    toKeyColumns(installations),
  );
  const operationsByInstallation = new Map(
    operations.map((operation) => [operation.installationId, operation]),
  );
  return installations.map(({ id }) => operationsByInstallation.get(id) ?? null);
};

const LAST_OPERATIONS = `
  select operation.* from unnest($1::text[], $2::text[]) as requested("projectId", "id")
  cross join lateral (
    select * from "Operation"
    where "projectId" = requested."projectId" and "installationId" = requested."id"
    order by "id" desc limit 1
  ) operation`;
