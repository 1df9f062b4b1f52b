/** A Citus cluster of a test's own: a coordinator and two workers, each of which can be killed and come back. */
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { onTestFinished } from 'vitest';
import { createSpread, withServer } from '../../support/database/cluster-template.ts';
import {
  type PostgresServer,
  runPostgres,
  startPostgres,
} from '../../support/database/postgres.ts';
import { binariesIn } from '../../support/database/postgres-binaries.ts';

const { TEST_CITUS_BIN = '' } = process.env;
const DATABASE = 'spread';
const SETTINGS = [
  'shared_preload_libraries=citus',
  'wal_level=logical',
  'max_prepared_transactions=200',
  'shared_buffers=64MB',
  'citus.node_conninfo=sslmode=disable',
];

/** Why tests of a cluster are left out; null if they run. */
export function noCluster(): string | null {
  if (!TEST_CITUS_BIN)
    return 'TEST_CITUS_BIN names no folder with the programs of a PostgreSQL that has Citus';
  return existsSync(join(TEST_CITUS_BIN, 'postgres')) ? null : `${TEST_CITUS_BIN} has no postgres`;
}

export interface ClusterServer {
  port: number;
  /** As a crash of its machine does it. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

export interface Cluster {
  /** Of the database, at the coordinator. */
  url: string;
  /** Of the servers. */
  serverUrls: string[];
  coordinator: ClusterServer;
  workers: ClusterServer[];
  /** Asks the coordinator. */
  query<R extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<R[]>;
}

/** Its database is empty. It ends with the test. */
export async function startCluster(): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-cluster-'));
  chmodSync(folder, 0o755);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const options = { settings: SETTINGS, binaries: binariesIn(TEST_CITUS_BIN) };
  const servers: ClusterServer[] = [];
  const urls: string[] = [];
  for (const name of ['coordinator', 'first', 'second']) {
    const databaseDir = join(folder, name);
    let server: PostgresServer = await startPostgres(databaseDir, options);
    const { port, url } = server;
    servers.push({
      port,
      kill: () => server.kill(),
      async start() {
        server = await runPostgres(databaseDir, { ...options, port });
      },
    });
    urls.push(url);
    onTestFinished(() => server.kill());
  }
  await createSpread(urls, DATABASE);
  const [coordinator, ...workers] = servers as [ClusterServer, ...ClusterServer[]];
  const url = `${urls[0]}/${DATABASE}`;
  return {
    url,
    serverUrls: urls,
    coordinator,
    workers,
    query: (text, values = []) =>
      withServer(url, async (client) => (await client.query(text, values)).rows),
  };
}
