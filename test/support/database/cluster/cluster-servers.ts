/** Starts the servers of Citus clusters. */
import { chmodSync, existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runPostgres, startPostgres } from '../postgres.ts';
import { findSystemBinaries } from '../postgres-binaries.ts';

/** The folder with the programs of a PostgreSQL installation that has Citus. */
const { TEST_CITUS_BIN = '' } = process.env;
const SETTINGS = [
  'shared_preload_libraries=citus',
  'wal_level=logical',
  'max_prepared_transactions=200',
  'shared_buffers=64MB',
  'citus.node_conninfo=sslmode=disable',
];

/** Returns the reason to skip tests of a cluster, or null if they can run. */
export function getClusterSkipReason(): string | null {
  if (!TEST_CITUS_BIN)
    return 'TEST_CITUS_BIN names no folder with the programs of a PostgreSQL that has Citus';
  return existsSync(join(TEST_CITUS_BIN, 'postgres')) ? null : `${TEST_CITUS_BIN} has no postgres`;
}

/** Creates a folder for the data of servers, which the servers' user can enter. */
export function createClusterFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-cluster-'));
  chmodSync(folder, 0o755);
  return folder;
}

/** Starts a server that is not part of a cluster yet. */
export const startClusterServer = (databaseDir: string, settings: readonly string[] = []) =>
  startPostgres(databaseDir, createOptions(settings));

/** Starts a server on an existing data folder. */
export const runClusterServer = (databaseDir: string, port: number, settings: readonly string[]) =>
  runPostgres(databaseDir, { ...createOptions(settings), port });

function createOptions(settings: readonly string[]) {
  return { settings: [...SETTINGS, ...settings], binaries: findSystemBinaries(TEST_CITUS_BIN) };
}
