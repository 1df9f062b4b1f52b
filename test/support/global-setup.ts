/** Once for a run: a migrated snapshot for the embedded database, and a PostgreSQL server with a template. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { readConfig } from '../../src/config.ts';
import { openDatabase } from '../../src/database/database.ts';
import { openQueue } from '../../src/jobs/queue.ts';
import { createLog } from '../../src/log.ts';
import { embeddedSnapshot } from './database/embedded-snapshot.ts';
import { startPostgres } from './database/postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    embeddedSnapshot: string;
    postgres: { serverUrl: string; template: string };
  }
}

const TEMPLATE = 'gateway_template';

export default async function setup(project: TestProject) {
  if (project.config.env.TEST_DATABASE !== 'postgres') {
    project.provide('embeddedSnapshot', await embeddedSnapshot());
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'gateway-tests-'));
  // The server's own user must get through.
  chmodSync(folder, 0o755);
  const server = await startPostgres(join(folder, 'postgres'));
  await makeTemplate(server.url);
  project.provide('postgres', { serverUrl: server.url, template: TEMPLATE });
  return async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
}

async function makeTemplate(serverUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: `${serverUrl}/postgres` });
  await client.connect();
  await client.query(`create database ${TEMPLATE}`);
  await client.end();
  const config = readConfig({
    DATABASE_URL: `${serverUrl}/${TEMPLATE}`,
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  });
  const log = createLog('silent');
  await using database = await openDatabase(config, log);
  await (await openQueue(database, log))[Symbol.asyncDispose]();
}
