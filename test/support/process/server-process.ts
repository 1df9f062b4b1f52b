/** Runs the server with the demo as a separate process on a filled data folder, as `npm start` does. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fillDataFolder } from '../database/data-folder.ts';
import type { PostgresDatabase } from '../database/postgres-databases.ts';
import { endWithParent } from '../end-with-parent.ts';
import { ENCRYPTION_KEY } from './encryption-key.ts';
import { PROCESS_ENV } from './process-env.ts';

const END_MS = 20_000;
const root = join(import.meta.dirname, '..', '..', '..');

export interface ServerProcess {
  /** The content of demo.json. */
  demo: { url: string; apiKey: string; bearerToken?: string; sandboxUrl: string };
  /** Stops the server with SIGTERM, and removes its data. */
  stop(): Promise<void>;
}

export async function startServerProcess(env: Record<string, string> = {}): Promise<ServerProcess> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-server-'));
  fillDataFolder(dataDir);
  const database = await acquireRunDatabase();
  const serverEnv = { ...PROCESS_ENV, PORT: '0', DATA_DIR: dataDir, ...database?.env, ...env };
  const server = await startServer(serverEnv);
  const demo = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'));
  return {
    demo,
    async stop() {
      server.kill('SIGTERM');
      await once(server, 'exit');
      await database?.[Symbol.asyncDispose]();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Returns the run's database on a cluster. Null otherwise: the server uses the embedded database in its folder. */
async function acquireRunDatabase(): Promise<PostgresDatabase | null> {
  if (process.env.TEST_DATABASE !== 'citus') return null;
  const { acquirePostgres } = await import('../database/postgres-databases.ts');
  const acquired = await acquirePostgres();
  return { ...acquired, env: { ...acquired.env, ENCRYPTION_KEY, DEMO: 'true' } };
}

/** Returns when the server is ready. */
async function startServer(env: NodeJS.ProcessEnv): Promise<ChildProcess> {
  const server = spawn(process.execPath, ['src/main.ts'], { cwd: root, env });
  server.once(
    'exit',
    endWithParent({ pid: server.pid as number, signal: 'SIGTERM', patienceMs: END_MS }),
  );
  const ready = Promise.withResolvers<void>();
  createInterface({ input: server.stdout }).on('line', (line) => {
    if (line.includes('"msg":"server.ready"')) ready.resolve();
  });
  server.once('exit', () => ready.reject(new Error('The server exited before it was ready.')));
  await ready.promise;
  return server;
}
