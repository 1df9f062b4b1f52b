/**
 * The coordinator of a Citus cluster is killed between two commits of a transaction: after that of a worker, and
 * before its own.
 */
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { openDatabase } from '../../../src/database/database.ts';
import { createLog } from '../../../src/log.ts';
import { createTestApp } from '../../support/app.ts';
import { getClusterSkipReason } from '../../support/database/cluster-servers.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import { createClient, fetchFrom } from '../../support/graphql-client.ts';
import { ENCRYPTION_KEY } from '../../support/process/encryption-key.ts';
import { startGateway } from '../fixtures/gateway.ts';
import { type Cluster, startCluster } from './cluster.ts';

const STEP_MS = 30_000;
/** The sweep that recovers erasures runs once a minute. */
const RECOVERY_MS = 150_000;

const ERASE_GROUP = `mutation EraseGroup($input: EraseGroupInput!) {
  eraseGroup(input: $input) { deletedId }
}`;

const skipReason = getClusterSkipReason();
if (skipReason) console.warn(`Tests of a cluster are skipped: ${skipReason}.`);

/**
 * Blocks commits of transactions that send a notification. They wait for the notification lock, which a transaction of
 * this function holds while it waits for a standby that does not exist. Citus commits on the workers before.
 */
async function holdCommits(cluster: Cluster): Promise<void> {
  await cluster.query(`alter system set synchronous_standby_names = 'missing'`);
  await cluster.query('alter system set synchronous_commit = local');
  await cluster.query('select pg_reload_conf()');
  const holder = new pg.Client({ connectionString: cluster.url });
  holder.on('error', () => {});
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query('set synchronous_commit = on');
  holder.query('begin; create table held (); notify held; commit').catch(() => {});
  const countWaiting = async () =>
    (await cluster.query(`select from pg_stat_activity where wait_event = 'SyncRep'`)).length;
  await expect.poll(countWaiting, { timeout: STEP_MS }).toBe(1);
}

test.skipIf(skipReason)('continues an erasure whose job was lost between two commits', async () => {
  const cluster = await startCluster();
  const env = { DATABASE_URL: cluster.url, ENCRYPTION_KEY };
  const database = await openDatabase(readConfig(env), createLog('silent'));
  const app = await createTestApp({ env: { ENCRYPTION_KEY }, database });
  const tenant = await app.createTenant();
  await generateConnection(tenant);
  await app[Symbol.asyncDispose]();
  const { projectId, apiKey } = tenant;
  const gateway = await startGateway(env);
  const count = async (text: string, values: unknown[] = []) =>
    (await cluster.query(text, values)).length;
  const countErasures = () => count(`select from "Erasure" where "projectId" = $1`, [projectId]);
  const countJobs = () => count(`select from pgboss.job where name = 'run-erasure'`);
  const countGroups = () => count(`select from "Group" where "projectId" = $1`, [projectId]);

  await holdCommits(cluster);
  const client = createClient(fetchFrom(gateway.url), { 'x-api-key': apiKey });
  const refusal = client.expectRefusal(ERASE_GROUP, {
    input: { projectIdOrName: projectId, groupRef: 'acme' },
  });
  await expect.poll(countErasures, { timeout: STEP_MS }).toBe(1);
  expect(await countJobs()).toBe(0);
  await cluster.coordinator.kill();
  expect((await refusal).code).toBe('SERVICE_UNAVAILABLE');

  await cluster.coordinator.start();
  expect(await countErasures()).toBe(1);
  expect(await countGroups()).toBe(1);
  await expect.poll(countGroups, { timeout: RECOVERY_MS }).toBe(0);
  await expect.poll(countErasures, { timeout: STEP_MS }).toBe(0);
});
