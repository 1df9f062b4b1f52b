import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createLog } from '../../src/kernel/log.ts';
import { NO_METERS } from '../../src/kernel/meters.ts';
import { startWork } from '../../src/start/start-work.ts';
import { createTestApp, createTestDatabase, onCitus } from '../support/app.ts';

const OBSERVATION_MS = 8_000;
/** On Citus, workers poll each server. */
const SERVER_COUNT = onCitus ? 2 : 1;
/** Statements per second. Includes those that poll for work, check connections and read the clock. */
const IDLE_RATE_MAX = 1.5 * SERVER_COUNT;

test('runs few statements while the process is idle', async () => {
  let statementCount = 0;
  const statementEnded = () => {
    statementCount += 1;
  };
  const meters = { ...NO_METERS, isOn: true, statementEnded };
  await using app = await createTestApp({
    database: await createTestDatabase(createLog('silent'), meters),
  });
  await using _work = await startWork(app.app.services);
  /** Returns the statements per second. On a busy machine, the delay takes longer. */
  const measureRate = async (ms: number) => {
    const [countBefore, startMs] = [statementCount, performance.now()];
    await delay(ms);
    return (1_000 * (statementCount - countBefore)) / (performance.now() - startMs);
  };
  // Each sweep runs once at the start.
  await expect.poll(() => measureRate(1_000), { interval: 0 }).toBeLessThan(4);
  expect(statementCount).toBeGreaterThan(20);
  expect(await measureRate(OBSERVATION_MS)).toBeLessThanOrEqual(IDLE_RATE_MAX);
});
