import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { openDatabase } from '../../src/database/open/open-database.ts';
import type { Services } from '../../src/domain/access/call.ts';
import { reads } from '../../src/domain/data/operation/read/continue-read.ts';
import { writes } from '../../src/domain/data/operation/write/write-run.ts';
import { runWork } from '../../src/jobs/run-work.ts';
import { createLog } from '../../src/kernel/log.ts';
import { readConfig } from '../../src/settings/config.ts';
import { getSharedApp, onCitus, onPostgres } from '../support/app.ts';
import { ENCRYPTION_KEY } from '../support/process/encryption-key.ts';
import { claimDueRows } from '../support/work/due-work.ts';

const { services } = (await getSharedApp()).app;

// On Citus, upkeep runs once for each shard group.
test.skipIf(onCitus)('starts upkeep in its order, with a delay in between', async () => {
  const startedNames: string[] = [];
  const upkeep = ['first', 'second', 'third'].map((name) => ({
    name,
    intervalMs: 60_000,
    run: async () => void startedNames.push(name),
  }));
  await using _workers = await runWork(services, { leased: [], upkeep });
  expect(startedNames).toEqual(['first']);
  await expect.poll(() => startedNames).toEqual(['first', 'second', 'third']);
});

test('starts no further upkeep after a stop', async () => {
  const startedNames: string[] = [];
  const createUpkeep = (name: string) => ({
    name,
    intervalMs: 1,
    run: async () => void startedNames.push(name),
  });
  const workers = await runWork(services, {
    leased: [],
    upkeep: [createUpkeep('first'), createUpkeep('second')],
  });
  await workers[Symbol.asyncDispose]();
  expect(startedNames).not.toContain('second');
});

test.runIf(onPostgres && !onCitus)(
  'ends a hanging run at its time limit, without delaying other upkeep',
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
      await claimDueRows(sweepServices, writes).catch(() => {
        hanging.failed += 1;
      });
    };
    const runOther = async (sweepServices: Services) => {
      await claimDueRows(sweepServices, reads);
      otherRuns += 1;
    };
    const upkeep = [
      { name: 'hangs', intervalMs: 10, run: runHanging },
      { name: 'other', intervalMs: 10, run: runOther },
    ];
    await using _workers = await runWork({ ...services, database, log }, { leased: [], upkeep });
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
