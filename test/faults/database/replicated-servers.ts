/** Starts a PostgreSQL primary with a synchronous standby that can take over. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import { openDatabase } from '../../../src/database/open/open-database.ts';
import { createLog } from '../../../src/kernel/log.ts';
import { readConfig } from '../../../src/settings/config.ts';
import { createTestApp } from '../../support/app.ts';
import { runPostgres, startPostgres } from '../../support/database/postgres.ts';
import { ENCRYPTION_KEY } from '../../support/process/encryption-key.ts';
import type { TenantAccess } from '../fixtures/dedicated-server.ts';

export interface Replication {
  /** True if a commit is acknowledged only after the second server has it. Default: true. */
  isSynchronous?: boolean;
  /** Settings of the second server. */
  standbySettings?: string[];
}

export interface ReplicatedServers {
  /** A connection string that names both servers. */
  url: string;
  firstUrl: string;
  secondUrl: string;
  tenant: TenantAccess;
  /** Kills the first server with SIGKILL, as if its machine were lost. */
  killFirst(): Promise<void>;
  /** Promotes the second server to primary. */
  promoteSecond(): Promise<void>;
  /** Kills the second server. `startSecond` restarts it on the same port. */
  killSecond(): Promise<void>;
  startSecond(): Promise<void>;
  /** Queries the second server. */
  query<R extends pg.QueryResultRow>(text: string): Promise<R[]>;
}

const DATABASE_NAME = 'replicated';

export async function startReplicatedServers({
  isSynchronous = true,
  standbySettings = [],
}: Replication = {}): Promise<ReplicatedServers> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-replicated-'));
  chmodSync(folder, 0o755);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [firstDir, secondDir] = [join(folder, 'first'), join(folder, 'second')];
  const prepared = await startPostgres(firstDir);
  const tenant = await prepareDatabase(prepared.url);
  await prepared.stop();
  copyAsStandby({ from: firstDir, to: secondDir, port: prepared.port });
  const settings = isSynchronous ? ['synchronous_standby_names=*'] : [];
  const first = await runPostgres(firstDir, { port: prepared.port, settings });
  let second = await runPostgres(secondDir, { settings: standbySettings });
  const { port } = second;
  onTestFinished(async () => {
    await second.stop();
    await first.kill();
  });
  const querySecond = async <R extends pg.QueryResultRow>(text: string): Promise<R[]> => {
    const client = new pg.Client({ connectionString: `${second.url}/${DATABASE_NAME}` });
    await client.connect();
    const { rows } = await client.query<R>(text);
    await client.end();
    return rows;
  };
  return {
    url: `postgresql://postgres:postgres@127.0.0.1:${first.port},127.0.0.1:${port}/${DATABASE_NAME}`,
    firstUrl: `${first.url}/${DATABASE_NAME}`,
    secondUrl: `${second.url}/${DATABASE_NAME}`,
    tenant,
    killFirst: first.kill,
    promoteSecond: async () => void (await querySecond('select pg_promote()')),
    killSecond: () => second.kill(),
    async startSecond() {
      second = await runPostgres(secondDir, { port, settings: standbySettings });
    },
    query: querySecond,
  };
}

async function prepareDatabase(serverUrl: string): Promise<TenantAccess> {
  const admin = new pg.Client({ connectionString: `${serverUrl}/postgres` });
  await admin.connect();
  await admin.query(`create database ${DATABASE_NAME}`);
  await admin.end();
  const config = readConfig({ DATABASE_URL: `${serverUrl}/${DATABASE_NAME}`, ENCRYPTION_KEY });
  const database = await openDatabase(config, createLog('silent'));
  await using app = await createTestApp({ env: { ENCRYPTION_KEY }, database });
  const { apiKey, projectId, projectName } = await app.createTenant();
  return { apiKey, projectId, projectName };
}

/**
 * Copies the data folder of a stopped server with its owner, and configures the copy as its standby.
 */
function copyAsStandby({ from, to, port }: { from: string; to: string; port: number }): void {
  execFileSync('cp', ['-a', from, to]);
  const connection = `host=127.0.0.1 port=${port} user=postgres application_name=second`;
  appendFileSync(join(to, 'postgresql.auto.conf'), `primary_conninfo = '${connection}'\n`);
  writeFileSync(join(to, 'standby.signal'), '');
}
