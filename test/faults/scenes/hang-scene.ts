/** Makes the database of a gateway hang, and checks the promises for that time. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { type Database, openDatabase } from '../../../src/database/database.ts';
import { createLog } from '../../../src/log.ts';
import { recordNamedEvent } from '../../support/event-log.ts';
import { type EventStream, openEventStream } from '../../support/event-stream.ts';
import { ENCRYPTION_KEY, type Gateway, startGateway } from './gateway.ts';
import { createOwnDatabase, type OwnDatabase, type OwnServer } from './own-server.ts';
import { changeBy, expectUnavailable, readBy } from './surfaces.ts';

/** Promised times for streams and for /readyz. */
const STREAM_BACK_MS = 10_000;
export const READY_MS = 1_000;
/** Time until a connection that hangs is replaced: the statement timeout and 5 s. */
export const REPLACED_MS = 10_000;
export const SHUTDOWN_MS = 4_000;
/** Time after SHUTDOWN_MS that docs/operations.md promises. */
const EXIT_MS = 1_000;
const POLL_MS = 100;
/** FAULTS_SHORT=1 runs the short form. */
const SHORT = process.env.FAULTS_SHORT === '1';
/** Each sends three requests, which together exceed the connection pool. */
const READERS = SHORT ? 4 : 12;

const LIVE = `subscription ($project: String!) {
  notificationEvents(projectIdOrName: $project) { node { data project { id } } } }`;

export interface Scene {
  database: OwnDatabase;
  gateway: Gateway;
  where: { url: string; tenant: OwnDatabase['tenant'] };
  /** IDs of the server processes that serve the gateway's connections. */
  backends: number[];
  /** Records an event over `other`, whose connections do not hang. */
  recordEvent(name: string): Promise<void>;
  other: Database;
}

export async function openScene(server: OwnServer): Promise<Scene> {
  const database = await createOwnDatabase(server);
  const env = { DATABASE_URL: database.direct, ENCRYPTION_KEY };
  const other = await openDatabase(readConfig(env), createLog('silent'));
  onTestFinished(() => other[Symbol.asyncDispose]());
  const { tenant } = database;
  await recordNamedEvent(other, { projectId: tenant.projectId, name: 'before' });
  const own = await server.backends(database.name);
  const gateway = await startGateway({
    DATABASE_URL: database.url,
    DATABASE_POOL_SIZE: '6',
    SHUTDOWN_MS: String(SHUTDOWN_MS),
  });
  const where = { url: gateway.url, tenant };
  // Opens all connections of the pool.
  await Promise.all(Array.from({ length: READERS }, () => readBy(where)).flat());
  const all = await server.backends(database.name);
  return {
    database,
    gateway,
    where,
    other,
    backends: all.filter((pid) => !own.includes(pid)),
    recordEvent: (name) => recordNamedEvent(other, { projectId: tenant.projectId, name }),
  };
}

async function follow({ where }: Scene): Promise<EventStream> {
  const stream = await openEventStream((path, init) => fetch(where.url + path, init), {
    query: LIVE,
    variables: { project: where.tenant.projectId },
    headers: { 'x-api-key': where.tenant.apiKey },
  });
  onTestFinished(() => stream.close());
  return stream;
}

async function nameOfNext(stream: EventStream): Promise<string> {
  const message = await stream.next();
  expect(message?.data.errors).toBeUndefined();
  return message?.data.data.notificationEvents.node.data.connectionId;
}

async function timed(url: string): Promise<{ ms: number; status: number } | null> {
  const beganMs = performance.now();
  const response = await fetch(url).catch(() => null);
  return response && { ms: performance.now() - beganMs, status: response.status };
}

/**
 * Polls /readyz until `end` is called. Returns how much longer each response took than one of /livez, which
 * checks nothing. The common part depends on the machine.
 */
export function watchReadiness({ url }: Gateway) {
  const looks: { ms: number; status: number }[] = [];
  const ending = new AbortController();
  const watching = (async () => {
    while (!ending.signal.aborted) {
      const [ready, live] = await Promise.all([timed(`${url}/readyz`), timed(`${url}/livez`)]);
      // The process has ended, as the test demanded.
      if (!ready || !live) return;
      looks.push({ ms: ready.ms - live.ms, status: ready.status });
      await delay(POLL_MS);
    }
  })();
  return {
    count: () => looks.length,
    async end() {
      ending.abort();
      await watching;
      return looks;
    },
  };
}

/** Expects that reads and changes work again, and that readiness responds quickly all the time. */
export async function expectRecovery(scene: Scene, hang: () => void): Promise<void> {
  const stream = await follow(scene);
  await scene.recordEvent('live');
  expect(await nameOfNext(stream)).toBe('live');

  const readiness = watchReadiness(scene.gateway);
  const hungMs = performance.now();
  hang();
  // Some of these requests use connections that hang.
  const caught = Array.from({ length: READERS }, () => [
    ...readBy(scene.where),
    ...changeBy(scene.where),
  ]);
  await scene.recordEvent('while it hangs');
  expect(await nameOfNext(stream)).toBe('while it hangs');
  expect(performance.now() - hungMs).toBeLessThan(STREAM_BACK_MS);

  const responses = await Promise.all(caught.flat());
  expect(performance.now() - hungMs).toBeLessThan(REPLACED_MS);
  expectUnavailable(responses.filter(({ status }) => status >= 300));
  const after = await Promise.all([...readBy(scene.where), ...changeBy(scene.where)]);
  expect(after.map(({ status }) => status)).toEqual([200, 200, 200, 200, 201]);
  // All requests may have recovered before the third poll, if the process had just replaced its connections.
  await expect.poll(readiness.count, { timeout: REPLACED_MS }).toBeGreaterThan(2);
  const looks = await readiness.end();
  expect(Math.max(...looks.map(({ ms }) => ms))).toBeLessThan(READY_MS);
}

/** Expects that a gateway whose database does not respond exits in time after SIGTERM. */
export async function expectEnd({ gateway }: Pick<Scene, 'gateway'>): Promise<void> {
  const beganMs = performance.now();
  const code = await gateway.stop();
  expect(performance.now() - beganMs).toBeLessThan(SHUTDOWN_MS + EXIT_MS);
  const given = gateway.lines.find(({ msg }) => msg === 'server.stop_timed_out');
  expect({ code, names: given?.pendingSteps }).toEqual(
    given
      ? { code: 1, names: expect.arrayContaining([expect.any(String)]) }
      : { code: 0, names: undefined },
  );
}
