import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { type Database, openEngine } from '../../src/database/database.ts';
import type { Transaction } from '../../src/database/transaction.ts';
import { eventList } from '../../src/domain/event/notification-event.ts';
import { encodeCursor } from '../../src/domain/paging/list-cursor.ts';
import { createLog } from '../../src/log.ts';
import { testApp, testDatabase } from '../support/app.ts';
import { lendEngine } from '../support/database/embedded-databases.ts';
import { listed, record, routeEvents } from '../support/event-log.ts';
import { followToTheEnd, overEventStream, overWebSocket } from './scenes/feed-followers.ts';
import { COMMON_ENV } from './scenes/gateway.ts';
import { randomOf } from './scenes/random.ts';

/** FAULTS_SHORT=1 is the short form; FAULT_SEED gives other moments. */
const SHORT = process.env.FAULTS_SHORT === '1';
const EVENTS = SHORT ? 640 : 10_000;
const KILLS = SHORT ? 3 : 20;
const SEED = Number(process.env.FAULT_SEED ?? 1);
const WRITERS = 16;
const FOLLOWERS = 8;
/** Events after which a follower leaves, at most: some 1,000 connections in the long form. */
const PATIENCE_MAX = 150;

interface Scene {
  database: Database;
  projectId: string;
  apiKey: string;
  /** One of the servers that are up. */
  url: () => string;
  /** Lets transactions commit in another order than they began. */
  delay: (tx: Transaction) => Promise<unknown>;
}

async function writeAll(scene: Scene): Promise<void> {
  const writer = async (number: number) => {
    for (let n = 0; n < EVENTS / WRITERS; n += 1) await untilRecorded(scene, `w${number}-${n}`);
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, number) => writer(number)));
}

/** On a busy machine a transaction may wait too long. Who is told so looks what came of it, and repeats it if nothing. */
async function untilRecorded(scene: Scene, name: string): Promise<void> {
  const { database, projectId, delay } = scene;
  try {
    await record(database, { projectId, name, delay });
  } catch (error) {
    const { code, problem } = error as { code?: string; problem?: { status: number } };
    if (code !== 'P2028' && problem?.status !== 503) throw error;
    const isRecorded = (await listed(database, projectId)).includes(name);
    if (!isRecorded) await untilRecorded(scene, name);
  }
}

function followAll({ projectId, apiKey, url }: Scene) {
  const after = encodeCursor(eventList(projectId), 0n);
  const variables = { project: projectId, after };
  let hasEnded = false;
  onTestFinished(() => {
    hasEnded = true;
  });
  const isOver = () => hasEnded;
  return Promise.all(
    Array.from({ length: FOLLOWERS }, (_, number) => {
      const random = randomOf(SEED * 100 + number);
      const patience = () => 1 + Math.floor(random() * PATIENCE_MAX);
      const follow = { url, apiKey, variables, total: EVENTS, patience, isOver };
      return followToTheEnd(follow, number % 2 === 0 ? overEventStream : overWebSocket);
    }),
  );
}

async function expectNoneLostAndNoneTwice(
  { database, projectId }: Scene,
  following: ReturnType<typeof followAll>,
) {
  const followed = await following;
  const list = await listed(database, projectId);
  expect(list).toHaveLength(EVENTS);
  for (const { names } of followed) expect(names).toEqual(list);
  const connections = followed.reduce((sum, one) => sum + one.connections, 0);
  console.log(`${EVENTS} events, ${FOLLOWERS} followers, ${connections} connections`);
}

/** Servers on the database of the test, of which one is killed and started again at a time. */
async function startServers(database: Database, count: number) {
  const [{ name }] = await database.prisma.$queryRaw<[{ name: string }]>`
    select current_database() as "name"`;
  const folder = mkdtempSync(join(tmpdir(), 'gateway-feed-'));
  const env = {
    ...COMMON_ENV,
    DATA_DIR: folder,
    PORT: '0',
    DEMO: 'false',
    DATABASE_URL: `${inject('postgres').serverUrl}/${name}`,
    DATABASE_POOL_SIZE: '8',
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  };
  const start = async () => {
    const child = fork(join(import.meta.dirname, 'scenes', 'feed-process.ts'), {
      env,
      execArgv: [],
    });
    const [url] = (await once(child, 'message')) as [string];
    return { child, url };
  };
  const kill = async (child: ChildProcess) => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  const servers = await Promise.all(Array.from({ length: count }, start));
  onTestFinished(async () => {
    await Promise.all(servers.map(({ child }) => kill(child)));
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    urls: () => servers.map(({ url }) => url),
    async replace(index: number) {
      await kill((servers[index] as { child: ChildProcess }).child);
      servers[index] = await start();
    },
  };
}

test('followers of servers that are killed get the list, none lost and none twice', async () => {
  const database = await testDatabase();
  const host = await testApp({ database });
  const { projectId, apiKey } = await host.tenant();
  await routeEvents(database.prisma, projectId);
  const servers = await startServers(database, 2);
  onTestFinished(() => host[Symbol.asyncDispose]());
  const random = randomOf(SEED);
  const scene: Scene = {
    database,
    projectId,
    apiKey,
    url: () => servers.urls()[Math.floor(random() * 2)] as string,
    delay: (tx) => tx.$executeRaw`select pg_sleep(random() * 0.004)`,
  };
  const following = followAll(scene);
  let isWriting = true;
  const writing = writeAll(scene).finally(() => {
    isWriting = false;
  });
  let kills = 0;
  for (; kills < KILLS && isWriting; kills += 1) await servers.replace(kills % 2);
  await writing;
  console.log(`${kills} kills while events were written`);
  await expectNoneLostAndNoneTwice(scene, following);
});

test('followers of the embedded database get the list, none lost and none twice', async () => {
  const database = await openEngine(await lendEngine(), createLog('silent'));
  const host = await testApp({ database });
  onTestFinished(() => host[Symbol.asyncDispose]());
  const { projectId, apiKey } = await host.tenant();
  await routeEvents(database.prisma, projectId);
  const { url } = await host.app.start();
  // PGlite works in this process: without a pause, nothing else of it would get a turn.
  const delay = () => new Promise(setImmediate);
  const scene: Scene = { database, projectId, apiKey, url: () => url, delay };
  const following = followAll(scene);
  await writeAll(scene);
  await expectNoneLostAndNoneTwice(scene, following);
});
