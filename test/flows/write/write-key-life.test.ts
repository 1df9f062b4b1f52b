/**
 * A creation with an unknown outcome is repeated only while the provider stores its idempotency key. The sandbox
 * stores a key for a day.
 */
import { beforeEach, expect, test } from 'vitest';
import { writes } from '../../../src/domain/data/operation/write/write-run.ts';
import { getSharedApp } from '../../support/app.ts';
import { createContact, createWriter } from '../../support/fixtures/writes.ts';
import { claimDueRow, runDueRows } from '../../support/work/due-work.ts';

const HOUR_MS = 3_600_000;
const pathPrefix = '/objects/contacts';

// No worker runs writes. Tests start each attempt.
let aheadMs = 0;
const app = await getSharedApp({ now: () => new Date(Date.now() + aheadMs) });
const { sandbox, services } = app.app;

beforeEach(() => {
  sandbox.faults.clear();
});

/** Enqueues a creation that may be retried for 48 hours. */
async function enqueueCreation() {
  const writer = await createWriter(app);
  const record = createContact();
  const { operationId } = await writer.write({
    mode: 'ASYNCHRONOUS',
    record,
    retryPolicy: { deadlineHours: 48 },
  });
  const key = { projectId: writer.projectId, id: operationId };
  return {
    key,
    run: () => runDueRows(services, writes, { projectId: key.projectId }),
    waitForEnd: () => writer.waitForOperation(operationId),
    countContacts: () =>
      sandbox.listRecords('contacts').filter(({ email }) => email === record.email).length,
  };
}

const UNKNOWN_OUTCOME = {
  status: 'FAILURE',
  result: expect.stringContaining('The outcome is unknown'),
};

test("repeats a creation with its key during the key's lifetime", async () => {
  const write = await enqueueCreation();
  sandbox.faults.set({ drop: 'after', pathPrefix });
  await write.run();
  aheadMs += 22 * HOUR_MS;
  await write.run();
  expect(await write.waitForEnd()).toMatchObject({ status: 'SUCCESS' });
  expect(write.countContacts()).toBe(1);
});

test('starts the lifetime of a key with the first attempt', async () => {
  const write = await enqueueCreation();
  sandbox.faults.set({ drop: 'after', pathPrefix, times: 2 });
  await write.run();
  aheadMs += 22 * HOUR_MS;
  await write.run();
  aheadMs += 3 * HOUR_MS;
  await write.run();
  expect(await write.waitForEnd()).toMatchObject({
    ...UNKNOWN_OUTCOME,
    metadata: { retry: { attempts: 2 } },
  });
  expect(write.countContacts()).toBe(1);
});

test("does not repeat a creation of a killed process after the key's lifetime", async () => {
  const write = await enqueueCreation();
  await claimDueRow(services, writes, write.key.projectId);
  await services.database.prisma.$executeRaw`
    update "WriteTask" set "leaseExpireTime" = clock_timestamp()
    where "projectId" = ${write.key.projectId} and "id" = ${write.key.id}`;
  aheadMs += 25 * HOUR_MS;
  await write.run();
  expect(await write.waitForEnd()).toMatchObject(UNKNOWN_OUTCOME);
  expect(write.countContacts()).toBe(0);
});

test('does not start the lifetime with an attempt that the provider refused', async () => {
  const write = await enqueueCreation();
  sandbox.faults.set({ status: 429, retryAfterSeconds: 1, pathPrefix });
  await write.run();
  aheadMs += 22 * HOUR_MS;
  sandbox.faults.set({ drop: 'after', pathPrefix });
  await write.run();
  aheadMs += 3 * HOUR_MS;
  await write.run();
  expect(await write.waitForEnd()).toMatchObject({ status: 'SUCCESS' });
  expect(write.countContacts()).toBe(1);
});

test('starts the lifetime when the write was accepted if an older version made the uncertain attempt', async () => {
  const write = await enqueueCreation();
  sandbox.faults.set({ drop: 'after', pathPrefix });
  await write.run();
  await services.database.prisma.$executeRaw`
    update "WriteTask" set "uncertainSince" = null, "createTime" = ${services.now()}
    where "projectId" = ${write.key.projectId} and "id" = ${write.key.id}`;
  aheadMs += 25 * HOUR_MS;
  await write.run();
  expect(await write.waitForEnd()).toMatchObject(UNKNOWN_OUTCOME);
  expect(write.countContacts()).toBe(1);
});
