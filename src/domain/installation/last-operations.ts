/** What installations have done last. Whether they work is stored with them (docs/decisions/028-health-is-stored.md). */
import type { Row } from '../../database/rows.ts';
import type { Batch } from '../scope.ts';

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
