/**
 * The server is killed during a large erasure. The erasure continues after each restart, and deletes all rows of the
 * group, but no other rows.
 */
import { expect, onTestFinished, test } from 'vitest';
import { newId } from '../../src/kernel/ids.ts';
import { createTestApp, createTestDatabase, keepOpen } from '../support/app.ts';
import { queryRows } from '../support/database/query.ts';
import { generateConnection } from '../support/fixtures/connections.ts';
import { createClient, fetchFrom } from '../support/graphql-client.ts';
import { ENCRYPTION_KEY } from '../support/process/encryption-key.ts';
import { getDatabaseUrl, startGateway } from './fixtures/gateway.ts';
import { createRandom, planMoments } from './fixtures/random.ts';
import { IS_SHORT, KILL_COUNT, SEED } from './fixtures/settings.ts';

/** Number of operations of each group, and of events and deliveries. Each operation has one log line. */
const ROWS_PER_TABLE = IS_SHORT ? 20_000 : 200_000;
const TABLES = ['Operation', 'NotificationEvent', 'Delivery'] as const;
const TOTAL_ROWS = ROWS_PER_TABLE * TABLES.length;
const POLLING = { timeout: 300_000, interval: 20 };

const ERASE_GROUP = `mutation EraseGroup($input: EraseGroupInput!) { eraseGroup(input: $input) { deletedId } }`;
const GET_NODE = `query Node($id: ID!) { node(id: $id) { id } }`;

/** Rows that a statement inserts. More rows could exceed the statement timeout on a busy machine. */
const ROWS_PER_INSERT = 20_000;

/**
 * Statements that insert rows of a group. Their parameters are the project, the group, a mark in the IDs, and an
 * offset.
 */
const INSERTS = [
  `insert into "Operation" ("id", "projectId", "groupId", "integrationId", "installationId", "configId",
     "actionType", "status", "metadata")
   select 'opr_' || $3 || lpad(n::text, 20, '0'), $1, $2, 'int', 'ins', 'cfg', 'READ', 'SUCCESS', '{}'
   from generate_series($4::int + 1, $4 + ${ROWS_PER_INSERT}) n`,
  `insert into "OperationLog" ("id", "projectId", "operationId", "severity", "message")
   select 'log_' || right("id", -4), $1, "id", 'INFO', 'Read a page of ' || $3
   from (select 'opr_' || $3 || lpad(n::text, 20, '0') as "id"
     from generate_series($4::int + 1, $4 + ${ROWS_PER_INSERT}) n) operation`,
  `insert into "NotificationEvent" ("id", "projectId", "groupId", "position", "eventType", "data")
   select 'evt_' || $3 || lpad(n::text, 20, '0'), $1, $2, n, 'READ_TRIGGERED_DONE', '{}'
   from generate_series($4::int + 1, $4 + ${ROWS_PER_INSERT}) n`,
  `insert into "Delivery" ("id", "projectId", "groupId", "destinationId", "status", "body")
   select 'dlv_' || $3 || lpad(n::text, 20, '0'), $1, $2, 'dst', 'SUCCEEDED', '{}'
   from generate_series($4::int + 1, $4 + ${ROWS_PER_INSERT}) n`,
];

/** Creates two groups of a project with equal rows. */
async function createFixture() {
  const database = await createTestDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  await using app = await createTestApp({ env: { ENCRYPTION_KEY }, database: keepOpen(database) });
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const groups: string[] = [];
  for (const [index, groupRef] of ['erased', 'kept'].entries()) {
    const { group } = await generateConnection(tenant, { apiKey: 'sandbox-key', groupRef });
    const mark = newId('grp').slice(-6);
    for (
      let offset = index * ROWS_PER_TABLE;
      offset < (index + 1) * ROWS_PER_TABLE;
      offset += ROWS_PER_INSERT
    ) {
      for (const text of INSERTS) {
        const values = [projectId, group.id, mark, offset];
        const usedValues = values.filter((_, position) => text.includes(`$${position + 1}`));
        await queryRows(database, renumber(text), usedValues);
      }
    }
    groups.push(group.id);
  }
  const env = { DATABASE_URL: await getDatabaseUrl(database), ENCRYPTION_KEY };
  return { database, tenant, env, groups: groups as [string, string] };
}

/** Renumbers the parameters of a statement without gaps. */
function renumber(text: string): string {
  const parameters = [...new Set(text.match(/\$\d/g))].sort();
  return text.replaceAll(/\$\d/g, (parameter) => `$${parameters.indexOf(parameter) + 1}`);
}

test(`completes an erasure of ${TOTAL_ROWS} rows despite ${KILL_COUNT} SIGKILLs, and deletes no other row`, async () => {
  const { database, tenant, env, groups } = await createFixture();
  const { prisma } = database;
  const [erasedGroupId, keptGroupId] = groups;
  const countRemaining = async (groupId: string) => {
    const counts = TABLES.map((table) => `(select count(*) from "${table}" where "groupId" = $1)`);
    const text = `select ${counts.join(' + ')} as "remaining"`;
    const [row] = await queryRows<{ remaining: bigint }>(database, text, [groupId]);
    return Number(row?.remaining);
  };
  let gateway = await startGateway(env);
  const query = (text: string, variables: Record<string, unknown>) =>
    createClient(fetchFrom(gateway.url), { 'x-api-key': tenant.apiKey }).query(text, variables);
  const input = { projectIdOrName: tenant.projectId, groupRef: 'erased' };
  expect(await query(ERASE_GROUP, { input })).toEqual({ eraseGroup: { deletedId: erasedGroupId } });
  expect(await query(GET_NODE, { id: erasedGroupId })).toEqual({ node: null });
  for (const moment of planMoments(createRandom(SEED), { count: KILL_COUNT, most: TOTAL_ROWS })) {
    const countErased = async () => TOTAL_ROWS - (await countRemaining(erasedGroupId));
    await expect.poll(countErased, POLLING).toBeGreaterThanOrEqual(moment);
    await gateway.kill();
    expect(await prisma.erasure.count(), 'killed during the erasure').toBe(1);
    gateway = await startGateway(env);
    expect(await query(GET_NODE, { id: erasedGroupId })).toEqual({ node: null });
  }
  await expect.poll(() => prisma.erasure.count(), POLLING).toBe(0);
  expect(await countRemaining(erasedGroupId)).toBe(0);
  expect(await prisma.group.count({ where: { id: erasedGroupId } })).toBe(0);
  expect(await prisma.connection.count({ where: { groupId: erasedGroupId } })).toBe(0);
  expect(await countRemaining(keptGroupId)).toBe(TOTAL_ROWS);
  expect(await prisma.operationLog.count()).toBe(ROWS_PER_TABLE);
  expect(await query(GET_NODE, { id: keptGroupId })).toEqual({ node: { id: keptGroupId } });
});
