/** Changes that arrive at the same time share statements. A failing change does not affect others. */
import { expect, onTestFinished, test } from 'vitest';
import type { Database } from '../../../../src/database/open/database.ts';
import type { SharedStatement } from '../../../../src/database/statements/hot/shared-statements.ts';
import { createTestDatabase } from '../../../support/app.ts';
import { recordStatements } from '../../../support/database/statements.ts';

interface Rate {
  callerId: string;
  tokens: number;
  queue?: string;
}

const ADD_RATE: SharedStatement<Rate, { tokens: number }> = {
  getQueue: ({ queue = '' }) => queue,
  getKey: ({ callerId }) => callerId,
  text: `
    insert into "CallerRate" ("callerId", "tokens", "refillTime")
    select "callerId", "tokens", now() from jsonb_to_recordset($1::jsonb) as r("callerId" text, "tokens" float)
    where "tokens" > 0
    returning "callerId" as "key", "tokens"`,
};

async function openTestDatabase(): Promise<Database> {
  const database = await createTestDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  return database;
}

const createRates = (count: number): Rate[] =>
  Array.from({ length: count }, (_, number) => ({ callerId: `c${number}`, tokens: number + 1 }));

test('combines up to 100 changes of a turn of the event loop, and returns the row of each change', async () => {
  const { runShared } = await openTestDatabase();
  const inputs = createRates(250);
  const { result, statements } = await recordStatements(() =>
    Promise.all(inputs.map((rate) => runShared(ADD_RATE, rate))),
  );
  expect(result).toEqual(inputs.map(({ tokens }) => ({ tokens })));
  expect(statements).toHaveLength(3);
});

test('returns null for a change without a row', async () => {
  const { runShared } = await openTestDatabase();
  const [emptyResult, row] = await Promise.all([
    runShared(ADD_RATE, { callerId: 'none', tokens: 0 }),
    runShared(ADD_RATE, { callerId: 'one', tokens: 1 }),
  ]);
  expect([emptyResult, row]).toEqual([null, { tokens: 1 }]);
});

test('rejects only the failing change, and runs later changes', async () => {
  const { runShared, prisma } = await openTestDatabase();
  await runShared(ADD_RATE, { callerId: 'c1', tokens: 1 });
  const outcomes = await Promise.allSettled(
    createRates(5).map((rate) => runShared(ADD_RATE, rate)),
  );
  expect(outcomes.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
    'fulfilled',
  ]);
  await runShared(ADD_RATE, { callerId: 'later', tokens: 1 });
  expect(await prisma.callerRate.count()).toBe(6);
});

test('combines changes that arrive during a statement, separately for each queue', async () => {
  const { runShared } = await openTestDatabase();
  const { statements } = await recordStatements(async () => {
    const firstChange = runShared(ADD_RATE, { callerId: 'first', tokens: 1 });
    await new Promise(setImmediate);
    const laterChanges = createRates(20).map((rate) => runShared(ADD_RATE, rate));
    const otherQueueChange = runShared(ADD_RATE, {
      callerId: 'other',
      tokens: 1,
      queue: 'other',
    });
    await Promise.all([firstChange, otherQueueChange, ...laterChanges]);
  });
  const sizes = statements.map(({ values }) => JSON.parse(String(values[0])).length);
  expect(sizes.sort((a, b) => a - b)).toEqual([1, 1, 20]);
});
