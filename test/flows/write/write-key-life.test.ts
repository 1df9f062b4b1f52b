/** A creation whose outcome is not known is repeated while the provider knows its key: the sandbox's for a day. */
import { beforeEach, expect, test } from 'vitest';
import { claimWrite } from '../../../src/domain/operation/write/task.ts';
import { runWrite } from '../../../src/domain/operation/write/write-run.ts';
import { sharedApp } from '../../support/app.ts';
import { contact, createWriter } from '../../support/scenes/writes.ts';

const HOUR_MS = 3_600_000;
const pathPrefix = '/objects/contacts';

// Nothing takes writes up by itself: each attempt is the test's.
let aheadMs = 0;
const app = await sharedApp({ now: () => new Date(Date.now() + aheadMs) });
const { sandbox, services } = app.app;

beforeEach(() => {
  sandbox.faults.clear();
});

/** A creation that was accepted, and may be tried again for 48 hours. */
async function accepted() {
  const writer = await createWriter(app);
  const record = contact();
  const { operationId } = await writer.write({
    mode: 'ASYNCHRONOUS',
    record,
    retryPolicy: { deadlineHours: 48 },
  });
  const key = { projectId: writer.projectId, id: operationId };
  return {
    key,
    attempt: () => runWrite(services, key),
    ended: () => writer.ended(operationId),
    made: () => sandbox.records('contacts').filter(({ email }) => email === record.email).length,
  };
}

const UNKNOWN = { status: 'FAILURE', result: expect.stringContaining('The outcome is unknown') };

test('within its life, the same key is sent again', async () => {
  const write = await accepted();
  sandbox.faults.set({ drop: 'after', pathPrefix });
  await write.attempt();
  aheadMs += 22 * HOUR_MS;
  await write.attempt();
  expect(await write.ended()).toMatchObject({ status: 'SUCCESS' });
  expect(write.made()).toBe(1);
});

test('its life begins with the first attempt, however many came after it', async () => {
  const write = await accepted();
  sandbox.faults.set({ drop: 'after', pathPrefix, times: 2 });
  await write.attempt();
  aheadMs += 22 * HOUR_MS;
  await write.attempt();
  aheadMs += 3 * HOUR_MS;
  await write.attempt();
  expect(await write.ended()).toMatchObject({
    ...UNKNOWN,
    metadata: { retry: { attempts: 2 } },
  });
  expect(write.made()).toBe(1);
});

test('a process that was killed amid a creation, and is started after that life, does not repeat it', async () => {
  const write = await accepted();
  await claimWrite(services.database, write.key, services.now());
  await services.database.prisma.$executeRaw`
    update "WriteTask" set "leaseExpireTime" = clock_timestamp()
    where "projectId" = ${write.key.projectId} and "id" = ${write.key.id}`;
  aheadMs += 25 * HOUR_MS;
  await write.attempt();
  expect(await write.ended()).toMatchObject(UNKNOWN);
  expect(write.made()).toBe(0);
});

test('an attempt that is known to have done nothing begins no life', async () => {
  const write = await accepted();
  sandbox.faults.set({ status: 429, retryAfterSeconds: 1, pathPrefix });
  await write.attempt();
  aheadMs += 22 * HOUR_MS;
  sandbox.faults.set({ drop: 'after', pathPrefix });
  await write.attempt();
  aheadMs += 3 * HOUR_MS;
  await write.attempt();
  expect(await write.ended()).toMatchObject({ status: 'SUCCESS' });
  expect(write.made()).toBe(1);
});

test('of a write that an older version left in doubt, the life begins when it was accepted', async () => {
  const write = await accepted();
  sandbox.faults.set({ drop: 'after', pathPrefix });
  await write.attempt();
  await services.database.prisma.$executeRaw`
    update "WriteTask" set "uncertainSince" = null, "createTime" = ${services.now()}
    where "projectId" = ${write.key.projectId} and "id" = ${write.key.id}`;
  aheadMs += 25 * HOUR_MS;
  await write.attempt();
  expect(await write.ended()).toMatchObject(UNKNOWN);
  expect(write.made()).toBe(1);
});
