/** The server as a process of its own on a filled data folder, with the demo: as `npm start` starts it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fillDataFolder } from '../database/data-folder.ts';
import type { PostgresDatabase } from '../database/postgres-databases.ts';
import { tie } from '../tied.ts';
import { PROCESS_ENV } from './process-env.ts';

const END_MS = 20_000;
const root = join(import.meta.dirname, '..', '..', '..');

export interface ServerProcess {
  /** What demo.json says. */
  demo: { url: string; apiKey: string; bearerToken?: string; sandboxUrl: string };
  /** The address that the start has printed. */
  printedUrl: string;
  /** Ends it as an operator does. */
  pause(): Promise<void>;
  /** Starts it again, at the same address and with the same data. */
  resume(): Promise<void>;
  stop(): Promise<void>;
}

export async function startServerProcess(env: Record<string, string> = {}): Promise<ServerProcess> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-server-'));
  fillDataFolder(dataDir);
  const database = await databaseOfRun();
  const given = { ...PROCESS_ENV, PORT: '0', DATA_DIR: dataDir, ...database?.env, ...env };
  const started = await startServer(given);
  let { server } = started;
  const demo = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'));
  const end = async () => {
    server.kill('SIGTERM');
    await once(server, 'exit');
  };
  return {
    demo,
    printedUrl: started.printedUrl,
    pause: end,
    async resume() {
      ({ server } = await startServer({ ...given, PORT: new URL(demo.url).port }));
    },
    async stop() {
      await end();
      await database?.[Symbol.asyncDispose]();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Embedded, in the folder, but for a run on a cluster. */
async function databaseOfRun(): Promise<PostgresDatabase | null> {
  if (process.env.TEST_DATABASE !== 'citus') return null;
  const { lendPostgres } = await import('../database/postgres-databases.ts');
  const lent = await lendPostgres();
  const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64');
  return { ...lent, env: { ...lent.env, ENCRYPTION_KEY, DEMO: 'true' } };
}

interface Started {
  server: ChildProcess;
  printedUrl: string;
}

async function startServer(env: NodeJS.ProcessEnv): Promise<Started> {
  const server = spawn(process.execPath, ['src/main.ts'], { cwd: root, env });
  server.once('exit', tie({ pid: server.pid as number, signal: 'SIGTERM', patienceMs: END_MS }));
  const ready = Promise.withResolvers<string>();
  createInterface({ input: server.stdout }).on('line', (line) => {
    if (line.includes('"msg":"server.ready"')) ready.resolve(JSON.parse(line).url);
  });
  server.once('exit', () => ready.reject(new Error('The server ended before it was ready.')));
  return { server, printedUrl: await ready.promise };
}
