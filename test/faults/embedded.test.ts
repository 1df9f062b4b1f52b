/** The embedded database on a full disk, and after a crash. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { PROCESS_ENV } from '../support/process/process-env.ts';
import { prepareDataFolder, prepareEmbedded } from './fixtures/embedded/embedded-gateway.ts';
import {
  fillUp,
  getSmallFileSystemSkipReason,
  mountSmallFileSystem,
} from './fixtures/embedded/small-file-system.ts';
import { type Gateway, startGateway } from './fixtures/gateway.ts';
import { expectExit, SHUTDOWN_MS } from './fixtures/hang-fixture.ts';
import {
  expectUnavailable,
  type SurfaceResponse,
  type SurfaceTarget,
  sendChanges,
  sendReads,
} from './fixtures/surfaces.ts';

/** Maximum time to start a server, which loads modules and opens a database, on a busy machine. */
const START_MS_MAX = 60_000;
const MIB = 1024 * 1024;

const skipReason = getSmallFileSystemSkipReason();
if (skipReason) console.warn(`Tests of a full disk are skipped: ${skipReason}`);

const hasSucceeded = ({ status }: SurfaceResponse) => status < 300;

async function startFixture(folder?: string) {
  const { env, tenant } = await prepareEmbedded(folder);
  const gateway = await startGateway(env);
  return { env, tenant, gateway, target: { url: gateway.url, tenant } };
}

/** Returns the ID of the created topic, from GraphQL or REST. */
const readId = ({ body }: SurfaceResponse): string => body.data?.createTopic?.topic.id ?? body.id;

async function listTopicIds({ url, tenant }: SurfaceTarget): Promise<string[]> {
  const path = `/v1/projects/${tenant.projectId}/topics`;
  const response = await fetch(url + path, { headers: { 'x-api-key': tenant.apiKey } });
  return JSON.stringify(await response.json()).match(/top_[0-9a-z]+/g) ?? [];
}

function expectFullLoggedOnce({ lines }: Gateway): void {
  const warnings = lines.filter(({ level }) => ['warn', 'error', 'fatal'].includes(level));
  expect(warnings.map(({ msg, kind }) => `${msg}: ${kind}`)).toEqual(['database.failed: FULL']);
}

test.skipIf(skipReason)(
  'refuses changes while the disk is full, and keeps acknowledged changes',
  async () => {
    const folder = mountSmallFileSystem(192 * MIB);
    const { env, tenant, gateway, target } = await startFixture(folder);
    const acknowledged: string[] = [];
    const freeSpace = fillUp(folder);
    const refusals: SurfaceResponse[] = [];
    await vi.waitFor(
      async () => {
        const responses = await Promise.all(
          Array.from({ length: 5 }, () => sendChanges(target)).flat(),
        );
        acknowledged.push(...responses.filter(hasSucceeded).map(readId));
        refusals.push(...responses.filter((response) => !hasSucceeded(response)));
        expect(refusals.length).toBeGreaterThan(100);
      },
      { timeout: START_MS_MAX, interval: 0 },
    );
    expectUnavailable(refusals);
    expectFullLoggedOnce(gateway);
    freeSpace();
    const writeAgain = async () => {
      const responses = await Promise.all(sendChanges(target));
      acknowledged.push(...responses.filter(hasSucceeded).map(readId));
      expect(responses.every(hasSucceeded)).toBe(true);
    };
    await vi.waitFor(writeAgain, { timeout: START_MS_MAX });
    expect(await listTopicIds(target)).toEqual(expect.arrayContaining(acknowledged));
    expectFullLoggedOnce(gateway);
    await gateway.kill();
    const { url } = await startGateway(env);
    expect(await listTopicIds({ url, tenant })).toEqual(expect.arrayContaining(acknowledged));
  },
);

test('exits on SIGTERM if the embedded database does not respond', async () => {
  const { env, tenant } = await prepareEmbedded();
  const gateway = await startGateway({ ...env, SHUTDOWN_MS: String(SHUTDOWN_MS) });
  const target = { url: gateway.url, tenant };
  await gateway.silenceDatabase();
  // The requests fail when the process ends.
  const requests = Promise.allSettled([...sendReads(target), ...sendChanges(target)]);
  await expectExit({ gateway });
  await requests;
});

/** Starts a separate process that runs statements. */
async function startDatabaseProcess(env: Record<string, string>) {
  const child = fork(join(import.meta.dirname, 'fixtures/embedded/database-process.ts'), {
    env: { ...PROCESS_ENV, ...env },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  child.stdout?.on('data', (text) => {
    output += text;
  });
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  await Promise.race([once(child, 'message'), exited]);
  return {
    exited,
    readOutput: () => output,
    async run(text: string): Promise<string> {
      child.send(text);
      const responded = once(child, 'message').then(([response]) => response as string);
      return Promise.race([responded, exited.then((code) => `exit ${code}`)]);
    },
  };
}

const createInsert = (id: string) => `insert into "ServerProcess" ("id") values ('${id}')`;

test.skipIf(skipReason)(
  'refuses statements while the write-ahead log has no space, and recovers automatically',
  async () => {
    const folder = mountSmallFileSystem(192 * MIB);
    const database = await startDatabaseProcess(prepareDataFolder(folder));
    expect(await database.run(createInsert('before'))).toBe('done');
    const freeSpace = fillUp(folder);
    // The statement writes only to the write-ahead log, which then needs another file.
    const walStatement = `select pg_logical_emit_message(true, 'test', repeat('x', 1000000))`;
    let response = 'done';
    while (response === 'done') response = await database.run(walStatement);
    expect(response).toMatch(/ServiceUnavailable.* is full/);
    for (let count = 0; count < 20; count += 1) {
      expect(await database.run('select 1')).toMatch(/ServiceUnavailable.* is full/);
      await delay(100);
    }
    freeSpace();
    const writeAgain = async () => expect(await database.run(createInsert('after'))).toBe('done');
    await vi.waitFor(writeAgain, { timeout: START_MS_MAX, interval: 100 });
    const check = `select 1 / (count(*) = 2)::int from "ServerProcess" where "id" in ('before', 'after')`;
    expect(await database.run(check)).toBe('done');
    const outageLines = database.readOutput().match(/database\.failed/g);
    expect(outageLines).toHaveLength(1);
    expect(database.readOutput()).toContain('FULL');
  },
);

test('exits when the database crashes, and keeps acknowledged changes', async () => {
  const env = prepareDataFolder();
  const database = await startDatabaseProcess(env);
  expect(await database.run(createInsert('acknowledged'))).toBe('done');
  const walFolder = join(env.DATA_DIR, 'database', 'pg_wal');
  renameSync(walFolder, `${walFolder}.away`);
  let response = await database.run('select pg_switch_wal()');
  for (let count = 0; response === 'done'; count += 1) {
    response = await database.run(createInsert(`lost ${count}`));
  }
  expect(await database.exited).toBe(1);
  const crash =
    /\{"level":"error".*"msg":"database\.crashed"\}/.exec(database.readOutput())?.[0] ?? '';
  expect(JSON.parse(crash).err.message).toContain('pg_wal');

  renameSync(`${walFolder}.away`, walFolder);
  const restarted = await startDatabaseProcess(env);
  const check = `select 1 / count(*) from "ServerProcess" where "id" = 'acknowledged'`;
  expect(await restarted.run(check)).toBe('done');
});
