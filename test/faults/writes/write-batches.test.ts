import { expect, test } from 'vitest';
import { WRITE_RECORDS } from '../fixtures/killed-writers.ts';
import { IS_SHORT } from '../fixtures/settings.ts';
import { prepareOnPostgres, type Server, startServer } from '../fixtures/write-fixture.ts';

/** Expected sizes of the batches. */
const BATCH_SIZES = IS_SHORT ? [20, 100] : [50, 100, 100];
const WRITE_COUNT = BATCH_SIZES.reduce((sum, size) => sum + size);
const MINUTE_MS = 60_000;

test('collects single writes to three servers into batches of at most 100', async () => {
  const fixture = await prepareOnPostgres();
  const { prisma } = fixture.database;
  const servers = await Promise.all([1, 2, 3].map(() => startServer(fixture)));
  const autoBatchPolicy = { maxDelayMinutes: 5 };
  const names = Array.from({ length: WRITE_COUNT }, (_, index) => `deal ${index}`);
  await Promise.all(
    names.map(async (name, index) => {
      const server = servers[index % servers.length] as Server;
      await server.client.query(WRITE_RECORDS, fixture.createVariables(name, { autoBatchPolicy }));
    }),
  );
  // The other servers take over the work of the killed server.
  await servers[0]?.kill();
  // Advances the servers' clocks, so that the batches are due.
  for (const { child } of servers.slice(1)) child.send(5 * MINUTE_MS);
  const countOpen = () => prisma.operation.count({ where: { status: 'IN_PROGRESS' } });
  await expect.poll(countOpen, { timeout: MINUTE_MS, interval: 250 }).toBe(0);

  const tasks = await prisma.writeTask.findMany();
  const sizes = tasks.map(({ recordCount }) => recordCount).sort((a, b) => a - b);
  expect(sizes).toEqual(BATCH_SIZES);
  expect(await prisma.operation.count({ where: { status: 'SUCCESS' } })).toBe(WRITE_COUNT);
  const writeEntries = await prisma.writeEntry.findMany();
  expect(writeEntries.filter(({ outcome }) => outcome !== null)).toHaveLength(WRITE_COUNT);
  expect(new Set(writeEntries.map(({ operationId }) => operationId)).size).toBe(WRITE_COUNT);
  const writtenNames = fixture.sandbox.listRecords('deals').map(({ name }) => name);
  expect(writtenNames.toSorted()).toEqual(names.toSorted());
  await Promise.all(servers.slice(1).map((server) => server.kill()));
});
