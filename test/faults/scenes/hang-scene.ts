/** A gateway whose database is made to hang, and what is promised for as long as it does. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { type Database, openDatabase } from '../../../src/database/database.ts';
import { createLog } from '../../../src/log.ts';
import { record } from '../../support/event-log.ts';
import { type EventStream, openEventStream } from '../../support/event-stream.ts';
import { ENCRYPTION_KEY, type Gateway, startGateway } from './gateway.ts';
import { createOwnDatabase, type OwnDatabase, type OwnServer } from './own-server.ts';
import { changeBy, expectUnavailable, readBy } from './surfaces.ts';

/** What is promised, for streams and for /readyz. */
const STREAM_BACK_MS = 10_000;
export const READY_MS = 1_000;
/** Until a connection that hangs is replaced: the limit of a statement, and 5 s. */
export const REPLACED_MS = 10_000;
export const SHUTDOWN_MS = 4_000;
/** What docs/operations.md promises beyond SHUTDOWN_MS. */
const EXIT_MS = 1_000;
const POLL_MS = 100;
/** FAULTS_SHORT=1 is the short form. */
const SHORT = process.env.FAULTS_SHORT === '1';
/** Three requests each: more than the pool has connections. */
const READERS = SHORT ? 4 : 12;

const LIVE = `subscription ($project: String!) {
  notificationEvents(projectIdOrName: $project) { node { data project { id } } } }`;

export interface Scene {
  database: OwnDatabase;
  gateway: Gateway;
  where: { url: string; tenant: OwnDatabase['tenant'] };
  /** The server's processes for the gateway's connections. */
  backends: number[];
  /** By a process of its own, whose connections are well. */
  recordEvent(name: string): Promise<void>;
  other: Database;
}

export async function openScene(server: OwnServer): Promise<Scene> {
  const database = await createOwnDatabase(server);
  const env = { DATABASE_URL: database.direct, ENCRYPTION_KEY };
  const other = await openDatabase(readConfig(env), createLog('silent'));
  onTestFinished(() => other[Symbol.asyncDispose]());
  const { tenant } = database;
  await record(other, { projectId: tenant.projectId, name: 'before' });
  const own = await server.backends(database.name);
  const gateway = await startGateway({
    DATABASE_URL: database.url,
    DATABASE_POOL_SIZE: '6',
    SHUTDOWN_MS: String(SHUTDOWN_MS),
  });
  const where = { url: gateway.url, tenant };
  // The whole pool is open.
  await Promise.all(Array.from({ length: READERS }, () => readBy(where)).flat());
  const all = await server.backends(database.name);
  return {
    database,
    gateway,
    where,
    other,
    backends: all.filter((pid) => !own.includes(pid)),
    recordEvent: (name) => record(other, { projectId: tenant.projectId, name }),
  };
}

async function follow({ where }: Scene): Promise<EventStream> {
  const stream = await openEventStream((path, init) => fetch(where.url + path, init), {
    query: LIVE,
    variables: { project: where.tenant.projectId },
    headers: { 'x-api-key': where.tenant.apiKey },
  });
  onTestFinished(() => stream.leave());
  return stream;
}

async function nameOfNext(stream: EventStream): Promise<string> {
  const message = await stream.next();
  expect(message?.data.errors).toBeUndefined();
  return message?.data.data.notificationEvents.node.data.connectionId;
}

async function timed(url: string): Promise<{ ms: number; status: number } | null> {
  const beganMs = performance.now();
  const answer = await fetch(url).catch(() => null);
  return answer && { ms: performance.now() - beganMs, status: answer.status };
}

/**
 * Looks at /readyz until it is told to end; how much longer each answer took than one for which nothing is looked
 * at: the rest is the machine's.
 */
export function watchReadiness({ url }: Gateway) {
  const looks: { ms: number; status: number }[] = [];
  const ending = new AbortController();
  const watching = (async () => {
    while (!ending.signal.aborted) {
      const [ready, live] = await Promise.all([timed(`${url}/readyz`), timed(`${url}/livez`)]);
      // It has ended, as it was told to.
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

/** Reads and changes go on, and readiness is told at once all the while. */
export async function expectRecovery(scene: Scene, hang: () => void): Promise<void> {
  const stream = await follow(scene);
  await scene.recordEvent('live');
  expect(await nameOfNext(stream)).toBe('live');

  const readiness = watchReadiness(scene.gateway);
  const hungMs = performance.now();
  hang();
  // Some of them are caught by connections that hang.
  const caught = Array.from({ length: READERS }, () => [
    ...readBy(scene.where),
    ...changeBy(scene.where),
  ]);
  await scene.recordEvent('while it hangs');
  expect(await nameOfNext(stream)).toBe('while it hangs');
  expect(performance.now() - hungMs).toBeLessThan(STREAM_BACK_MS);

  const answers = await Promise.all(caught.flat());
  expect(performance.now() - hungMs).toBeLessThan(REPLACED_MS);
  expectUnavailable(answers.filter(({ status }) => status >= 300));
  const after = await Promise.all([...readBy(scene.where), ...changeBy(scene.where)]);
  expect(after.map(({ status }) => status)).toEqual([200, 200, 200, 200, 201]);
  // All may be back before the third look, if the process had just replaced its connections.
  await expect.poll(readiness.count, { timeout: REPLACED_MS }).toBeGreaterThan(2);
  const looks = await readiness.end();
  expect(Math.max(...looks.map(({ ms }) => ms))).toBeLessThan(READY_MS);
}

/** A gateway whose database is silent ends in time after SIGTERM. */
export async function expectEnd({ gateway }: Pick<Scene, 'gateway'>): Promise<void> {
  const beganMs = performance.now();
  const code = await gateway.stop();
  expect(performance.now() - beganMs).toBeLessThan(SHUTDOWN_MS + EXIT_MS);
  const given = gateway.lines.find(({ msg }) => msg === 'server.stop_given_up');
  expect({ code, names: given?.givenUp }).toEqual(
    given
      ? { code: 1, names: expect.arrayContaining([expect.any(String)]) }
      : { code: 0, names: undefined },
  );
}
