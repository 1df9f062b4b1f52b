import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createLog } from '../../src/log.ts';
import { NO_METERS } from '../../src/meters.ts';
import { startWork } from '../../src/start-work.ts';
import { createTestApp, createTestDatabase, onCitus } from '../support/app.ts';

const OBSERVATION_MS = 8_000;
/** On Citus, workers poll each server. */
const SERVER_COUNT = onCitus ? 2 : 1;
/** Includes statements that poll for work, check connections and read the clock. */
const STATEMENTS_MAX = 12 * SERVER_COUNT;

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
  const countStatements = async (ms: number) => {
    const countBefore = statementCount;
    await delay(ms);
    return statementCount - countBefore;
  };
  // Each sweep runs once at the start.
  await expect.poll(() => countStatements(1_000), { interval: 0 }).toBeLessThan(4);
  expect(statementCount).toBeGreaterThan(20);
  expect(await countStatements(OBSERVATION_MS)).toBeLessThanOrEqual(STATEMENTS_MAX);
});
