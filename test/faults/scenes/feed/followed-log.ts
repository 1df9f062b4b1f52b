/** A log with many writers and many followers, who disconnect, lose their servers and reconnect. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, onTestFinished } from 'vitest';
import { type Database, openEngine } from '../../../../src/database/database.ts';
import type { Transaction } from '../../../../src/database/transaction.ts';
import { createLog } from '../../../../src/log.ts';
import { type TestApp, testApp, testDatabase } from '../../../support/app.ts';
import { acquireEngine } from '../../../support/database/embedded/embedded-databases.ts';
import { PROCESS_ENV } from '../../../support/process/process-env.ts';
import { createRandom } from '../random.ts';
import {
  followToTheEnd,
  overEventStream,
  overWebSocket,
  type Subscription,
} from './feed-followers.ts';

/** FAULTS_SHORT=1 runs the short form. FAULT_SEED changes the random choices. */
const SHORT = process.env.FAULTS_SHORT === '1';
const ITEMS = SHORT ? 640 : 10_000;
const KILLS = SHORT ? 3 : 20;
const SEED = Number(process.env.FAULT_SEED ?? 1);
const WRITERS = 16;
const FOLLOWERS = 8;
/**
 * Maximum number of items after which a follower disconnects. It leads to some 1,000 connections in the long
 * form, and 100 in the short one.
 */
const PATIENCE_MAX = SHORT ? 100 : 150;

type Delay = (tx: Transaction) => Promise<unknown>;

export interface FollowedLog {
  subscription: Subscription;
  /** The cursor before the first item. */
  start: string;
  /** Commits an item of this name. `delay` makes transactions commit in another order than they began. */
  write: (name: string, delay: Delay) => Promise<void>;
  /** Returns the names of the list's items. */
  listed: () => Promise<string[]>;
}

/** Creates the log in a project. */
export type MakeLog = (database: Database, tenant: { projectId: string }) => Promise<FollowedLog>;

interface Scene extends FollowedLog {
  apiKey: string;
  /** Returns the URL of one of the running servers. */
  url: () => string;
  delay: Delay;
}

async function writeAll(scene: Scene): Promise<void> {
  const writer = async (number: number) => {
    for (let n = 0; n < ITEMS / WRITERS; n += 1) await untilWritten(scene, `w${number}-${n}`);
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, number) => writer(number)));
}

/**
 * Writes an item. On a busy machine the transaction may time out with an unknown outcome. The writer then
 * checks the list, and repeats the write if the item is missing.
 */
async function untilWritten(scene: Scene, name: string): Promise<void> {
  try {
    await scene.write(name, scene.delay);
  } catch (error) {
    const { code, problem } = error as { code?: string; problem?: { status: number } };
    if (code !== 'P2028' && problem?.status !== 503) throw error;
    const isWritten = (await scene.listed()).includes(name);
    if (!isWritten) await untilWritten(scene, name);
  }
}

function followAll({ apiKey, url, subscription, start }: Scene) {
  let hasEnded = false;
  onTestFinished(() => {
    hasEnded = true;
  });
  const isOver = () => hasEnded;
  return Promise.all(
    Array.from({ length: FOLLOWERS }, (_, number) => {
      const random = createRandom(SEED * 100 + number);
      const patience = () => 1 + Math.floor(random() * PATIENCE_MAX);
      const follow = { subscription, start, url, apiKey, total: ITEMS, patience, isOver };
      return followToTheEnd(follow, number % 2 === 0 ? overEventStream : overWebSocket);
    }),
  );
}

async function expectNoneLostAndNoneTwice(
  { listed }: Scene,
  following: ReturnType<typeof followAll>,
) {
  const followed = await following;
  const list = await listed();
  expect(list).toHaveLength(ITEMS);
  for (const { names } of followed) expect(names).toEqual(list);
  const connections = followed.reduce((sum, one) => sum + one.connections, 0);
  console.log(`${ITEMS} items, ${FOLLOWERS} followers, ${connections} connections`);
}

/** Starts servers on the test's database. `replace` kills one of them and starts it again. */
async function startServers(database: Database, count: number) {
  const [{ name }] = await database.prisma.$queryRaw<[{ name: string }]>`
    select current_database() as "name"`;
  const folder = mkdtempSync(join(tmpdir(), 'gateway-feed-'));
  const env = {
    ...PROCESS_ENV,
    DATA_DIR: folder,
    PORT: '0',
    DEMO: 'false',
    DATABASE_URL: `${inject('postgres').serverUrl}/${name}`,
    DATABASE_POOL_SIZE: '8',
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  };
  const start = async () => {
    const child = fork(join(import.meta.dirname, 'feed-process.ts'), {
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

/** Kills servers while clients follow them. The writers run in another process and continue. */
export async function followThroughKills(make: MakeLog): Promise<void> {
  const database = await testDatabase();
  const host = await testApp({ database });
  const { apiKey, projectId } = await host.tenant();
  const log = await make(database, { projectId });
  const servers = await startServers(database, 2);
  onTestFinished(() => host[Symbol.asyncDispose]());
  const random = createRandom(SEED);
  const scene: Scene = {
    ...log,
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
  console.log(`${kills} kills while it was written`);
  await expectNoneLostAndNoneTwice(scene, following);
}

/** Runs followers and writers on the embedded database. */
export async function followEmbedded(make: MakeLog): Promise<void> {
  const database = await openEngine(await acquireEngine(), createLog('silent'));
  const host: TestApp = await testApp({ database });
  onTestFinished(() => host[Symbol.asyncDispose]());
  const { apiKey, projectId } = await host.tenant();
  const log = await make(database, { projectId });
  const { url } = await host.app.start();
  // PGlite runs in this process. Without a pause, no other work of the process would run.
  const delay = () => new Promise(setImmediate);
  const scene: Scene = { ...log, apiKey, url: () => url, delay };
  const following = followAll(scene);
  await writeAll(scene);
  await expectNoneLostAndNoneTwice(scene, following);
}
