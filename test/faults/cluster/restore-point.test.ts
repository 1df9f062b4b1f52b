/**
 * Backs up each node of a cluster as a PostgreSQL server, and restores all nodes to the same point in time.
 */
import { execFile } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { getClusterSkipReason } from '../../support/database/cluster/cluster-servers.ts';
import { withServer } from '../../support/database/cluster/cluster-template.ts';
import { findSystemBinaries } from '../../support/database/postgres-binaries.ts';
import { startGateway } from '../fixtures/gateway.ts';
import { type ClusterServer, startCluster } from './cluster.ts';
import { createConnection, startSpreadLoad } from './spread-load.ts';

const LOAD_MS = 5_000;
const RESTORE_POINT = 'acknowledged';
const POLLING = { timeout: 60_000, interval: 250 };

const skipReason = getClusterSkipReason();
if (skipReason) console.warn(`Tests of a cluster are skipped: ${skipReason}.`);

/** Creates a folder that belongs to the servers' user. */
function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-archive-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { user } = findSystemBinaries('');
  if (user) chownSync(folder, user.uid, user.gid);
  chmodSync(folder, 0o700);
  return folder;
}

/** Returns the folder of a server's WAL archive. Its name contains the server's port. */
const toArchiveFolder = (folder: string, port: number | string) => join(folder, `log-${port}`);

/** Returns the data folder of the backup. */
async function backUp({ port }: ClusterServer, folder: string): Promise<string> {
  const databaseDir = join(folder, `data-${port}`);
  const server = ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres'];
  const args = [...server, '-D', databaseDir, '-c', 'fast', '-X', 'none'];
  const program = join(process.env.TEST_CITUS_BIN ?? '', 'pg_basebackup');
  const { user } = findSystemBinaries('');
  await promisify(execFile)(program, args, { cwd: folder, ...user });
  return databaseDir;
}

/** Resolves when all WAL that the server has written is archived. */
async function archiveAll({ url, port }: ClusterServer, folder: string): Promise<void> {
  const name = await withServer(`${url}/postgres`, async (client) => {
    const { rows } = await client.query('select pg_walfile_name(pg_switch_wal()) as "name"');
    return rows[0].name as string;
  });
  await expect
    .poll(() => existsSync(join(toArchiveFolder(folder, port), name)), POLLING)
    .toBe(true);
}

test.skipIf(skipReason)(
  'restores all nodes to one point in time, and serves requests afterwards',
  async () => {
    const folder = createFolder();
    const archive = `d=${toArchiveFolder(folder, '')}$(head -n 4 postmaster.pid | tail -n 1); mkdir -p $d && cp %p $d/%f`;
    const cluster = await startCluster(['archive_mode=on', `archive_command=${archive}`]);
    const servers = [cluster.coordinator, ...cluster.workers];
    const { projects, gateway, end } = await startSpreadLoad(cluster);
    await delay(LOAD_MS);
    const backups: { server: ClusterServer; databaseDir: string }[] = [];
    for (const server of servers) {
      backups.push({ server, databaseDir: await backUp(server, folder) });
    }
    await delay(LOAD_MS);
    await end();
    await cluster.query('select citus_create_restore_point($1)', [RESTORE_POINT]);
    const idsBefore = projects.map(({ created }) => created.map(({ id }) => id));
    for (const project of projects) await createConnection(gateway, project, 'too-late');
    const lateIds = projects.map(({ created }) => created.at(-1)?.id);
    for (const server of servers) await archiveAll(server, folder);
    await gateway.kill();

    for (const server of servers) await server.kill();
    const restoring = backups.map(async ({ server, databaseDir }) => {
      writeFileSync(join(databaseDir, 'recovery.signal'), '');
      const settings = [
        ...['archive_mode=off', 'hot_standby=off', 'recovery_target_action=promote'],
        `recovery_target_name=${RESTORE_POINT}`,
        `restore_command=cp ${toArchiveFolder(folder, server.port)}/%f %p`,
      ];
      await server.start({ databaseDir, settings });
    });
    await Promise.all(restoring);
    for (const [index, { projectId }] of projects.entries()) {
      const rows = await cluster.query<{ id: string }>(
        'select id from "Connection" where "projectId" = $1',
        [projectId],
      );
      const ids = rows.map(({ id }) => id);
      expect(ids).toEqual(expect.arrayContaining(idsBefore[index] ?? []));
      expect(ids).not.toContain(lateIds[index]);
    }
    const nextGateway = await startGateway({ DATABASE_URL: cluster.url });
    for (const project of projects) {
      const createdBefore = project.created.length;
      await createConnection(nextGateway, project, 'afterwards');
      expect(project.created.length).toBe(createdBefore + 1);
    }
  },
);
