import { expect, test } from 'vitest';
import { parseComposite } from '../../../src/database/citus/routed-session.ts';
import { loadParser } from '../../../src/database/citus/sql-parser.ts';
import {
  bindText,
  findRoute,
  type ShardRoute,
} from '../../../src/database/citus/statement-route.ts';
import { createTestDatabase } from '../../support/app.ts';

await loadParser();

test("reads a row with any values from PostgreSQL's text form", async () => {
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

test('sends a statement that Citus refuses to the shards of its projects', () => {
  const claim = 'update "Delivery" set "leaseToken" = null where "projectId" = $1 and "id" = $2';
  expect(findShardRoute(claim, ['prj_1', 'dlv_1']).projects).toEqual(['prj_1']);
  const deletion = 'delete from "Delivery" where "projectId" = any($1)';
  expect(findShardRoute(deletion, [['prj_1', 'prj_1']]).projects).toEqual(['prj_1']);
  const insertion = `with ends as (insert into "EventLog" ("projectId") values ($1)), new as (select $1 as "projectId")
    insert into "StreamLog" select from new`;
  expect(findShardRoute(insertion, ['prj_1']).projects).toEqual(['prj_1']);
});

test('leaves reads of a project and the changes of Prisma to Citus', () => {
  const read = 'select * from "Delivery" where "projectId" = $1';
  expect(findRoute(read, ['prj_1'])).toBe('planned');
  expect(findRoute('/* all projects: a token */ select from "JwtKey"', [])).toBe('planned');
  const change =
    'INSERT INTO "public"."Topic" ("projectId") VALUES ($1) RETURNING "public"."Topic"."id"';
  expect(findRoute(change, ['prj_1'])).toBe('planned');
});

test('sends statements for all projects to each node, and changes of keys to all nodes', () => {
  const read = '/* all projects: due reads */ select from "ReadRun"';
  expect(findRoute(read, [])).toBe('eachNode');
  const change = 'update "ApiKey" set "active" = false where "projectId" = $1';
  expect(findRoute(change, ['prj_1'])).toBe('allNodes');
});

test('hides the projects of other shards from a statement on one shard', () => {
  const read = `select from unnest($1::text[], $2::text[]) with ordinality as a("id", "projectId", "at")
    join "Delivery" d on d."projectId" = a."projectId" and d."id" = a."id"`;
  const arrayRoute = findShardRoute(read, [
    ['dlv_1', 'dlv_2'],
    ['prj_1', 'prj_2'],
  ]);
  expect(arrayRoute.projects).toEqual(['prj_1', 'prj_2']);
  expect(arrayRoute.selectValues(['prj_2'])).toEqual([
    ['dlv_1', 'dlv_2'],
    ['', 'prj_2'],
  ]);
  const insertion = `with g as (select * from jsonb_to_recordset($1::jsonb) as g("projectId" text))
    insert into "EventLog" select "projectId" from g`;
  const jsonRoute = findShardRoute(insertion, ['[{"projectId":"prj_1"},{"projectId":"prj_2"}]']);
  expect(jsonRoute.selectValues(['prj_2'])).toEqual(['[{"projectId":"prj_2"}]']);
});

function findShardRoute(text: string, values: unknown[]): ShardRoute {
  const route = findRoute(text, values);
  if (typeof route === 'string') throw new Error(`The route is ${route}.`);
  return route;
}
