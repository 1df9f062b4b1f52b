/** Once for a run: a migrated snapshot for the embedded database, and a PostgreSQL server with a template. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { readConfig } from '../../src/config.ts';
import { openDatabase, openPglite } from '../../src/database/database.ts';
import { openQueue } from '../../src/jobs/queue.ts';
import { createLog } from '../../src/log.ts';
import { startPostgres } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    embeddedSnapshot: string;
    postgres: { serverUrl: string; template: string };
  }
}

export default async function setup(project: TestProject) {
  const log = createLog('silent');
  const folder = mkdtempSync(join(tmpdir(), 'gateway-tests-'));
  chmodSync(folder, 0o755);
  if (project.name === 'postgres') {
    const server = await startPostgres(join(folder, 'postgres'));
    const template = 'gateway_template';
    const client = new pg.Client({ connectionString: `${server.url}/postgres` });
    await client.connect();
    await client.query(`create database ${template}`);
    await client.end();
    const config = readConfig({
      DATABASE_URL: `${server.url}/${template}`,
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    });
    const database = await openDatabase(config, log);
    await (await openQueue(database, log))[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
    project.provide('postgres', { serverUrl: server.url, template });
    return async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    };
  }
  const pglite = await PGlite.create();
  const database = await openPglite(pglite, log);
  await (await openQueue(database, log))[Symbol.asyncDispose]();
  const snapshot = join(folder, 'embedded.tar');
  writeFileSync(snapshot, Buffer.from(await (await pglite.dumpDataDir('none')).arrayBuffer()));
  await database[Symbol.asyncDispose]();
  project.provide('embeddedSnapshot', snapshot);
  return () => rmSync(folder, { recursive: true, force: true });
}
