/**
 * The server is killed during a large erasure. The erasure continues after each restart, and deletes all rows
 * of the group and no others.
 */
import { expect, onTestFinished, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { createTestApp, createTestDatabase, keepOpen } from '../support/app.ts';
import { generateConnection } from '../support/fixtures/connections.ts';
import { createClient, fetchFrom } from '../support/graphql-client.ts';
import { ENCRYPTION_KEY } from '../support/process/encryption-key.ts';
import { databaseUrl, startGateway } from './fixtures/gateway.ts';
import { createRandom, planMoments } from './fixtures/random.ts';
import { IS_SHORT, KILLS, SEED } from './fixtures/settings.ts';

/** Number of operations of each group, and of events and deliveries. Each operation has one log line. */
const ROWS = IS_SHORT ? 20_000 : 200_000;
const TABLES = ['Operation', 'NotificationEvent', 'Delivery'] as const;
const TOTAL_ROWS = ROWS * TABLES.length;
const POLLING = { timeout: 300_000, interval: 20 };

const ERASE = `mutation EraseGroup($input: EraseGroupInput!) { eraseGroup(input: $input) { deletedId } }`;
const NODE = `query Node($id: ID!) { node(id: $id) { id } }`;

/** Rows of one statement. On a busy machine, more would exceed the statement timeout. */
const ROWS_AT_ONCE = 20_000;

/** Inserts rows of a group's work. Parameters: project, group, a mark in the IDs, and the last number before. */
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
  const database = await createTestDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  await using app = await createTestApp({ env: { ENCRYPTION_KEY }, database: keepOpen(database) });
  const tenant = await app.tenant();
  const { projectId } = tenant;
  const groups: string[] = [];
  for (const [index, groupRef] of ['erased', 'kept'].entries()) {
    const { group } = await generateConnection(tenant, { apiKey: 'sandbox-key', groupRef });
    const mark = newId('grp').slice(-6);
    for (let after = index * ROWS; after < (index + 1) * ROWS; after += ROWS_AT_ONCE) {
      for (const text of FILL) {
        const values = [projectId, group.id, mark, after];
        const usedValues = values.filter((_, position) => text.includes(`$${position + 1}`));
        await database.rows.query(renumber(text), usedValues);
      }
    }
    groups.push(group.id);
  }
  const env = { DATABASE_URL: await databaseUrl(database), ENCRYPTION_KEY };
  return { database, tenant, env, groups: groups as [string, string] };
}

/** Renumbers the parameters of a statement without gaps. */
function renumber(text: string): string {
  const parameters = [...new Set(text.match(/\$\d/g))].sort();
  return text.replaceAll(/\$\d/g, (parameter) => `$${parameters.indexOf(parameter) + 1}`);
}

test(`an erasure of ${TOTAL_ROWS} rows completes over ${KILLS} SIGKILLs and deletes no other rows`, async () => {
  const { database, tenant, env, groups } = await prepare();
  const { rows, prisma } = database;
  const [erased, other] = groups;
  const countLeft = async (groupId: string) => {
    const counts = TABLES.map((table) => `(select count(*) from "${table}" where "groupId" = $1)`);
    const text = `select ${counts.join(' + ')} as "left"`;
    const [row] = await rows.query<{ left: bigint }>(text, [groupId]);
    return Number(row?.left);
  };
  let gateway = await startGateway(env);
  const query = (text: string, variables: Record<string, unknown>) =>
    createClient(fetchFrom(gateway.url), { 'x-api-key': tenant.apiKey }).query(text, variables);
  const input = { projectIdOrName: tenant.projectId, groupRef: 'erased' };
  expect(await query(ERASE, { input })).toEqual({ eraseGroup: { deletedId: erased } });
  expect(await query(NODE, { id: erased })).toEqual({ node: null });
  for (const moment of planMoments(createRandom(SEED), { count: KILLS, most: TOTAL_ROWS })) {
    const countErased = async () => TOTAL_ROWS - (await countLeft(erased));
    await expect.poll(countErased, POLLING).toBeGreaterThanOrEqual(moment);
    await gateway.kill();
    expect(await prisma.erasure.count(), 'killed during the erasure').toBe(1);
    gateway = await startGateway(env);
    expect(await query(NODE, { id: erased })).toEqual({ node: null });
  }
  await expect.poll(() => prisma.erasure.count(), POLLING).toBe(0);
  expect(await countLeft(erased)).toBe(0);
  expect(await prisma.group.count({ where: { id: erased } })).toBe(0);
  expect(await prisma.connection.count({ where: { groupId: erased } })).toBe(0);
  expect(await countLeft(other)).toBe(TOTAL_ROWS);
  expect(await prisma.operationLog.count()).toBe(ROWS);
  expect(await query(NODE, { id: other })).toEqual({ node: { id: other } });
});
