/** The server as a process of its own on a filled data folder, with the demo: as `npm start` starts it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fillDataFolder } from './database/data-folder.ts';

const root = join(import.meta.dirname, '..', '..');

export interface ServerProcess {
  /** What demo.json says. */
  demo: { url: string; apiKey: string };
  stop(): Promise<void>;
}

export async function startServerProcess(env: Record<string, string> = {}): Promise<ServerProcess> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-server-'));
  fillDataFolder(dataDir);
  const server = spawn(process.execPath, ['src/main.ts'], {
    cwd: root,
    env: { PATH: process.env.PATH, PORT: '0', DATA_DIR: dataDir, ...env },
  });
  const ready = Promise.withResolvers<void>();
  server.stdout.on(
    'data',
    (chunk) => String(chunk).includes('"msg":"server.ready"') && ready.resolve(),
  );
  server.once('exit', () => ready.reject(new Error('The server ended before it was ready.')));
  await ready.promise;
  return {
    demo: JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')),
    async stop() {
      server.kill('SIGTERM');
      await once(server, 'exit');
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
