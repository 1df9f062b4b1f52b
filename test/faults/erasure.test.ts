/**
 * The server is killed during a large erasure. The erasure continues after each restart, and deletes all rows
 * of the group and no others.
 */
import { expect, onTestFinished, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { testApp, testDatabase } from '../support/app.ts';
import { generateConnection } from '../support/fixtures/connections.ts';
import { databaseUrl, ENCRYPTION_KEY, startGateway } from './fixtures/gateway.ts';
import { createRandom, planMoments } from './fixtures/random.ts';

/** FAULTS_SHORT=1 runs the short form. FAULT_SEED changes the moments of the kills. */
const SHORT = process.env.FAULTS_SHORT === '1';
const KILLS = Number(process.env.FAULT_KILLS ?? (SHORT ? 3 : 20));
const SEED = Number(process.env.FAULT_SEED ?? 1);
/** Number of operations of each group, and of events and deliveries. Each operation has one log line. */
const ROWS = SHORT ? 20_000 : 200_000;
const TABLES = ['Operation', 'NotificationEvent', 'Delivery'] as const;
const ALL = ROWS * TABLES.length;
const WAITING = { timeout: 300_000, interval: 20 };

const ERASE = `mutation ($input: EraseGroupInput!) { eraseGroup(input: $input) { deletedId } }`;
const LOOK = `query ($id: ID!) { node(id: $id) { id } }`;

/** Rows of one statement. On a busy machine, more would exceed the statement timeout. */
const ROWS_AT_ONCE = 20_000;

/** Inserts the rows that work for a group leaves, with numbers after `$4`. */
const FILL = [
  `insert into "Operation" ("id", "projectId", "groupId", "integrationId", "installationId", "configId",
     "actionType", "status", "metadata")
   select 'opr_' || $3 || lpad(n::text, 20, '0'), $1, $2, 'int', 'ins', 'cfg', 'READ', 'SUCCESS', '{}'
   from generate_series($4::int + 1, $4 + ${ROWS_AT_ONCE}) n`,
  `insert into "OperationLog" ("id", "projectId", "operationId", "severity", "message")
   select 'log_' || right("id", -4), $1, "id", 'INFO', 'Read a page of ' || $3
   from (select 'opr_' || $3 || lpad(n::text, 20, '0') as "id"
     from generate_series($4::int + 1, $4 + ${ROWS_AT_ONCE}) n) operation`,
  `insert into "NotificationEvent" ("id", "projectId", "groupId", "position", "eventType", "data")
   select 'evt_' || $3 || lpad(n::text, 20, '0'), $1, $2, n, 'READ_TRIGGERED_DONE', '{}'
   from generate_series($4::int + 1, $4 + ${ROWS_AT_ONCE}) n`,
  `insert into "Delivery" ("id", "projectId", "groupId", "destinationId", "status", "body")
   select 'dlv_' || $3 || lpad(n::text, 20, '0'), $1, $2, 'dst', 'SUCCEEDED', '{}'
   from generate_series($4::int + 1, $4 + ${ROWS_AT_ONCE}) n`,
];

/** Creates two groups of a project with equal rows. */
async function prepare() {
  const database = await testDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const kept = { ...database, [Symbol.asyncDispose]: async () => {} };
  await using app = await testApp({ env: { ENCRYPTION_KEY }, database: kept });
  const tenant = await app.tenant();
  const { projectId } = tenant;
  const groups: string[] = [];
  for (const [at, groupRef] of ['erased', 'kept'].entries()) {
    const { group } = await generateConnection(tenant, { apiKey: 'sandbox-key', groupRef });
    const mark = newId('grp').slice(-6);
    for (let after = at * ROWS; after < (at + 1) * ROWS; after += ROWS_AT_ONCE) {
      for (const text of FILL) {
        const values = [projectId, group.id, mark, after];
        const used = values.filter((_, index) => text.includes(`$${index + 1}`));
        await database.rows.query(numbered(text), used);
      }
    }
    groups.push(group.id);
  }
  const env = { DATABASE_URL: await databaseUrl(database), ENCRYPTION_KEY };
  return { database, tenant, env, groups: groups as [string, string] };
}

/** Renumbers the parameters of a statement without gaps. */
function numbered(text: string): string {
  const used = [...new Set(text.match(/\$\d/g))].sort();
  return text.replaceAll(/\$\d/g, (name) => `$${used.indexOf(name) + 1}`);
}

test(`an erasure of ${ALL} rows completes over ${KILLS} SIGKILLs and deletes no other rows`, async () => {
  const { database, tenant, env, groups } = await prepare();
  const { rows, prisma } = database;
  const [erased, other] = groups;
  const left = async (groupId: string) => {
    const counts = TABLES.map((table) => `(select count(*) from "${table}" where "groupId" = $1)`);
    const text = `select ${counts.join(' + ')} as "left"`;
    const [found] = await rows.query<{ left: bigint }>(text, [groupId]);
    return Number(found?.left);
  };
  let gateway = await startGateway(env);
  const ask = async (query: string, variables: object) => {
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': tenant.apiKey },
      body: JSON.stringify({ query, variables }),
    });
    return (await response.json()) as { data: { node?: unknown }; errors?: unknown };
  };
  const input = { projectIdOrName: tenant.projectId, groupRef: 'erased' };
  expect(await ask(ERASE, { input })).toEqual({ data: { eraseGroup: { deletedId: erased } } });
  expect(await ask(LOOK, { id: erased })).toEqual({ data: { node: null } });
  for (const moment of planMoments(createRandom(SEED), { count: KILLS, most: ALL })) {
    const gone = async () => ALL - (await left(erased));
    await expect.poll(gone, WAITING).toBeGreaterThanOrEqual(moment);
    await gateway.kill();
    expect(await prisma.erasure.count(), 'killed while it was under way').toBe(1);
    gateway = await startGateway(env);
    expect(await ask(LOOK, { id: erased })).toEqual({ data: { node: null } });
  }
  await expect.poll(() => prisma.erasure.count(), WAITING).toBe(0);
  expect(await left(erased)).toBe(0);
  expect(await prisma.group.count({ where: { id: erased } })).toBe(0);
  expect(await prisma.connection.count({ where: { groupId: erased } })).toBe(0);
  expect(await left(other)).toBe(ALL);
  expect(await prisma.operationLog.count()).toBe(ROWS);
  expect(await ask(LOOK, { id: other })).toEqual({ data: { node: { id: other } } });
});
