import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { openDatabase } from '../../src/database/database.ts';
import type { Services } from '../../src/domain/call.ts';
import { recoverReads } from '../../src/domain/operation/read/read-run.ts';
import { recoverWrites } from '../../src/domain/operation/write/write-task.ts';
import { startJobs } from '../../src/jobs/job-worker.ts';
import { createLog } from '../../src/log.ts';
import { getSharedApp, onCitus, onPostgres } from '../support/app.ts';
import { ENCRYPTION_KEY } from '../support/process/encryption-key.ts';

const { services } = (await getSharedApp()).app;

// On Citus, each sweep runs once for each shard group.
test.skipIf(onCitus)('starts sweeps in their order, each after the previous sweep', async () => {
  const startedNames: string[] = [];
  const sweeps = ['first', 'second', 'third'].map((name) => ({
    name,
    intervalMs: 60_000,
    run: async () => void startedNames.push(name),
  }));
  await using _workers = await startJobs(services, { handlers: {}, sweeps });
  expect(startedNames).toEqual(['first']);
  await expect.poll(() => startedNames).toEqual(['first', 'second', 'third']);
});

test('starts no further sweep after a stop', async () => {
  const startedNames: string[] = [];
  const createSweep = (name: string) => ({
    name,
    intervalMs: 1,
    run: async () => void startedNames.push(name),
  });
  const workers = await startJobs(services, {
    handlers: {},
    sweeps: [createSweep('first'), createSweep('second')],
  });
  await workers[Symbol.asyncDispose]();
  expect(startedNames).not.toContain('second');
});

test.runIf(onPostgres && !onCitus)(
  'ends a hanging sweep at its time limit, without delaying other sweeps',
  async () => {
    const [{ name }] = await services.database.prisma.$queryRaw<[{ name: string }]>`
      select current_database() as "name"`;
    const url = `${inject('postgres').serverUrl}/${name}`;
    const log = createLog('silent');
    await using database = await openDatabase(
      readConfig({
        DATABASE_URL: url,
        LIMIT_SWEEP_MS: '300',
        ENCRYPTION_KEY,
      }),
      log,
    );
    const locker = new pg.Client({ connectionString: url });
    await locker.connect();
    await locker.query('begin; lock table "WriteTask" in access exclusive mode');
    const hanging = { started: 0, failed: 0 };
    let otherRuns = 0;
    const runHanging = async (sweepServices: Services) => {
      hanging.started += 1;
      await recoverWrites(sweepServices).catch(() => {
        hanging.failed += 1;
      });
    };
    const runOther = async (sweepServices: Services) => {
      await recoverReads(sweepServices);
      otherRuns += 1;
    };
    const sweeps = [
      { name: 'hangs', intervalMs: 10, run: runHanging },
      { name: 'other', intervalMs: 10, run: runOther },
    ];
    await using _workers = await startJobs(
      { ...services, database, log },
      { handlers: {}, sweeps },
    );
    await expect.poll(() => hanging.failed).toBe(2);
    const runsBefore = otherRuns;
    await expect.poll(() => otherRuns).toBeGreaterThan(runsBefore + 3);
    expect(hanging.started - hanging.failed).toBeLessThanOrEqual(1);
    const countBusy = () => database.connections().open - database.connections().idle;
    await expect.poll(countBusy).toBe(0);

    await locker.query('rollback');
    await locker.end();
    await expect.poll(() => hanging.started - hanging.failed).toBeGreaterThan(5);
  },
);
