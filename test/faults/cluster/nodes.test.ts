/** A node of a Citus cluster is down, or its shards are moved. Projects on other nodes do not wait for it. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { noCluster, startCluster } from './cluster.ts';
import { doneBetween, expectMovedSince } from './moving.ts';
import { between, startSpreadLoad, tellP99 } from './spread-load.ts';
import { p99 } from './times.ts';

/** FAULTS_SHORT=1 runs the short form. */
const isShort = process.env.FAULTS_SHORT === '1';
const AWAY_MS = isShort ? 10_000 : 30_000;
const BEFORE_MS = isShort ? 5_000 : 15_000;
/** SQLSTATE `deadlock_detected`. */
const DEADLOCK = '40P01';
const UNDONE_MAX = 3;

const reason = noCluster();
if (reason) console.warn(`Tests of a cluster are skipped: ${reason}.`);

test.skipIf(reason)(
  'a worker that is down delays only its own projects and loses nothing',
  async () => {
    const cluster = await startCluster();
    const { projects, gateway, end } = await startSpreadLoad(cluster);
    const others = projects.filter(({ worker }) => worker !== 0);
    const own = projects.filter(({ worker }) => worker === 0);
    const startMs = performance.now();
    await delay(BEFORE_MS);

    const killedMs = performance.now();
    await cluster.workers[0]?.kill();
    const refusedBefore = others.map(({ refused }) => refused);
    const arrivedBefore = others.map(({ received }) => received().length);
    await delay(AWAY_MS);
    const backMs = performance.now();
    const arrived = others.map(
      ({ received }, index) => received().length - (arrivedBefore[index] ?? 0),
    );
    await cluster.workers[0]?.start();
    const [before, meanwhile] = [
      between(others, startMs, killedMs),
      between(others, killedMs, backMs),
    ];
    console.log(
      `others: ${before.length} calls, p99 ${p99(before)} ms before; ${meanwhile.length} calls, p99 ${p99(meanwhile)} ms, and ${arrived} webhooks while the node was away`,
    );
    expect(gateway.lines.filter(({ msg }) => msg === 'node.away')).toHaveLength(1);
    expect(others.map(({ refused }) => refused)).toEqual(refusedBefore);
    expect(Math.min(...arrived)).toBeGreaterThan(0);
    const moved = doneBetween(others, killedMs, backMs);
    console.log(`others moved records: ${JSON.stringify(moved)}`);
    expect(Math.min(...Object.values(moved))).toBeGreaterThan(0);
    expect(own.every(({ refused }) => refused > 0)).toBe(true);
    await delay(BEFORE_MS);
    expect(between(own, backMs, performance.now()).length).toBeGreaterThan(0);
    await expectMovedSince(own, backMs);
    await end();
    tellP99(others, { fromMs: startMs, toMs: killedMs }, { fromMs: killedMs, toMs: backMs });
  },
);

test.skipIf(reason)('moving a shard under load loses and duplicates nothing', async () => {
  const cluster = await startCluster();
  const { projects, end } = await startSpreadLoad(cluster);
  await delay(BEFORE_MS);
  const [shard] = await cluster.query<{ id: string; from: number; to: number }>(
    `select s.shardid as "id", p.nodeport as "from", (select nodeport from pg_dist_node where nodeport <> p.nodeport and groupid <> 0) as "to"
     from pg_dist_shard s join pg_dist_shard_placement p using (shardid)
     where s.shardid = get_shard_id_for_distribution_column('"EventLog"', $1::text)`,
    [projects[0]?.projectId],
  );
  const movedMs = performance.now();
  const move = () =>
    cluster.query(
      `select citus_move_shard_placement($1, '127.0.0.1', $2, '127.0.0.1', $3, 'force_logical')`,
      [shard?.id, shard?.from, shard?.to],
    );
  // Citus may cancel a move in favour of changes that wait for it. Its rebalancer retries too.
  let undone = 0;
  for (let isMoved = false; !isMoved; ) {
    isMoved = await move().then(
      () => true,
      (error: unknown) => {
        if ((error as { code?: string }).code !== DEADLOCK || undone === UNDONE_MAX) throw error;
        undone += 1;
        return false;
      },
    );
  }
  console.log(
    `a shard was moved in ${Math.round(performance.now() - movedMs)} ms, undone ${undone} times`,
  );
  await delay(BEFORE_MS);
  const refused = projects.map((project) => project.refused);
  console.log(`calls that were refused: ${refused}`);
  expect(between(projects, movedMs, performance.now()).length).toBeGreaterThan(0);
  await end();
});

test.skipIf(reason)('rebalances shards to an additional worker under load', async () => {
  const cluster = await startCluster();
  const { projects, end } = await startSpreadLoad(cluster);
  await delay(BEFORE_MS);
  const beganMs = performance.now();
  await cluster.addWorker();
  await cluster.query(`select citus_rebalance_start(shard_transfer_mode => 'force_logical')`);
  await cluster.query('select citus_rebalance_wait()');
  const endMs = performance.now();
  const counts = await cluster.query<{ shards: number }>(
    `select count(*)::int as "shards" from pg_dist_placement p join pg_dist_shard s using (shardid)
     where s.logicalrelid = '"EventLog"'::regclass group by p.groupid order by 1`,
  );
  expect(counts.map(({ shards }) => shards)).toEqual([1, 1, 2]);
  await delay(BEFORE_MS);
  const meanwhile = between(projects, beganMs, endMs);
  const refused = projects.map((project) => project.refused);
  console.log(
    `spread in ${Math.round(endMs - beganMs)} ms: ${meanwhile.length} calls, p99 ${p99(meanwhile)} ms, ${refused} refused`,
  );
  expect(refused).toEqual(projects.map(() => 0));
  expect(meanwhile.length).toBeGreaterThan(0);
  await end();
});
