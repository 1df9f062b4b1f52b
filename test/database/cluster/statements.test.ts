import { expect, onTestFinished, test, vi } from 'vitest';
import { NodeWatch } from '../../../src/database/cluster/node-watch.ts';
import { ProjectLocations } from '../../../src/database/cluster/project-locations.ts';
import { createRoutedSession } from '../../../src/database/cluster/routed-session.ts';
import {
  getRoute,
  listProjects,
  type ProjectParameter,
  selectValues,
} from '../../../src/database/cluster/statement-route.ts';
import { Outages } from '../../../src/database/connect/outages.ts';
import {
  createSessionConfig,
  DatabaseSession,
} from '../../../src/database/connect/sessions/database-session.ts';
import { createLog } from '../../../src/kernel/log.ts';
import { createTestApp, onCitus } from '../../support/app.ts';
import { toQuery } from '../../support/database/query.ts';

test('sends values to a shard, and returns its rows, as one server does', async () => {
  await using app = await createTestApp();
  const { projectId } = await app.createTenant();
  const query = toQuery(app.app.services.database);
  await query(
    'insert into "Group" ("projectId", "id", "groupRef", "groupName") values ($1, $2, $3, $3)',
    [projectId, 'grp_1', 'acme'],
  );
  const values = ["it's $2, 100%", 12, null, ['a', `b'"`], { a: "'" }, true, new Date(0)];
  const text = `select "id", $2::text as "text", $3::int as "int", $4::text as "none", $5::text[] as "list",
    $6::jsonb as "json", $7::boolean as "flag", $8::timestamptz as "time",
    array[1, 2] as "numbers", 'UPDATE'::"WriteType" as "enum", 7 % 4 as "rest", 1::bigint as "bigint"
    from "Group" where "projectId" = $1 for update`;
  const [row] = await query(text, [projectId, ...values]);
  expect(row).toEqual({
    id: 'grp_1',
    ...{ text: values[0], int: 12, none: null, list: values[3], json: values[4], flag: true },
    ...{ time: new Date(0), numbers: [1, 2], enum: 'UPDATE', rest: 3, bigint: 1n },
  });
  expect(await query(text, [projectId, ...values], 'array')).toEqual([Object.values(row ?? {})]);
});

test.skipIf(!onCitus)(
  'returns the columns of a table as a migration has changed them',
  async () => {
    await using app = await createTestApp();
    const { projectId } = await app.createTenant();
    const query = toQuery(app.app.services.database);
    const readGroups = () =>
      query('select * from "Group" where "projectId" = $1 for update', [projectId]);
    expect(await readGroups()).toEqual([]);
    await query('alter table "Group" add column "motto" text not null default $$Carpe diem$$', []);
    await query(
      'insert into "Group" ("projectId", "id", "groupRef", "groupName") values ($1, $2, $3, $3)',
      [projectId, 'grp_1', 'acme'],
    );
    expect(await readGroups()).toMatchObject([{ id: 'grp_1', motto: 'Carpe diem' }]);
  },
);

test('sends a statement that Citus refuses to the shards of its projects', () => {
  const claim = 'update "Delivery" set "leaseToken" = null where "projectId" = $1 and "id" = $2';
  expect(listProjects(findParameter(claim), ['prj_1', 'dlv_1'])).toEqual(['prj_1']);
  const deletion = 'delete from "Delivery" where "projectId" = any($1)';
  expect(listProjects(findParameter(deletion), [['prj_1', 'prj_1']])).toEqual(['prj_1']);
  const insertion = `with ends as (insert into "EventLog" ("projectId") values ($1)), new as (select $1 as "projectId")
    insert into "StreamLog" select from new`;
  expect(listProjects(findParameter(insertion), ['prj_1'])).toEqual(['prj_1']);
  const rowsWithoutProject = `update "WriteEntry" entry set "outcome" = completed."outcome"
    from jsonb_to_recordset($1::jsonb) as completed("position" int, "outcome" jsonb)
    where entry."projectId" = $2 and entry."position" = completed."position"`;
  expect(listProjects(findParameter(rowsWithoutProject), ['[{}]', 'prj_1'])).toEqual(['prj_1']);
});

test('leaves reads of a project and the changes of Prisma to Citus', () => {
  expect(getRoute('select * from "Delivery" where "projectId" = $1')).toBe('plannedByCitus');
  const change =
    'INSERT INTO "public"."Topic" ("projectId") VALUES ($1) RETURNING "public"."Topic"."id"';
  expect(getRoute(change)).toBe('plannedByCitus');
});

test('awaits no node for rows that the coordinator has', () => {
  expect(getRoute('select * from "Project" where "id" = $1')).toBe('coordinator');
  expect(getRoute('/* all projects: a token */ select from "JwtKey"')).toBe('coordinator');
  expect(getRoute('insert into "ServerProcess" ("id") values ($1)')).toBe('coordinator');
});

test('sends statements for all projects to each node, and changes of keys to all nodes', () => {
  expect(getRoute('/* all projects: due reads */ select from "ReadRun"')).toBe('eachNode');
  const page = `/* all projects: destinations */ select from "Destination" where "projectId" > $1`;
  expect(getRoute(page)).toBe('eachNode');
  const change = 'update "ApiKey" set "active" = false where "projectId" = $1';
  expect(getRoute(change)).toBe('allNodes');
});

test('hides the projects of other shards from a statement on one shard', () => {
  const read = `select from unnest($1::text[], $2::text[]) with ordinality as a("id", "projectId", "at")
    join "Delivery" d on d."projectId" = a."projectId" and d."id" = a."id"`;
  const keys = [
    ['dlv_1', 'dlv_2'],
    ['prj_1', 'prj_2'],
  ];
  expect(listProjects(findParameter(read), keys)).toEqual(['prj_1', 'prj_2']);
  expect(selectValues(findParameter(read), keys, ['prj_2'])).toEqual([
    ['dlv_1', 'dlv_2'],
    ['', 'prj_2'],
  ]);
  const insertion = `with input as (select * from jsonb_to_recordset($1::jsonb) as input("projectId" text))
    insert into "EventLog" select "projectId" from input`;
  const rows = ['[{"projectId":"prj_1"},{"projectId":"prj_2"}]'];
  expect(listProjects(findParameter(insertion), rows)).toEqual(['prj_1', 'prj_2']);
  expect(selectValues(findParameter(insertion), rows, ['prj_2'])).toEqual([
    '[{"projectId":"prj_2"}]',
  ]);
});

test('sends no statement for an empty list of projects, such as those of a new node', async () => {
  const log = createLog('silent');
  using outages = new Outages(log);
  using watch = new NodeWatch({ canCommit: async () => true, log });
  const RoutedSession = createRoutedSession({ locations: new ProjectLocations(), watch });
  const address = { connectionString: 'postgres://127.0.0.1:9/none' };
  const session = new RoutedSession(
    createSessionConfig({ address, name: 'test', limitMs: 1_000, outages }),
  );
  const send = vi.spyOn(DatabaseSession.prototype, 'query').mockImplementation(() => {
    throw new Error('A statement was sent.');
  });
  onTestFinished(() => send.mockRestore());
  const text =
    '/* all projects: due reads */ select "operationId" from "ReadRun" where "projectId" = any($1::text[])';
  expect(await session.query(text, [[]])).toMatchObject({ rows: [], rowCount: 0 });
  await expect(session.query(text, [['prj_1']])).rejects.toThrow('A statement was sent.');
});

function findParameter(text: string): ProjectParameter {
  const route = getRoute(text);
  if (typeof route === 'string') throw new Error(`The route is ${route}.`);
  return route;
}
