/**
 * A node of a Citus cluster hangs, or its commits do. Requests that wait for it must not use up the
 * connections for projects on other nodes.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { findReasonWithoutPgbouncer, startPgbouncer } from '../../support/database/pgbouncer.ts';
import { startGateway } from '../fixtures/gateway.ts';
import { type Cluster, noCluster, startCluster } from './cluster.ts';
import { doneBetween, expectMovedSince } from './moving.ts';
import { between, connect, startSpreadLoad, tellP99 } from './spread-load.ts';
import { p99 } from './times.ts';

/** FAULTS_SHORT=1 runs the short form. */
const isShort = process.env.FAULTS_SHORT === '1';
const HUNG_MS = isShort ? 15_000 : 30_000;
const BEFORE_MS = isShort ? 5_000 : 15_000;
/** Fewer connections than concurrent callers of projects on the node that hangs. */
const POOL = { DATABASE_POOL_SIZE: '4' };
/** Far shorter than the statement timeout. After it, requests that wait for the node have been aborted. */
const NOTICED_MS = 8_000;

const reason = noCluster();
if (reason) console.warn(`Tests of a cluster are skipped: ${reason}.`);

/** PgBouncer has few connections to the coordinator. Requests that wait for the node must not keep them. */
async function throughPgbouncer({ url, coordinator }: Cluster): Promise<Record<string, string>> {
  const pooler = await startPgbouncer(coordinator.port);
  onTestFinished(() => pooler.stop());
  return { DATABASE_URL: pooler.url + new URL(url).pathname, DATABASE_LISTEN_URL: url };
}

const DIRECTLY = [
  { how: 'hang', way: 'directly' },
  { how: 'holdCommits', way: 'directly' },
] as const;
const POOLED = [{ how: 'hang', way: 'through PgBouncer' }] as const;

test.skipIf(reason).each(findReasonWithoutPgbouncer() ? DIRECTLY : [...DIRECTLY, ...POOLED])(
  'a worker that hangs delays only its own projects and loses nothing ($how, $way)',
  async ({ how, way }) => {
    const cluster = await startCluster();
    const pooled = way === 'directly' ? {} : await throughPgbouncer(cluster);
    const { projects, gateway, end } = await startSpreadLoad(cluster, { ...POOL, ...pooled });
    const others = projects.filter(({ worker }) => worker !== 0);
    const own = projects.filter(({ worker }) => worker === 0);
    const startMs = performance.now();
    await delay(BEFORE_MS);

    const hungMs = performance.now();
    const hanging = await cluster.workers[0]?.[how]();
    const refusedBefore = others.map(({ refused }) => refused);
    const arrivedBefore = others.map(({ received }) => received().length);
    await delay(HUNG_MS);
    const backMs = performance.now();
    const arrived = others.map(
      ({ received }, index) => received().length - (arrivedBefore[index] ?? 0),
    );
    const refused = others.map((project, index) => project.refused - (refusedBefore[index] ?? 0));
    const { length: open } = await cluster.query(
      `select from pg_stat_activity where backend_type = 'client backend' and state <> 'idle'`,
    );
    await hanging?.thaw();
    const before = between(others, startMs, hungMs);
    const meanwhile = between(others, hungMs, backMs);
    const noticed = between(others, hungMs + NOTICED_MS, backMs);
    console.log(
      `others: ${before.length} calls, p99 ${p99(before)} ms before; ${meanwhile.length} calls, p99 ${p99(meanwhile)} ms (${noticed.length}, ${p99(noticed)} ms after ${NOTICED_MS} ms), ${refused} refused, and ${arrived} webhooks while the node hung; the coordinator had ${open} connections at work`,
    );
    const away = gateway.lines.filter(({ msg }) => msg === 'node.away');
    const foundMs = Date.parse(String(away[0]?.time)) - performance.timeOrigin - hungMs;
    console.log(`found after ${Math.round(foundMs)} ms`);
    expect(away).toHaveLength(1);
    const failures = gateway.lines.filter(({ msg }) => msg === 'database.failed');
    const refusals = [...others.flatMap((project) => project.refusals), JSON.stringify(failures)];
    expect(refused, refusals.join('\n')).toEqual(others.map(() => 0));
    expect(Math.min(...arrived)).toBeGreaterThan(0);
    const moved = doneBetween(others, hungMs, backMs);
    console.log(`others moved records: ${JSON.stringify(moved)}`);
    expect(Math.min(...Object.values(moved))).toBeGreaterThan(0);
    expect(own.every(({ refused }) => refused > 0)).toBe(true);
    await delay(BEFORE_MS);
    expect(between(own, backMs, performance.now()).length).toBeGreaterThan(0);
    await expectMovedSince(own, backMs);
    await end();
    tellP99(others, { fromMs: startMs, toMs: hungMs }, { fromMs: hungMs, toMs: backMs });
  },
);

test.skipIf(reason).each(['away', 'hung'])(
  'a gateway that starts while a worker is %s serves its projects when the worker is back',
  async (how) => {
    const cluster = await startCluster();
    const { projects, end } = await startSpreadLoad(cluster);
    await delay(BEFORE_MS);
    await end();
    const [worker] = cluster.workers;
    const hanging = how === 'hung' ? worker?.hang() : null;
    if (!hanging) await worker?.kill();
    const gateway = await startGateway({ DATABASE_URL: cluster.url });
    const call = async (project: (typeof projects)[number], consumerRef: string) => {
      const { answered } = project;
      const before = answered.length;
      await connect(gateway, project, consumerRef);
      return answered.length > before;
    };
    const isAnswered = async (isOwn: boolean) => {
      const some = projects.filter((project) => (project.worker === 0) === isOwn);
      const responses = await Promise.all(
        some.map((project, index) => call(project, `late-${index}`)),
      );
      return responses.every(Boolean);
    };
    expect(await isAnswered(false)).toBe(true);
    expect(await isAnswered(true)).toBe(false);
    await hanging?.thaw();
    if (!hanging) await worker?.start();
    await expect.poll(() => isAnswered(true), { timeout: 30_000, interval: 500 }).toBe(true);
  },
);
