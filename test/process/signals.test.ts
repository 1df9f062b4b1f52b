/** @module-tag all/process */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { fillDataFolder } from '../support/database/data-folder.ts';
import { PROCESS_ENV } from '../support/process/process-env.ts';

const START_MS = 120_000;
const BODY = JSON.stringify({ query: '{ __typename }' });

/** Starts a server with a pending request, which delays its end. */
async function startBusyServer() {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-signals-'));
  fillDataFolder(join(folder, 'data'));
  const server = spawn(process.execPath, ['src/main.ts'], {
    cwd: join(import.meta.dirname, '..', '..'),
    env: { ...PROCESS_ENV, PORT: '0', DEMO: 'false', DATA_DIR: join(folder, 'data') },
  });
  onTestFinished(() => {
    server.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  const exited = once(server, 'exit').then(([code]) => code as number | null);
  const ready = Promise.withResolvers<string>();
  let output = '';
  server.stdout.on('data', (chunk) => {
    output += chunk;
    const line = String(chunk)
      .split('\n')
      .find((text) => text.includes('"msg":"server.ready"'));
    if (line) ready.resolve(JSON.parse(line).url);
  });
  const socket = await openUnfinishedRequest(await ready.promise);
  return { server, exited, socket, readOutput: () => output };
}

/**
 * Sends a request without the last character of its body. The response 100 Continue shows that the server has
 * received the head.
 */
async function openUnfinishedRequest(url: string): Promise<Socket> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.write(
    `POST /graphql HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n` +
      `Expect: 100-continue\r\nContent-Length: ${BODY.length}\r\n\r\n`,
  );
  const [continueResponse] = await once(socket, 'data');
  expect(String(continueResponse)).toMatch(/^HTTP\/1\.1 100 /);
  socket.write(BODY.slice(0, -1));
  return socket;
}

test(
  'completes pending requests when several signals arrive together',
  async () => {
    const { server, exited, socket, readOutput } = await startBusyServer();
    server.kill('SIGINT');
    server.kill('SIGTERM');
    socket.write(BODY.slice(-1));
    const response = await Promise.race([once(socket, 'data'), exited]);
    expect(String(response)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await exited).toBe(0);
    expect(readOutput()).toContain('"msg":"server.stopped"');
  },
  START_MS,
);

test(
  'ends the process immediately after a later signal',
  async () => {
    const { server, exited } = await startBusyServer();
    const signalTimer = setInterval(() => server.kill('SIGTERM'), 100);
    expect(await exited).toBe(1);
    clearInterval(signalTimer);
  },
  START_MS,
);
