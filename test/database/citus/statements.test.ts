import { expect, test } from 'vitest';
import { parseComposite } from '../../../src/database/citus/routed-session.ts';
import { bindText, findRoute, loadParser } from '../../../src/database/citus/statement-plan.ts';
import { createTestDatabase } from '../../support/app.ts';

await loadParser();

test("reads a row from PostgreSQL's text form whatever its values contain", async () => {
  await using database = await createTestDatabase();
  const values = ['', null, 'a "quoted", (odd) \\ one', 'plain', '{"a": [1, "b"]}', ' ', '"', ',)'];
  const [row] = await database.rows.query<{ text: string }>(
    `select (r)::text as "text" from (select ${values.map((_, index) => `$${index + 1}::text`).join(', ')}) r`,
    values,
  );
  expect(parseComposite(row?.text ?? '')).toEqual(values);
});

test('binds values as constants that PostgreSQL reads unchanged', async () => {
  await using database = await createTestDatabase();
  const values = [`it's $2`, 12, null, ['a', `b'"`], { a: `'` }, true, new Date(0)];
  const text = `select $1::text as "text", $2::int as "int", $3::text as "none", $4::text[] as "list",
    $5::jsonb as "json", $6::boolean as "flag", $7::timestamptz as "time"`;
  const bound = await database.rows.query(text, values);
  expect(await database.rows.query(bindText(text, values), [])).toEqual(bound);
});

test('leaves to Citus what it plans, and runs other statements on the shards of their projects', () => {
  const claim = 'update "Delivery" set "leaseToken" = null where "projectId" = $1 and "id" = $2';
  expect(listRoutedProjects(claim, ['prj_1', 'dlv_1'])).toEqual(['prj_1']);
  expect(findRoute('select * from "Delivery" where "projectId" = $1', ['prj_1'])).toBeNull();
  const byProjects = 'delete from "Delivery" where "projectId" = any($1)';
  expect(listRoutedProjects(byProjects, [['prj_1', 'prj_1']])).toEqual(['prj_1']);
  const insertion = `with ends as (insert into "EventLog" ("projectId") values ($1)), new as (select $1 as "projectId")
    insert into "StreamLog" select from new`;
  expect(listRoutedProjects(insertion, ['prj_1'])).toEqual(['prj_1']);
  expect(findRoute('/* all projects: what is due */ select from "ReadRun"', [])).toBe('everywhere');
  const onAllNodes = 'update "ApiKey" set "active" = false where "projectId" = $1';
  expect(findRoute(onAllNodes, ['prj_1'])).toBeNull();
  expect(findRoute('/* all projects: a token */ select from "JwtKey"', [])).toBeNull();
  const byPrisma =
    'INSERT INTO "public"."Topic" ("projectId") VALUES ($1) RETURNING "public"."Topic"."id"';
  expect(findRoute(byPrisma, ['prj_1'])).toBeNull();
});

test('hides the projects of other shards from a statement on one shard', () => {
  const listed = `select from unnest($1::text[], $2::text[]) with ordinality as a("id", "projectId", "at")
    join "Delivery" d on d."projectId" = a."projectId" and d."id" = a."id"`;
  const byArrays = findRoute(listed, [
    ['dlv_1', 'dlv_2'],
    ['prj_1', 'prj_2'],
  ]);
  expect(byArrays).toMatchObject({ projects: ['prj_1', 'prj_2'] });
  expect(byArrays !== 'everywhere' && byArrays?.valuesFor(['prj_2'])).toEqual([
    ['dlv_1', 'dlv_2'],
    ['', 'prj_2'],
  ]);
  const insertion = `with g as (select * from jsonb_to_recordset($1::jsonb) as g("projectId" text))
    insert into "EventLog" select "projectId" from g`;
  const byJson = findRoute(insertion, ['[{"projectId":"prj_1"},{"projectId":"prj_2"}]']);
  expect(byJson !== 'everywhere' && byJson?.valuesFor(['prj_2'])).toEqual([
    '[{"projectId":"prj_2"}]',
  ]);
});

function listRoutedProjects(text: string, values: unknown[]): string[] | null {
  const route = findRoute(text, values);
  return route && route !== 'everywhere' ? route.projects : null;
}
