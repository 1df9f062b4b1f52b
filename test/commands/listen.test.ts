/**
 * Tests the command `listen` in a process.
 *
 * @module-tag all/process
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { encodeCursor } from '../../src/domain/access/paging/list-cursor.ts';
import { createEventList } from '../../src/domain/events/notification-event.ts';
import { encodeMessageCursor } from '../../src/domain/events/stream-message.ts';
import { getSharedApp } from '../support/app.ts';
import { recordNamedEvent, routeEvents } from '../support/event-log.ts';
import { appendMessages, createStream } from '../support/fixtures/streams.ts';
import { PROCESS_ENV } from '../support/process/process-env.ts';

const command = join(import.meta.dirname, '../../src/commands/listen.ts');
const app = await getSharedApp();
const { url } = await app.app.start();
const { database } = app.app.services;
const folder = mkdtempSync(join(tmpdir(), 'gateway-listen-'));

async function createTenantWithRoutes() {
  const tenant = await app.createTenant();
  return { ...tenant, ...(await routeEvents(database.prisma, tenant.projectId)) };
}

/** Runs the command until the test ends. `readConnection` returns the connection of its next event. */
function startListening(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [command, ...args], {
    env: { ...PROCESS_ENV, DATA_DIR: folder, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const readNode = async () => JSON.parse((await lines.next()).value ?? 'null');
  const readConnection = async (): Promise<string> => (await readNode())?.data.connectionId;
  const readBody = async (): Promise<string> => (await readNode())?.body.name;
  return { child, readConnection, readBody };
}

/** Starts a proxy between the command and the gateway. `drop` closes its open connections. */
async function startProxy() {
  const { port, hostname } = new URL(url);
  const openSockets = new Set<Socket>();
  const server = createServer((socket) => {
    const upstream = connect(Number(port), hostname);
    socket.pipe(upstream).pipe(socket);
    for (const side of [socket, upstream]) {
      side.on('error', () => {});
      side.on('close', () => openSockets.delete(socket));
    }
    openSockets.add(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    drop: () => {
      for (const socket of openSockets) socket.destroy();
    },
  };
}

test('prints events of a topic, and loses none in a reconnect and a restart', async () => {
  const tenant = await createTenantWithRoutes();
  const { projectId, projectName, apiKey } = tenant;
  const connectionProxy = await startProxy();
  writeFileSync(join(folder, 'demo.json'), JSON.stringify({ url: connectionProxy.url, apiKey }));
  const cursorFile = join(folder, 'cursor');
  // The cursor before the first event, as if an earlier run had stored it.
  writeFileSync(cursorFile, encodeCursor(createEventList(projectId), 0n));
  const args = ['--topic', 'created', '--project', projectName, '--cursor-file', cursorFile];
  const listener = startListening(args);
  await recordNamedEvent(database, { projectId, name: 'one' });
  expect(await listener.readConnection()).toBe('one');
  await recordNamedEvent(database, { projectId, name: 'two' });
  expect(await listener.readConnection()).toBe('two');

  connectionProxy.drop();
  await recordNamedEvent(database, { projectId, name: 'other', eventType: 'CONNECTION_DELETED' });
  await recordNamedEvent(database, { projectId, name: 'during the drop' });
  expect(await listener.readConnection()).toBe('during the drop');

  listener.child.kill();
  await once(listener.child, 'exit');
  await recordNamedEvent(database, { projectId, name: 'while it was off' });
  const restartedListener = startListening(args);
  // The last event may repeat if the command ended before it had stored its cursor.
  const [firstEvent, nextEvent] = [
    await restartedListener.readConnection(),
    restartedListener.readConnection(),
  ];
  expect(firstEvent === 'during the drop' ? await nextEvent : firstEvent).toBe('while it was off');
});

test('prints messages of a stream, and loses none in a reconnect and a restart', async () => {
  const { projectId, apiKey } = await app.createTenant();
  const stream = await createStream(database, { projectId });
  const connectionProxy = await startProxy();
  const cursorFile = join(folder, 'stream-cursor');
  writeFileSync(cursorFile, encodeMessageCursor({ ...stream, position: 0n }));
  const options = ['--url', connectionProxy.url, '--key', apiKey, '--project', projectId];
  const args = [...options, '--stream', 'records', '--cursor-file', cursorFile];
  const listener = startListening(args);
  await appendMessages(database, stream, { names: ['one', 'two'] });
  expect([await listener.readBody(), await listener.readBody()]).toEqual(['one', 'two']);
  connectionProxy.drop();
  await appendMessages(database, stream, { names: ['during the drop'] });
  expect(await listener.readBody()).toBe('during the drop');
  listener.child.kill();
  await once(listener.child, 'exit');
  await appendMessages(database, stream, { names: ['while it was off'] });
  const restartedListener = startListening(args);
  const [firstEvent, nextEvent] = [
    await restartedListener.readBody(),
    restartedListener.readBody(),
  ];
  expect(firstEvent === 'during the drop' ? await nextEvent : firstEvent).toBe('while it was off');
});

test.each([
  [
    'a stream of topics',
    ['--stream', 'records', '--topic', 'created'],
    '--stream: streams have no topics',
  ],
  ['an unknown stream', ['--stream', 'nowhere'], 'There is no destination nowhere'],
  ['a wrong key', ['--key', 'ik_wrong'], 'The API key is unknown'],
  ['an unknown topic', ['--topic', 'nowhere'], 'There is no topic nowhere'],
  ['an unknown option', ['--topics', 'created'], "Unknown option '--topics'"],
])('exits with the reason for %s', async (_description, args, reason) => {
  const tenant = await createTenantWithRoutes();
  const argv = ['--url', url, '--key', tenant.apiKey, '--project', tenant.projectId, ...args];
  const refusedRun = promisify(execFile)(process.execPath, [command, ...argv], {
    env: { ...PROCESS_ENV, DATA_DIR: folder },
  });
  await expect(refusedRun).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining(reason),
  });
});
