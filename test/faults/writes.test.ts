import { expect, test } from 'vitest';
import {
  prepareEmbedded,
  prepareOnPostgres,
  type Scene,
  type Server,
  startServer,
} from './scenes/write-scene.ts';

/** FAULTS_SHORT=1 is the short form; FAULT_SEED gives other moments. */
const SHORT = process.env.FAULTS_SHORT === '1';
const WRITES = SHORT ? 300 : 2_000;
const KILLS = SHORT ? 4 : 20;
const SEED = Number(process.env.FAULT_SEED ?? 1);
/** Calls at the same time. */
const CALLERS = 8;
/** The sandbox has done its work so long before it answers: what a kill cuts off has happened. */
const ANSWER_DELAY_MS = 30;
const MINUTE_MS = 60_000;

const WRITE = `mutation ($input: WriteRecordsInput!) {
  writeRecords(input: $input) { operationId }
}`;
const COUNTS = `query ($idOrName: String!) {
  project(idOrName: $idOrName) {
    open: operations(first: 1, status: IN_PROGRESS) { totalCount }
    succeeded: operations(first: 1, status: SUCCESS) { totalCount }
    all: operations(first: 1) { totalCount }
  }
}`;

/** The same moments for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) / 2 ** 24;
  };
}

/** How many writes are accepted when each kill comes. */
function moments(): number[] {
  const random = randomOf(SEED);
  return Array.from({ length: KILLS }, () => Math.ceil(random() * WRITES * 0.95)).sort(
    (a, b) => a - b,
  );
}

async function counts({ client }: Server, { projectIdOrName: idOrName }: Scene) {
  const { project } = await client.query(COUNTS, { idOrName });
  return {
    open: project.open.totalCount,
    succeeded: project.succeeded.totalCount,
    all: project.all.totalCount,
  };
}

/** Until the server has accepted it: a call that is cut off is repeated under the same key. */
async function accept(server: () => Promise<Server>, variables: { input: object }) {
  for (;;) {
    const { client } = await server();
    const answer = await client.request(WRITE, variables).catch(() => null);
    if (answer?.data?.writeRecords) return answer.data.writeRecords.operationId as string;
  }
}

async function killWhileWriting(scene: Scene): Promise<Server> {
  scene.sandbox.faults.set({ delayMs: ANSWER_DELAY_MS, times: 1_000_000, method: 'POST' });
  let server = startServer(scene);
  const kills = moments();
  let killing = Promise.resolve();
  let accepted = 0;
  let next = 0;
  const call = async () => {
    while (next < WRITES) {
      const name = `deal ${next}`;
      next += 1;
      await accept(() => server, scene.input(name, { idempotencyKey: name }));
      accepted += 1;
      if (accepted < (kills[0] ?? WRITES + 1)) continue;
      kills.shift();
      killing = killing.then(async () => {
        const old = await server;
        const dead = old.kill();
        server = dead.then(() => startServer(scene));
        await server;
      });
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, call));
  await killing;
  expect(kills).toEqual([]);
  return server;
}

async function expectEachOnce(scene: Scene): Promise<void> {
  const server = await killWhileWriting(scene);
  const open = async () => (await counts(server, scene)).open;
  await expect.poll(open, { timeout: 5 * MINUTE_MS, interval: 250 }).toBe(0);
  expect(await counts(server, scene)).toEqual({ open: 0, succeeded: WRITES, all: WRITES });
  const names = scene.sandbox.records('deals').map(({ name }) => name);
  expect(names).toHaveLength(WRITES);
  expect(new Set(names).size).toBe(WRITES);
  await server.kill();
}

test(`${WRITES} accepted writes are done once each over ${KILLS} SIGKILLs (PostgreSQL)`, async () => {
  await expectEachOnce(await prepareOnPostgres());
});

test(`${WRITES} accepted writes are done once each over ${KILLS} SIGKILLs (embedded)`, async () => {
  await expectEachOnce(await prepareEmbedded());
});

test('without a key that the provider knows, nothing is written twice, and what is in doubt is told', async () => {
  const scene = await prepareOnPostgres();
  const { prisma } = scene.database;
  scene.env.WITHOUT_PROVIDER_KEYS = '1';
  const server = await killWhileWriting(scene);
  const open = () => prisma.operation.count({ where: { status: 'IN_PROGRESS' } });
  await expect.poll(open, { timeout: 5 * MINUTE_MS, interval: 250 }).toBe(0);
  const failed = await prisma.operation.findMany({ where: { status: 'FAILURE' } });
  for (const { result } of failed) expect(result).toContain('The outcome is unknown');
  expect(failed.length).toBeGreaterThan(0);
  const names = scene.sandbox.records('deals').map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThanOrEqual(WRITES - failed.length);
  await server.kill();
});

test('single writes to three servers are collected in batches of a hundred at most', async () => {
  const scene = await prepareOnPostgres();
  const { prisma } = scene.database;
  const servers = await Promise.all([1, 2, 3].map(() => startServer(scene)));
  const autoBatchPolicy = { maxDelayMinutes: 5 };
  const names = Array.from({ length: 250 }, (_, index) => `deal ${index}`);
  await Promise.all(
    names.map(async (name, index) => {
      const server = servers[index % servers.length] as Server;
      await server.client.query(WRITE, scene.input(name, { autoBatchPolicy }));
    }),
  );
  // The two that go on take over what the first one holds.
  await servers[0]?.kill();
  for (const { child } of servers.slice(1)) child.send(5 * MINUTE_MS);
  const open = () => prisma.operation.count({ where: { status: 'IN_PROGRESS' } });
  await expect.poll(open, { timeout: MINUTE_MS, interval: 250 }).toBe(0);

  const tasks = await prisma.writeTask.findMany();
  expect(tasks.map(({ recordCount }) => recordCount).sort((a, b) => a - b)).toEqual([50, 100, 100]);
  expect(await prisma.operation.count({ where: { status: 'SUCCESS' } })).toBe(250);
  const entries = await prisma.writeEntry.findMany();
  expect(entries.filter(({ outcome }) => outcome !== null)).toHaveLength(250);
  expect(new Set(entries.map(({ operationId }) => operationId)).size).toBe(250);
  const written = scene.sandbox.records('deals').map(({ name }) => name);
  expect(written.toSorted()).toEqual(names.toSorted());
  await Promise.all(servers.slice(1).map((server) => server.kill()));
});
