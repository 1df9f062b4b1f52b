/** Writes continue while servers are killed and replaced. */
import { expect } from 'vitest';
import { createRandom, planMoments } from './random.ts';
import { type Scene, type Server, startServer } from './write-scene.ts';

/** FAULTS_SHORT=1 runs the short form. FAULT_SEED changes the moments of the kills. */
const SHORT = process.env.FAULTS_SHORT === '1';
export const WRITES = SHORT ? 100 : 2_000;
export const KILLS = SHORT ? 3 : 20;
const SEED = Number(process.env.FAULT_SEED ?? 1);
/** Number of concurrent callers. */
const CALLERS = 8;
/**
 * The sandbox responds this long after it has written, so that writes which a kill interrupts have happened.
 */
const ANSWER_DELAY_MS = 30;
const MINUTE_MS = 60_000;

export const WRITE = `mutation ($input: WriteRecordsInput!) {
  writeRecords(input: $input) { operationId }
}`;
const COUNTS = `query ($idOrName: String!) {
  project(idOrName: $idOrName) {
    open: operations(first: 1, status: IN_PROGRESS) { totalCount }
    succeeded: operations(first: 1, status: SUCCEEDED) { totalCount }
    all: operations(first: 1) { totalCount }
  }
}`;

async function counts({ client }: Server, { projectIdOrName: idOrName }: Scene) {
  const { project } = await client.query(COUNTS, { idOrName });
  return {
    open: project.open.totalCount,
    succeeded: project.succeeded.totalCount,
    all: project.all.totalCount,
  };
}

/** Repeats an interrupted request with the same idempotency key until the server has accepted it. */
async function accept(server: () => Promise<Server>, variables: { input: object }) {
  for (;;) {
    const { client } = await server();
    const response = await client.request(WRITE, variables).catch(() => null);
    if (response?.data?.writeRecords) return response.data.writeRecords.operationId as string;
  }
}

export async function killWhileWriting(scene: Scene): Promise<Server> {
  scene.sandbox.faults.set({ delayMs: ANSWER_DELAY_MS, times: 1_000_000, method: 'POST' });
  let server = startServer(scene);
  // Numbers of accepted writes at which a server is killed.
  const kills = planMoments(createRandom(SEED), { count: KILLS, most: WRITES });
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

const ACTIVITY = `query ($idOrName: String!, $from: DateTime!) {
  project(idOrName: $idOrName) { activity(from: $from, bucket: MINUTE) {
    operations { status count } records { written }
  } }
}`;

/** Returns the activity of all writes. It is counted separately from the work. */
async function activitySums({ client }: Server, { projectIdOrName: idOrName }: Scene) {
  const from = new Date(Date.now() - 20 * MINUTE_MS);
  const { operations, records } = (await client.query(ACTIVITY, { idOrName, from })).project
    .activity;
  const sum = (counts: number[]) => counts.reduce((all, count) => all + count, 0);
  const of = (status: string) =>
    sum(
      operations
        .filter((operation: { status: string }) => operation.status === status)
        .map((operation: { count: number }) => operation.count),
    );
  return {
    open: of('IN_PROGRESS'),
    succeeded: of('SUCCEEDED'),
    failed: of('FAILED'),
    written: sum(records.map((record: { written: number }) => record.written)),
  };
}

export async function expectEachOnce(scene: Scene): Promise<void> {
  const server = await killWhileWriting(scene);
  const open = async () => (await counts(server, scene)).open;
  await expect.poll(open, { timeout: 5 * MINUTE_MS, interval: 250 }).toBe(0);
  expect(await counts(server, scene)).toEqual({ open: 0, succeeded: WRITES, all: WRITES });
  const sums = { open: 0, succeeded: WRITES, failed: 0, written: WRITES };
  expect(await activitySums(server, scene)).toEqual(sums);
  const names = scene.sandbox.records('deals').map(({ name }) => name);
  expect(names).toHaveLength(WRITES);
  expect(new Set(names).size).toBe(WRITES);
  await server.kill();
}
