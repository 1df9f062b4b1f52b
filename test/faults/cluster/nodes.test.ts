/** A node of a Citus cluster is down, or its shards are moved. Projects on other nodes are not delayed. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { getClusterSkipReason } from '../../support/database/cluster/cluster-servers.ts';
import { IS_SHORT } from '../fixtures/settings.ts';
import { type ClusterServer, startCluster } from './cluster.ts';
import { computeP99 } from './durations.ts';
import { listConnectDurations, startSpreadLoad } from './spread-load.ts';
import { expectIsolatedFault, STEADY_MS } from './worker-fault.ts';

const AWAY_MS = IS_SHORT ? 10_000 : 30_000;
/** SQLSTATE `deadlock_detected`. */
const DEADLOCK = '40P01';
const RETRIES_MAX = 3;

const skipReason = getClusterSkipReason();
if (skipReason) console.warn(`Tests of a cluster are skipped: ${skipReason}.`);

test.skipIf(skipReason)(
  'delays only projects of a worker that is down, and loses nothing',
  async () => {
    const cluster = await startCluster();
    const load = await startSpreadLoad(cluster);
    const [worker] = cluster.workers as [ClusterServer];
    await expectIsolatedFault(cluster, load, {
      durationMs: AWAY_MS,
      async begin() {
        await worker.kill();
        return { end: () => worker.start() };
      },
    });
  },
);

test.skipIf(skipReason)(
  'neither loses nor duplicates work while a shard is moved under load',
  async () => {
    const cluster = await startCluster();
    const { projects, end } = await startSpreadLoad(cluster);
    await delay(STEADY_MS);
    const [shard] = await cluster.query<{ id: string; from: number; to: number }>(
      `select s.shardid as "id", p.nodeport as "from", (select nodeport from pg_dist_node where nodeport <> p.nodeport and groupid <> 0) as "to"
     from pg_dist_shard s join pg_dist_shard_placement p using (shardid)
     where s.shardid = get_shard_id_for_distribution_column('"EventLog"', $1::text)`,
      [projects[0]?.projectId],
    );
    const startMs = performance.now();
    const moveShard = () =>
      cluster.query(
        `select citus_move_shard_placement($1, '127.0.0.1', $2, '127.0.0.1', $3, 'force_logical')`,
        [shard?.id, shard?.from, shard?.to],
      );
    // Citus may cancel a move so that waiting changes can continue. Its rebalancer also retries.
    let retries = 0;
    for (let isMoved = false; !isMoved; ) {
      isMoved = await moveShard().then(
        () => true,
        (error: unknown) => {
          if ((error as { code?: string }).code !== DEADLOCK || retries === RETRIES_MAX)
            throw error;
          retries += 1;
          return false;
        },
      );
    }
    console.log({ movedInMs: Math.round(performance.now() - startMs), retries });
    await delay(STEADY_MS);
    console.log({ refused: projects.map(({ refusedCount }) => refusedCount) });
    const span = { fromMs: startMs, toMs: performance.now() };
    expect(listConnectDurations(projects, span).length).toBeGreaterThan(0);
    await end();
  },
);

test.skipIf(skipReason)('rebalances shards to an additional worker under load', async () => {
  const cluster = await startCluster();
  const { projects, end } = await startSpreadLoad(cluster);
  await delay(STEADY_MS);
  const fromMs = performance.now();
  await cluster.addWorker();
  await cluster.query(`select citus_rebalance_start(shard_transfer_mode => 'force_logical')`);
  await cluster.query('select citus_rebalance_wait()');
  const toMs = performance.now();
  const nodes = await cluster.query<{ shards: number }>(
    `select count(*)::int as "shards" from pg_dist_placement p join pg_dist_shard s using (shardid)
     where s.logicalrelid = '"EventLog"'::regclass group by p.groupid order by 1`,
  );
  expect(nodes.map(({ shards }) => shards)).toEqual([1, 1, 2]);
  await delay(STEADY_MS);
  const durations = listConnectDurations(projects, { fromMs, toMs });
  const refusedCounts = projects.map(({ refusedCount }) => refusedCount);
  const calls = durations.length;
  console.log({
    rebalancedInMs: Math.round(toMs - fromMs),
    calls,
    p99Ms: computeP99(durations),
    refused: refusedCounts,
  });
  expect(refusedCounts).toEqual(projects.map(() => 0));
  expect(calls).toBeGreaterThan(0);
  await end();
});
