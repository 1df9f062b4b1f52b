/** Leased rows are claimed when they are due, held while they run, and retried after errors. */
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { LEASE, LeaseLost, RELEASED_LEASE } from '../../src/database/leases/lease.ts';
import { LeasedRows } from '../../src/database/leases/leased-rows.ts';
import type { Services } from '../../src/domain/access/call.ts';
import { type LeasedWork, leasedWork } from '../../src/jobs/leased-work.ts';
import { runWork } from '../../src/jobs/run-work.ts';
import { notifyWorkers } from '../../src/jobs/workers.ts';
import { newId } from '../../src/kernel/ids.ts';
import { createLog } from '../../src/kernel/log.ts';
import { MINUTE_MS } from '../../src/work/durations.ts';
import { getSharedApp } from '../support/app.ts';

const app = await getSharedApp();
const { services } = app.app;
const { prisma } = services.database;

const LEASES = new LeasedRows({
  table: 'Erasure',
  key: ['projectId', 'id'],
  leaseMs: 10_000,
  columns: LEASE,
});

interface TestRow {
  projectId: string;
  id: string;
  leaseToken: string | null;
}

interface Limits {
  perProcess?: number;
  perShare?: number;
}

beforeEach(async () => {
  await prisma.erasure.deleteMany();
});

/** Creates work on rows of the table Erasure, whose share is that of the project. It records each run. */
function createWork(run: (row: TestRow) => Promise<void> = endRow, limits: Limits = {}) {
  const runs: string[] = [];
  const work = leasedWork({
    kind: `test_${newId('log')}`,
    leases: LEASES,
    columns: ['projectId', 'id', 'leaseToken'],
    perProcess: 4,
    shareColumn: 'projectId',
    ...limits,
    run: async (_services, row: TestRow) => {
      runs.push(row.id);
      await run(row);
    },
  });
  return { work, runs };
}

/** Stores that the row has ended: it is never due again. */
async function endRow(row: TestRow): Promise<void> {
  await LEASES.updateClaimed(prisma.erasure, row, {
    dueTime: new Date('2100-01-01'),
    ...RELEASED_LEASE,
  });
}

async function start(work: LeasedWork<TestRow, Services>, log = services.log) {
  const workers = await runWork({ ...services, log }, { leased: [work], upkeep: [] });
  onTestFinished(() => workers[Symbol.asyncDispose]());
  return workers;
}

/** Stores rows of a project. They are due now. */
async function addRows(projectId: string, ids: readonly string[], dueTime = new Date()) {
  await prisma.erasure.createMany({ data: ids.map((id) => ({ projectId, id, dueTime })) });
}

async function createProject(): Promise<string> {
  return (await app.createTenant()).projectId;
}

test('runs each due row once, and rows that become due after a notification', async () => {
  const projectId = await createProject();
  await addRows(projectId, ['early']);
  await addRows(projectId, ['later'], new Date(Date.now() + MINUTE_MS));
  const { work, runs } = createWork();
  await start(work);
  await expect.poll(() => runs).toEqual(['early']);
  await addRows(projectId, ['notified']);
  notifyWorkers(services.database, work);
  await expect.poll(() => runs).toEqual(['early', 'notified']);
});

test('finds a due row without a notification', async () => {
  const projectId = await createProject();
  const { work, runs } = createWork();
  await start(work);
  await addRows(projectId, ['unnoticed'], new Date(Date.now() + 500));
  await expect.poll(() => runs).toEqual(['unnoticed']);
});

test('leaves slots to other shares, whose rows are behind many rows of a full share', async () => {
  const [greedy, quiet] = [await createProject(), await createProject()];
  const ids = Array.from({ length: 40 }, (_, index) => `slow${index}`);
  await addRows(greedy, ids, new Date(Date.now() - MINUTE_MS));
  await addRows(quiet, ['quiet']);
  const released = Promise.withResolvers<void>();
  const run = async (row: TestRow) => {
    if (row.projectId === greedy) await released.promise;
    await endRow(row);
  };
  const { work, runs } = createWork(run, { perProcess: 4, perShare: 3 });
  await start(work);
  await expect.poll(() => runs).toContain('quiet');
  expect(runs).toHaveLength(4);
  released.resolve();
  await expect.poll(() => new Set(runs).size).toBe(41);
  expect(runs).toHaveLength(41);
});

test('releases a row after an error, and logs the first and each tenth error', async () => {
  const lines: string[] = [];
  const log = createLog('error', { write: (line: string) => void lines.push(line) });
  const projectId = await createProject();
  await addRows(projectId, ['failing']);
  let failures = 0;
  const { work, runs } = createWork(async (row) => {
    failures += 1;
    if (failures <= 11) throw new Error('not this time');
    await endRow(row);
  });
  const release: LeasedWork<TestRow, Services>['release'] = ({ database }, row) =>
    LEASES.release(database.prisma, row, new Date(0));
  await start({ ...work, release }, log);
  await expect
    .poll(
      () => {
        notifyWorkers(services.database, work);
        return runs.length;
      },
      { interval: 20 },
    )
    .toBe(12);
  const logged = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'work.failed');
  expect(logged.map(({ errors }) => errors)).toEqual([1, 10]);
});

test('schedules a failed row later, and does not run it until then', async () => {
  const projectId = await createProject();
  await addRows(projectId, ['failing']);
  const { work, runs } = createWork(async () => {
    throw new Error('not this time');
  });
  await start(work, createLog('silent'));
  const where = { projectId, id: 'failing' };
  await expect.poll(() => runs.length).toBeGreaterThan(1);
  await expect
    .poll(async () => (await prisma.erasure.findFirstOrThrow({ where })).leaseToken)
    .toBeNull();
  const { dueTime } = await prisma.erasure.findFirstOrThrow({ where });
  expect(dueTime.getTime()).toBeGreaterThan(Date.now());
});

test('ignores the late result of a row that another process has taken over', async () => {
  const projectId = await createProject();
  await addRows(projectId, ['frozen']);
  const released = Promise.withResolvers<void>();
  let lateError: unknown;
  const { work, runs } = createWork(async (row) => {
    if (runs.length > 1) return endRow(row);
    await released.promise;
    await endRow(row).catch((error: unknown) => {
      lateError = error;
      throw error;
    });
  });
  await start(work);
  await expect.poll(() => runs.length).toBe(1);
  const where = { projectId, id: 'frozen' };
  await prisma.erasure.updateMany({ where, data: { leaseExpireTime: new Date(0) } });
  notifyWorkers(services.database, work);
  await expect.poll(() => runs.length).toBe(2);
  released.resolve();
  await expect.poll(() => lateError).toBeInstanceOf(LeaseLost);
});

test('finishes running work on stop, and claims nothing more', async () => {
  const projectId = await createProject();
  await addRows(projectId, ['begun']);
  const released = Promise.withResolvers<void>();
  let isFinished = false;
  const { work, runs } = createWork(async (row) => {
    await released.promise;
    await endRow(row);
    isFinished = true;
  });
  const workers = await runWork(services, { leased: [work], upkeep: [] });
  await expect.poll(() => runs).toEqual(['begun']);
  const stopped = workers[Symbol.asyncDispose]();
  await addRows(projectId, ['too late']);
  notifyWorkers(services.database, work);
  released.resolve();
  await stopped;
  expect(isFinished).toBe(true);
  expect(runs).toEqual(['begun']);
});

test('takes a slot for a row that this process stores, unless its share is full', async () => {
  const projectId = await createProject();
  const { work } = createWork(endRow, { perProcess: 4, perShare: 1 });
  const takeSlot = (share: string) => services.workers.takeSlot(work, { projectId, share });
  expect(takeSlot('a')).toBeNull();
  await start(work);
  const slot = takeSlot('a');
  expect(slot).not.toBeNull();
  expect(takeSlot('a')).toBeNull();
  takeSlot('b')?.[Symbol.dispose]();
  slot?.[Symbol.dispose]();
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  takeSlot('a')?.start({ projectId, id: 'local', leaseToken: null }, () => ended);
  expect(takeSlot('a')).toBeNull();
  end();
  await expect.poll(() => takeSlot('a')).not.toBeNull();
});

test('repeats upkeep, even after a failure', async () => {
  const ranAgain = Promise.withResolvers<void>();
  let runs = 0;
  const run = async () => {
    runs += 1;
    if (runs === 1) throw new Error('not this time');
    ranAgain.resolve();
  };
  await using _workers = await runWork(services, {
    leased: [],
    upkeep: [{ name: 'test', intervalMs: 1, run }],
  });
  await ranAgain.promise;
});
