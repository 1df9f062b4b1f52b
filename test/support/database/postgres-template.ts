/** Starts a PostgreSQL server with a migrated template database, which tests copy. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { openDatabase } from '../../../src/database/open/open-database.ts';
import { createLog } from '../../../src/kernel/log.ts';
import { readConfig } from '../../../src/settings/config.ts';
import { startPostgres } from './postgres.ts';

const TEMPLATE_NAME = 'gateway_template';

export interface Template {
  serverUrl: string;
  port: number;
  /** The worker nodes of a Citus cluster. Empty for a single server. */
  workerUrls: string[];
  template: string;
  stop(): Promise<void>;
}

/** The server of this run. The projects of a run share it, because creating the template takes seconds. */
let running: Promise<Template> | undefined;
let users = 0;

/** Returns the template of this run. The server stops when each caller has called `stop`. */
export async function shareTemplate(): Promise<Template> {
  users += 1;
  running ??= startTemplate();
  const template = await running;
  return {
    ...template,
    async stop() {
      users -= 1;
      if (users === 0) await template.stop();
    },
  };
}

async function startTemplate(): Promise<Template> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-tests-'));
  // PostgreSQL runs as another user, which needs access.
  chmodSync(folder, 0o755);
  const server = await startPostgres(join(folder, 'postgres'));
  await createTemplate(server.url);
  return {
    serverUrl: server.url,
    port: server.port,
    workerUrls: [],
    template: TEMPLATE_NAME,
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function createTemplate(serverUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: `${serverUrl}/postgres` });
  await client.connect();
  await client.query(`create database ${TEMPLATE_NAME}`);
  await client.end();
  await migrateTemplate(`${serverUrl}/${TEMPLATE_NAME}`);
}

export async function migrateTemplate(url: string): Promise<void> {
  const config = readConfig({
    DATABASE_URL: url,
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  });
  const log = createLog('silent');
  await using _database = await openDatabase(config, log);
}
