/** Reads stored rows directly from the database. */
import type { TestApp } from '../app.ts';
import { toQuery } from '../database/query.ts';

/** Returns the IDs of all rows with an ID. */
export async function listStoredIds(app: TestApp): Promise<string[]> {
  const query = toQuery(app.app.services.database);
  const rowsByTable = await Promise.all(
    (await listTablesWith(app, 'id')).map((name) =>
      query<{ id: unknown }>(`select "id" from "${name}" order by "id"`, []),
    ),
  );
  // The ID of a lease is a number.
  return rowsByTable.flat().flatMap(({ id }) => (typeof id === 'string' ? id : []));
}

/** Returns all rows of a project as one text. */
export async function dumpProject(app: TestApp, projectId: string): Promise<string> {
  const query = toQuery(app.app.services.database);
  const rows = await Promise.all(
    (await listTablesWith(app, 'projectId')).map((name) =>
      query(`select to_jsonb(t)::text as row from "${name}" t where "projectId" = $1 order by 1`, [
        projectId,
      ]),
    ),
  );
  return JSON.stringify(rows);
}

async function listTablesWith(app: TestApp, column: string): Promise<string[]> {
  const query = toQuery(app.app.services.database);
  const tables = await query<{ name: string }>(
    `select distinct table_name as name from information_schema.columns
     where table_schema = 'public' and column_name = $1 and table_name <> '_prisma_migrations'`,
    [column],
  );
  return tables.map(({ name }) => name);
}
