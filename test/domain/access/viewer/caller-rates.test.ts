import { expect, test } from 'vitest';
import {
  createCallerRates,
  deleteIdleCallers,
} from '../../../../src/domain/access/viewer/admission.ts';
import { getSharedApp } from '../../../support/app.ts';

const app = await getSharedApp();
const { prisma, run } = app.app.services.database;

function createRates(store: 'memory' | 'database', perSecond = 0.001, burst = 3) {
  const config = {
    RATE_LIMIT_PER_SECOND: perSecond,
    RATE_LIMIT_BURST: burst,
    RATE_LIMIT_STORE: store,
  };
  return createCallerRates(config, run);
}

let callerCount = 0;
const createCallerId = () => {
  callerCount += 1;
  return `key_${callerCount}`;
};

test.each([
  'memory',
  'database',
] as const)('permits a burst, and then returns the wait until the next request, in the store %s', async (store) => {
  const rates = createRates(store);
  const callerId = createCallerId();
  expect(rates.policy).toBe('"default";q=3;w=3000');
  for (const remaining of [2, 1, 0]) {
    const result = await rates.spend(callerId, 1);
    expect(result.waitSeconds).toBe(0);
    expect(rates.formatRemaining(result)).toMatch(new RegExp(`^"default";r=${remaining};t=\\d+$`));
  }
  const refusal = await rates.spend(callerId, 1);
  expect(refusal.waitSeconds).toBeGreaterThan(900);
  expect(refusal.waitSeconds).toBeLessThanOrEqual(1_000);
  expect(rates.formatRemaining(refusal)).toMatch(/^"default";r=0;t=(2\d{3}|3000)$/);
  expect((await rates.spend(createCallerId(), 1)).waitSeconds).toBe(0);
});

test('counts concurrent requests of two processes together in the database', async () => {
  const processes = [createRates('database', 0.001, 20), createRates('database', 0.001, 20)];
  const callerId = createCallerId();
  const requests = Array.from({ length: 60 }, (_, index) =>
    processes[index % 2]?.spend(callerId, 1),
  );
  const results = await Promise.all(requests);
  expect(results.filter((result) => result?.waitSeconds === 0)).toHaveLength(20);
});

test("refills the database's tokens with time, up to the burst", async () => {
  const rates = createRates('database', 2, 10);
  const callerId = createCallerId();
  const spendAfter = async (seconds: number) => {
    const refillTime = new Date(Date.now() - seconds * 1_000);
    await prisma.callerRate.upsert({
      where: { callerId },
      create: { callerId, tokens: 0, refillTime },
      update: { tokens: 0, refillTime },
    });
    return (await rates.spend(callerId, 1)).tokens;
  };
  const remaining = await spendAfter(3);
  expect(remaining).toBeGreaterThan(4.9);
  expect(remaining).toBeLessThan(9);
  expect(await spendAfter(60)).toBe(9);
  // A refill time in the future neither removes nor adds tokens.
  expect((await spendAfter(-3_600)) < 1).toBe(true);
});

test('deletes callers without recent requests', async () => {
  const [idle, active] = [createCallerId(), createCallerId()];
  const rates = createRates('database');
  for (const callerId of [idle, active]) await rates.spend(callerId, 1);
  const refillTime = new Date('2020-01-01T00:00:00Z');
  await prisma.callerRate.update({ where: { callerId: idle }, data: { refillTime } });
  await deleteIdleCallers(run, new Date('2021-01-01T00:00:00Z'));
  const keptRates = await prisma.callerRate.findMany({
    where: { callerId: { in: [idle, active] } },
  });
  expect(keptRates.map(({ callerId }) => callerId)).toEqual([active]);
});
