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
  /** The address that the server printed. */
  printedUrl: string;
  /** Stops the server with SIGTERM and keeps its data. */
  pause(): Promise<void>;
  /** Starts the server again, at the same address and with the same data. */
  resume(): Promise<void>;
  stop(): Promise<void>;
}

export async function startServerProcess(env: Record<string, string> = {}): Promise<ServerProcess> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-server-'));
  fillDataFolder(dataDir);
  const database = await acquireRunDatabase();
  const serverEnv = { ...PROCESS_ENV, PORT: '0', DATA_DIR: dataDir, ...database?.env, ...env };
  const started = await startServer(serverEnv);
  let { server } = started;
  const demo = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'));
  const stopServer = async () => {
    server.kill('SIGTERM');
    await once(server, 'exit');
  };
  return {
    demo,
    printedUrl: started.printedUrl,
    pause: stopServer,
    async resume() {
      ({ server } = await startServer({ ...serverEnv, PORT: new URL(demo.url).port }));
    },
    async stop() {
      await stopServer();
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

interface StartedServer {
  server: ChildProcess;
  printedUrl: string;
}

async function startServer(env: NodeJS.ProcessEnv): Promise<StartedServer> {
  const server = spawn(process.execPath, ['src/main.ts'], { cwd: root, env });
  server.once(
    'exit',
    endWithParent({ pid: server.pid as number, signal: 'SIGTERM', patienceMs: END_MS }),
  );
  const ready = Promise.withResolvers<string>();
  createInterface({ input: server.stdout }).on('line', (line) => {
    if (line.includes('"msg":"server.ready"')) ready.resolve(JSON.parse(line).url);
  });
  server.once('exit', () => ready.reject(new Error('The server exited before it was ready.')));
  return { server, printedUrl: await ready.promise };
}
