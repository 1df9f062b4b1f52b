import { expect, test } from 'vitest';
import { expectEachWriteOnce, killWhileWriting, WRITE_COUNT } from '../fixtures/killed-writers.ts';
import { KILL_COUNT } from '../fixtures/settings.ts';
import { prepareOnPostgres } from '../fixtures/write-fixture.ts';

const MINUTE_MS = 60_000;

test(`executes each of ${WRITE_COUNT} accepted writes once despite ${KILL_COUNT} SIGKILLs (PostgreSQL)`, async () => {
  await expectEachWriteOnce(await prepareOnPostgres());
});

test('repeats no write, and reports unknown outcomes, if the provider has no idempotency keys', async () => {
  const fixture = await prepareOnPostgres();
  const { prisma } = fixture.database;
  fixture.env.NO_IDEMPOTENCY_KEYS = '1';
  const server = await killWhileWriting(fixture);
  const countOpen = () => prisma.operation.count({ where: { status: 'IN_PROGRESS' } });
  await expect.poll(countOpen, { timeout: 5 * MINUTE_MS, interval: 250 }).toBe(0);
  const failedOperations = await prisma.operation.findMany({ where: { status: 'FAILURE' } });
  for (const { result } of failedOperations) expect(result).toContain('The outcome is unknown');
  expect(failedOperations.length).toBeGreaterThan(0);
  const names = fixture.sandbox.listRecords('deals').map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThanOrEqual(WRITE_COUNT - failedOperations.length);
  await server.kill();
});
