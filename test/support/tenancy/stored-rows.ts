/** What is stored, read beside the gateway. */
import type { TestApp } from '../app.ts';

async function tablesWith(app: TestApp, column: string): Promise<string[]> {
  const { query } = app.app.services.database.rows;
  const found = await query<{ name: string }>(
    `select distinct table_name as name from information_schema.columns
     where table_schema = 'public' and column_name = $1 and table_name <> '_prisma_migrations'`,
    [column],
  );
  return found.map(({ name }) => name);
}

/** The ids of all rows that have one. */
export async function storedIds(app: TestApp): Promise<string[]> {
  const { query } = app.app.services.database.rows;
  const found = await Promise.all(
    (await tablesWith(app, 'id')).map((name) =>
      query<{ id: unknown }>(`select "id" from "${name}" order by "id"`, []),
    ),
  );
  // A lease has a number.
  return found.flat().flatMap(({ id }) => (typeof id === 'string' ? id : []));
}

/** Everything of a project as it is stored. */
export async function storedRows(app: TestApp, projectId: string): Promise<string> {
  const { query } = app.app.services.database.rows;
  const rows = await Promise.all(
    (await tablesWith(app, 'projectId')).map((name) =>
      query(`select to_jsonb(t)::text as row from "${name}" t where "projectId" = $1 order by 1`, [
        projectId,
      ]),
    ),
  );
  return JSON.stringify(rows);
}
