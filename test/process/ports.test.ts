/** @module-tag all/process */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { StartRefused } from '../../src/kernel/errors.ts';
import { requireUsablePorts } from '../../src/process/ports.ts';
import { readConfig } from '../../src/settings/config.ts';
import { createTestApp } from '../support/app.ts';
import { PROCESS_ENV } from '../support/process/process-env.ts';

const HOST = '127.0.0.1';
const [SANDBOX_HOST, METRICS_HOST] = [HOST, HOST];

async function occupyPort(): Promise<number> {
  const server = createServer().listen(0, HOST);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

test('reports every occupied port with its setting', async () => {
  const [PORT, SANDBOX_PORT] = [await occupyPort(), await occupyPort()];
  const usabilityCheck = requireUsablePorts({
    HOST,
    SANDBOX_HOST,
    METRICS_HOST,
    PORT,
    SANDBOX_PORT,
  });
  await expect(usabilityCheck).rejects.toThrow(StartRefused);
  await expect(usabilityCheck).rejects.toThrow(
    `Another process is using port ${PORT} of 127.0.0.1. Stop it, or give this server another PORT`,
  );
  await expect(usabilityCheck).rejects.toThrow(
    `Another process is using port ${SANDBOX_PORT} of 127.0.0.1. Stop it, or give this server another SANDBOX_PORT`,
  );
});

test('shares an occupied sandbox port if DATABASE_URL is set', async () => {
  const { DATABASE_URL } = readConfig({
    DATABASE_URL: 'postgresql://elsewhere/gateway',
    ENCRYPTION_KEY: Buffer.alloc(32, 5).toString('base64'),
  });
  const SANDBOX_PORT = await occupyPort();
  await requireUsablePorts({
    HOST,
    SANDBOX_HOST,
    METRICS_HOST,
    PORT: 0,
    SANDBOX_PORT,
    DATABASE_URL,
  });
});

test('reports an address that this machine does not have', async () => {
  const usabilityCheck = requireUsablePorts({
    HOST: '192.0.2.1',
    SANDBOX_HOST,
    METRICS_HOST,
    PORT: 0,
    SANDBOX_PORT: 0,
  });
  await expect(usabilityCheck).rejects.toThrow(
    'This machine has no address 192.0.2.1 to listen on.',
  );
});

test('accepts free ports, and does not keep them open', async () => {
  const server = createServer().listen(0, HOST);
  await once(server, 'listening');
  const { port: PORT } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  await requireUsablePorts({ HOST, SANDBOX_HOST, METRICS_HOST, PORT, SANDBOX_PORT: 0 });
  await requireUsablePorts({ HOST, SANDBOX_HOST, METRICS_HOST, PORT, SANDBOX_PORT: 0 });
});

test('ignores an occupied sandbox port if the sandbox is off', async () => {
  const SANDBOX_PORT = await occupyPort();
  const addresses = { HOST, SANDBOX_HOST, METRICS_HOST };
  await requireUsablePorts({ ...addresses, PORT: 0, SANDBOX_PORT, SANDBOX: false });
  await requireUsablePorts({ ...addresses, PORT: 0, SANDBOX_PORT, DEMO: false });
});

test('reports a port that another process takes between the check and the start', async () => {
  const PORT = String(await occupyPort());
  await using app = await createTestApp({ env: { PORT } });
  const refusal = expect(app.app.start()).rejects;
  await refusal.toThrow(`Another process is using port ${PORT} of 127.0.0.1.`);
  await refusal.toThrow(StartRefused);
});

test('refuses a start on an occupied port, and writes no file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-port-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [PORT, DATA_DIR] = [String(await occupyPort()), join(folder, 'data')];
  const server = spawn(process.execPath, ['src/main.ts'], {
    cwd: join(import.meta.dirname, '..', '..'),
    env: { ...PROCESS_ENV, PORT, DATA_DIR },
  });
  let output = '';
  server.stdout.on('data', (chunk) => {
    output += chunk;
  });
  server.stderr.on('data', (chunk) => {
    output += chunk;
  });
  const [code] = await once(server, 'close');
  expect(code).toBe(1);
  expect(output).toBe(
    `Another process is using port ${PORT} of 127.0.0.1. Stop it, or give this server another PORT; ` +
      '0 selects any free port.\n',
  );
  expect(existsSync(DATA_DIR)).toBe(false);
});
