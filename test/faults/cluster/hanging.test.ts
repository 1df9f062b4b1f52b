/**
 * A node of a Citus cluster hangs, or its commits hang. Requests that wait for the node must not take the connections
 * of projects on other nodes.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { getClusterSkipReason } from '../../support/database/cluster/cluster-servers.ts';
import { getPgbouncerSkipReason, startPgbouncer } from '../../support/database/pgbouncer.ts';
import { startGateway } from '../fixtures/gateway.ts';
import { IS_SHORT } from '../fixtures/settings.ts';
import { type Cluster, type ClusterServer, startCluster } from './cluster.ts';
import { createConnection, type SpreadProject, startSpreadLoad } from './spread-load.ts';
import { expectIsolatedFault, STEADY_MS } from './worker-fault.ts';

const HANG_MS = IS_SHORT ? 15_000 : 30_000;
/** Fewer connections than concurrent callers of projects on the node that hangs. */
const SMALL_POOL = { DATABASE_POOL_SIZE: '4' };

const skipReason = getClusterSkipReason();
if (skipReason) console.warn(`Tests of a cluster are skipped: ${skipReason}.`);

/** Starts PgBouncer with few connections to the coordinator. Returns the gateway's settings. */
async function startPooler({ url, coordinator }: Cluster): Promise<Record<string, string>> {
  const pooler = await startPgbouncer(coordinator.port);
  onTestFinished(() => pooler.stop());
  return { DATABASE_URL: pooler.url + new URL(url).pathname, DATABASE_LISTEN_URL: url };
}

const DIRECT_FAULTS = [
  { fault: 'hang', path: 'directly' },
  { fault: 'holdCommits', path: 'directly' },
] as const;
const POOLED_FAULTS = [{ fault: 'hang', path: 'through PgBouncer' }] as const;

test
  .skipIf(skipReason)
  .each(getPgbouncerSkipReason() ? DIRECT_FAULTS : [...DIRECT_FAULTS, ...POOLED_FAULTS])(
  'delays only projects of a worker that hangs, and loses nothing ($fault, $path)',
  async ({ fault, path }) => {
    const cluster = await startCluster();
    const poolerEnv = path === 'directly' ? {} : await startPooler(cluster);
    const load = await startSpreadLoad(cluster, { ...SMALL_POOL, ...poolerEnv });
    const [worker] = cluster.workers as [ClusterServer];
    await expectIsolatedFault(cluster, load, {
      durationMs: HANG_MS,
      begin: async () => worker[fault](),
    });
  },
);

test.skipIf(skipReason).each(['down', 'hung'])(
  'serves projects of a worker that was %s at the start when the worker responds again',
  async (state) => {
    const cluster = await startCluster();
    const { projects, end } = await startSpreadLoad(cluster);
    await delay(STEADY_MS);
    await end();
    const [worker] = cluster.workers as [ClusterServer];
    const hanging = state === 'hung' ? worker.hang() : null;
    if (!hanging) await worker.kill();
    const gateway = await startGateway({ DATABASE_URL: cluster.url });
    const tryToCreateConnection = async (project: SpreadProject, consumerRef: string) => {
      const createdBefore = project.created.length;
      await createConnection(gateway, project, consumerRef);
      return project.created.length > createdBefore;
    };
    const canCreateConnections = async (candidates: SpreadProject[]) => {
      const responses = await Promise.all(
        candidates.map((project, index) => tryToCreateConnection(project, `late-${index}`)),
      );
      return responses.every(Boolean);
    };
    const affected = projects.filter((project) => project.worker === 0);
    expect(await canCreateConnections(projects.filter((project) => project.worker !== 0))).toBe(
      true,
    );
    expect(await canCreateConnections(affected)).toBe(false);
    await hanging?.end();
    if (!hanging) await worker.start();
    const polling = { timeout: 30_000, interval: 500 };
    await expect.poll(() => canCreateConnections(affected), polling).toBe(true);
  },
);
