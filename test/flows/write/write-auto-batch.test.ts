import { afterAll, expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import {
  createContact,
  createWriter,
  startWriteJobs,
  type Writer,
} from '../../support/fixtures/writes.ts';

const MINUTE_MS = 60_000;
const WAITING = { timeout: 20_000, interval: 20 };

let aheadMs = 0;
const app = await getSharedApp({ now: () => new Date(Date.now() + aheadMs) });
const { sandbox, services } = app.app;
const { prisma } = services.database;
const workers = await startWriteJobs(app);
afterAll(() => workers[Symbol.asyncDispose]());

const collect = async (writer: Writer, overrides: object = {}): Promise<string> => {
  const autoBatchPolicy = { maxDelayMinutes: 5 };
  const input = { mode: 'ASYNCHRONOUS', autoBatchPolicy, record: createContact(), ...overrides };
  return (await writer.write(input)).operationId;
};

const listTasks = ({ installationId }: Writer) =>
  prisma.writeTask.findMany({ where: { installationId }, orderBy: { id: 'asc' } });

test('collects single writes until the first has waited for its delay, with an outcome for each', async () => {
  const writer = await createWriter(app);
  const record = createContact();
  const first = await collect(writer, { record });
  const refused = await collect(writer, { record: { lastname: 'No email' } });
  aheadMs += 4 * MINUTE_MS;
  const last = await collect(writer);
  expect(await listTasks(writer)).toMatchObject([
    { id: first, recordCount: 3, attempts: 0, openGroup: expect.any(String) },
  ]);
  aheadMs += 2 * MINUTE_MS;
  expect(await writer.waitForOperation(first)).toMatchObject({
    status: 'SUCCESS',
    result: expect.stringMatching(/^\[contacts\] Record \S+ created$/),
  });
  expect(await writer.waitForOperation(refused)).toMatchObject({
    status: 'FAILURE',
    result: expect.stringContaining('Error writing to provider'),
  });
  expect(await writer.waitForOperation(last)).toMatchObject({ status: 'SUCCESS' });
  expect(await listTasks(writer)).toMatchObject([{ attempts: 1, openGroup: null }]);
  expect(sandbox.records('contacts')).toMatchObject([record, {}]);
});

test('writes the batch at the earliest deadline of its records', async () => {
  const writer = await createWriter(app);
  const patient = await collect(writer, { autoBatchPolicy: { maxDelayMinutes: 60 } });
  const urgent = await collect(writer, {
    autoBatchPolicy: { maxDelayMinutes: 1, retryDeadlineHours: 48 },
  });
  const [task] = await listTasks(writer);
  const retryHours = (Number(task?.deadlineTime) - Number(task?.dueTime)) / (60 * MINUTE_MS);
  expect(retryHours).toBeCloseTo(48, 2);
  aheadMs += 2 * MINUTE_MS;
  expect(await writer.waitForOperation(urgent)).toMatchObject({ status: 'SUCCESS' });
  expect(await writer.waitForOperation(patient)).toMatchObject({ status: 'SUCCESS' });
});

test('writes a full batch of a hundred records immediately and starts another', async () => {
  const writer = await createWriter(app);
  const ids = await Promise.all(Array.from({ length: 101 }, () => collect(writer)));
  const full = (await listTasks(writer)).find(({ recordCount }) => recordCount === 100);
  const entries = await prisma.writeEntry.findMany({ where: { taskId: full?.id } });
  expect(new Set(entries.map(({ position }) => position)).size).toBe(100);
  for (const { operationId } of entries) {
    expect(await writer.waitForOperation(operationId)).toMatchObject({ status: 'SUCCESS' });
  }
  const [waiting] = ids.filter((id) => !entries.some(({ operationId }) => operationId === id));
  expect(await prisma.writeTask.findFirst({ where: { id: waiting } })).toMatchObject({
    recordCount: 1,
    attempts: 0,
    openGroup: expect.any(String),
  });
});

test('collects records of other objects, types, headers and installations separately', async () => {
  const [writer, other] = [await createWriter(app), await createWriter(app)];
  await collect(writer);
  await collect(writer, { headers: [{ key: 'x-sandbox-trace', value: '1' }] });
  await collect(writer, { objectName: 'companies', record: { name: 'Acme' } });
  await collect(writer, { type: 'UPDATE', record: { id: 'c1', firstname: 'Ann' } });
  await collect(other);
  expect(await listTasks(writer)).toHaveLength(4);
  expect(await listTasks(other)).toHaveLength(1);
});

test('writes a retried batch once', async () => {
  const writer = await createWriter(app);
  const records = [createContact(), createContact()];
  sandbox.faults.set({ drop: 'after', pathPrefix: '/objects/contacts/batch' });
  const ids = [];
  for (const record of records) ids.push(await collect(writer, { record }));
  aheadMs += 5 * MINUTE_MS;
  await expect
    .poll(() => listTasks(writer), WAITING)
    .toMatchObject([{ attempts: 1, leaseToken: null }]);
  aheadMs += MINUTE_MS;
  for (const id of ids) {
    expect(await writer.waitForOperation(id)).toMatchObject({
      status: 'SUCCESS',
      metadata: { retry: { attempts: 2 } },
    });
  }
  const emails = sandbox.records('contacts').map(({ email }) => email);
  for (const { email } of records)
    expect(emails.filter((address) => address === email)).toHaveLength(1);
});
