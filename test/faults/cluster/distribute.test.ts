/** A database that was filled on one server is distributed over the nodes of a cluster. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../src/database/open/open-database.ts';
import { createLog } from '../../../src/kernel/log.ts';
import { readConfig } from '../../../src/settings/config.ts';
import { createTestApp } from '../../support/app.ts';
import { getClusterSkipReason } from '../../support/database/cluster/cluster-servers.ts';
import {
  createDatabases,
  joinCluster,
  withServer,
} from '../../support/database/cluster/cluster-template.ts';
import { fillProject } from '../../support/database/fill.ts';
import { toQuery } from '../../support/database/query.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import { ENCRYPTION_KEY } from '../../support/process/encryption-key.ts';
import { PROCESS_ENV } from '../../support/process/process-env.ts';
import { startCluster } from './cluster.ts';

const DATABASE_NAME = 'grown';
const PROJECT_COUNT = 6;
const TABLES = ['Project', 'ApiKey', 'Operation', 'Delivery', 'NotificationEvent', 'SearchWord'];
const ROW_COUNTS = { few: 3, connections: 9, installations: 9, operations: 200, events: 200 };

const skipReason = getClusterSkipReason();
if (skipReason) console.warn(`Tests of a cluster are skipped: ${skipReason}.`);

test.skipIf(skipReason)(
  'distributes all rows over the workers, and serves requests afterwards',
  async () => {
    const { serverUrls } = await startCluster();
    await createDatabases(serverUrls, DATABASE_NAME);
    const url = `${serverUrls[0]}/${DATABASE_NAME}`;
    const env = { DATABASE_URL: url, ENCRYPTION_KEY };
    const projectIds = await fillDatabase(env);
    const countsBefore = await countRows(url);
    expect(countsBefore.Operation).toBe(PROJECT_COUNT * ROW_COUNTS.operations);

    await joinCluster(serverUrls, DATABASE_NAME);
    const distribute = () =>
      promisify(execFile)(process.execPath, ['src/commands/distribute.ts'], {
        env: { ...PROCESS_ENV, ...env },
      });
    const { stdout } = await distribute();
    expect(stdout).toMatch(/Operation, distributed, .* s\n/);
    expect(stdout).toContain('All tables are distributed.');
    expect(await countRows(url)).toEqual(countsBefore);
    expect(await distribute()).toMatchObject({ stdout: 'All tables are distributed.\n' });
    const shards = await withServer(url, (client) =>
      client.query(
        `select distinct nodename, nodeport from citus_shards where citus_table_type = 'distributed'`,
      ),
    );
    expect(shards.rows).toHaveLength(2);

    const database = await openDatabase(readConfig(env), createLog('silent'));
    expect(database.isDistributed).toBe(true);
    await using app = await createTestApp({ env: { ENCRYPTION_KEY }, database });
    const tenant = await app.createTenant();
    expect(await generateConnection(tenant)).toMatchObject({ group: { groupRef: 'acme' } });
    for (const projectId of projectIds) {
      expect(await database.reads.count('Operation', { projectId })).toBe(ROW_COUNTS.operations);
    }
  },
);

/** Creates projects on one server, and returns their IDs. */
async function fillDatabase(env: Record<string, string>): Promise<string[]> {
  const database = await openDatabase(readConfig(env), createLog('silent'));
  expect(database.isDistributed).toBe(false);
  await using app = await createTestApp({ env: { ENCRYPTION_KEY }, database });
  const projectIds: string[] = [];
  for (let number = 0; number < PROJECT_COUNT; number += 1) {
    const { projectId } = await app.createTenant();
    projectIds.push(projectId);
    const deps = { ...app.app.services, query: toQuery(database) };
    await fillProject(deps, { projectId, number }, ROW_COUNTS);
  }
  return projectIds;
}

function countRows(url: string): Promise<Record<string, number>> {
  return withServer(url, async (client) => {
    const counts: Record<string, number> = {};
    for (const table of TABLES) {
      const { rows } = await client.query(`select count(*)::int as "count" from "${table}"`);
      counts[table] = rows[0].count;
    }
    return counts;
  });
}
