/**
 * Each node of a cluster is backed up as a PostgreSQL server, and all nodes are restored to the same point in
 * time.
 */
import { execFile } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { withServer } from '../../support/database/cluster-template.ts';
import { findSystemBinaries } from '../../support/database/postgres-binaries.ts';
import { startGateway } from '../fixtures/gateway.ts';
import { type ClusterServer, noCluster, startCluster } from './cluster.ts';
import { connect, startSpreadLoad } from './spread-load.ts';

const LOAD_MS = 5_000;
const POINT = 'kept';
const WAITING = { timeout: 60_000, interval: 250 };

const reason = noCluster();
if (reason) console.warn(`Tests of a cluster are skipped: ${reason}.`);

/** Returns a folder that belongs to the servers' user. */
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-archive-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  own(folder);
  return folder;
}

function own(folder: string): void {
  const { user } = findSystemBinaries('');
  if (user) chownSync(folder, user.uid, user.gid);
  chmodSync(folder, 0o700);
}

/** Returns the folder of a server's WAL archive. Its name contains the server's port. */
const toArchiveFolder = (folder: string, port: number | string) => join(folder, `log-${port}`);

async function backUp({ port }: ClusterServer, folder: string): Promise<string> {
  const databaseDir = join(folder, `data-${port}`);
  const place = ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres', '-D', databaseDir];
  const program = join(process.env.TEST_CITUS_BIN ?? '', 'pg_basebackup');
  const { user } = findSystemBinaries('');
  await promisify(execFile)(program, [...place, '-c', 'fast', '-X', 'none'], {
    cwd: folder,
    ...user,
  });
  return databaseDir;
}

/** Waits until all WAL that the server has written is archived. */
async function archiveAll({ url, port }: ClusterServer, folder: string): Promise<void> {
  const name = await withServer(`${url}/postgres`, async (client) => {
    const { rows } = await client.query('select pg_walfile_name(pg_switch_wal()) as "name"');
    return rows[0].name as string;
  });
  await expect
    .poll(() => existsSync(join(toArchiveFolder(folder, port), name)), WAITING)
    .toBe(true);
}

test.skipIf(reason)(
  'restores all nodes to one point in time, and the gateway works afterwards',
  async () => {
    const folder = newFolder();
    const archive = `d=${toArchiveFolder(folder, '')}$(head -n 4 postmaster.pid | tail -n 1); mkdir -p $d && cp %p $d/%f`;
    const cluster = await startCluster(['archive_mode=on', `archive_command=${archive}`]);
    const servers = [cluster.coordinator, ...cluster.workers];
    const { projects, gateway, end } = await startSpreadLoad(cluster);
    await delay(LOAD_MS);
    const copies: string[] = [];
    for (const server of servers) copies.push(await backUp(server, folder));
    await delay(LOAD_MS);
    await end();
    await cluster.query('select citus_create_restore_point($1)', [POINT]);
    const kept = projects.map(({ answered }) => answered.map(({ id }) => id));
    for (const project of projects) await connect(gateway, project, 'too-late');
    const late = projects.map(({ answered }) => answered.at(-1)?.id);
    for (const server of servers) await archiveAll(server, folder);
    await gateway.kill();

    for (const server of servers) await server.kill();
    const restored = servers.map(async (server, index) => {
      const databaseDir = copies[index] ?? '';
      writeFileSync(join(databaseDir, 'recovery.signal'), '');
      const settings = [
        ...['archive_mode=off', 'hot_standby=off', 'recovery_target_action=promote'],
        `recovery_target_name=${POINT}`,
        `restore_command=cp ${toArchiveFolder(folder, server.port)}/%f %p`,
      ];
      await server.start({ databaseDir, settings });
    });
    await Promise.all(restored);
    for (const [index, { projectId }] of projects.entries()) {
      const rows = await cluster.query<{ id: string }>(
        'select id from "Connection" where "projectId" = $1',
        [projectId],
      );
      const ids = rows.map(({ id }) => id);
      expect(ids).toEqual(expect.arrayContaining(kept[index] ?? []));
      expect(ids).not.toContain(late[index]);
    }
    const next = await startGateway({ DATABASE_URL: cluster.url });
    for (const project of projects) {
      const before = project.answered.length;
      await connect(next, project, 'afterwards');
      expect(project.answered.length).toBe(before + 1);
    }
  },
);
