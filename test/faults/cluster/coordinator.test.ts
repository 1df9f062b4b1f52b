/**
 * The coordinator of a Citus cluster is killed after a worker has committed its part of a transaction, and
 * before its own commit.
 */
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { openDatabase } from '../../../src/database/database.ts';
import { createLog } from '../../../src/log.ts';
import { testApp } from '../../support/app.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import { ENCRYPTION_KEY, startGateway } from '../fixtures/gateway.ts';
import { type Cluster, noCluster, startCluster } from './cluster.ts';

const STEP_MS = 30_000;
/** The sweep that recovers erasures runs once a minute. */
const RECOVERED_MS = 150_000;

const reason = noCluster();
if (reason) console.warn(`Tests of a cluster are skipped: ${reason}.`);

/**
 * Blocks every commit with a notification. Such a commit waits for the lock of this one, which waits for a
 * standby that does not exist. At that point, Citus has already committed on the workers.
 */
async function holdCommits(cluster: Cluster): Promise<void> {
  await cluster.query(`alter system set synchronous_standby_names = 'nobody'`);
  await cluster.query('alter system set synchronous_commit = local');
  await cluster.query('select pg_reload_conf()');
  const holder = new pg.Client({ connectionString: cluster.url });
  holder.on('error', () => {});
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query('set synchronous_commit = on');
  holder.query('begin; create table held (); notify held; commit').catch(() => {});
  const waiting = () =>
    cluster
      .query(`select from pg_stat_activity where wait_event = 'SyncRep'`)
      .then((rows) => rows.length);
  await expect.poll(waiting, { timeout: STEP_MS }).toBe(1);
}

test.skipIf(reason)('an erasure continues if its job was lost between two commits', async () => {
  const cluster = await startCluster();
  const env = { DATABASE_URL: cluster.url, ENCRYPTION_KEY };
  const database = await openDatabase(readConfig(env), createLog('silent'));
  const { projectId, apiKey, groupId } = await (async () => {
    await using app = await testApp({ env: { ENCRYPTION_KEY }, database });
    const tenant = await app.tenant();
    const { group } = await generateConnection(tenant);
    return { ...tenant, groupId: group.id };
  })();
  const gateway = await startGateway(env);
  const erasures = () => cluster.query(`select from "Erasure" where "projectId" = $1`, [projectId]);
  const jobs = () => cluster.query(`select from pgboss.job where name = 'run-erasure'`);
  const groups = () => cluster.query(`select from "Group" where "projectId" = $1`, [projectId]);

  await holdCommits(cluster);
  const response = fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
    body: JSON.stringify({
      query: `mutation { eraseGroup(input: { projectIdOrName: "${projectId}", groupRef: "acme" }) { deletedId } }`,
    }),
  });
  await expect.poll(async () => (await erasures()).length, { timeout: STEP_MS }).toBe(1);
  expect(await jobs()).toEqual([]);
  await cluster.coordinator.kill();
  const { errors } = (await (await response).json()) as {
    errors?: { extensions: { code: string } }[];
  };
  expect(errors?.[0]?.extensions.code).toBe('SERVICE_UNAVAILABLE');

  await cluster.coordinator.start();
  expect((await erasures()).length).toBe(1);
  expect(await groups()).toEqual([{}]);
  await expect.poll(async () => (await groups()).length, { timeout: RECOVERED_MS }).toBe(0);
  await expect.poll(async () => (await erasures()).length, { timeout: STEP_MS }).toBe(0);
  expect(groupId).toMatch(/^grp_/);
});
