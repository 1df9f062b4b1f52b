import { afterAll, expect, test } from 'vitest';
import { writes } from '../../../src/domain/data/operation/write/write-run.ts';
import { notifyWorkers } from '../../../src/jobs/workers.ts';
import { getSharedApp } from '../../support/app.ts';
import {
  createContact,
  createWriter,
  startWriteJobs,
  type Writer,
} from '../../support/fixtures/writes.ts';

const MINUTE_MS = 60_000;
const POLLING = { interval: 20 };

let aheadMs = 0;
const app = await getSharedApp({ now: () => new Date(Date.now() + aheadMs) });
const { sandbox, services } = app.app;
const { prisma } = services.database;
const workers = await startWriteJobs(app);
afterAll(() => workers[Symbol.asyncDispose]());

/** Moves the clock, and wakes the workers, which may wait for the time that was due before. */
function passMinutes(minutes: number): void {
  aheadMs += minutes * MINUTE_MS;
  notifyWorkers(services.database, writes);
}

/** Writes a record with an auto-batch policy. Returns the ID of its operation. */
const collectWrite = async (writer: Writer, overrides: object = {}): Promise<string> => {
  const autoBatchPolicy = { maxDelayMinutes: 5 };
  const input = { mode: 'ASYNCHRONOUS', autoBatchPolicy, record: createContact(), ...overrides };
  return (await writer.write(input)).operationId;
};

const listTasks = ({ installationId }: Writer) =>
  prisma.writeTask.findMany({ where: { installationId }, orderBy: { id: 'asc' } });

test('collects single writes until the delay of the first one has passed, and reports the outcome of each', async () => {
  const writer = await createWriter(app);
  const record = createContact();
  const firstId = await collectWrite(writer, { record });
  const refusedId = await collectWrite(writer, { record: { lastname: 'No email' } });
  passMinutes(4);
  const lastId = await collectWrite(writer);
  expect(await listTasks(writer)).toMatchObject([
    { id: firstId, recordCount: 3, attempts: 0, batchKey: expect.any(String) },
  ]);
  passMinutes(2);
  expect(await writer.waitForOperation(firstId)).toMatchObject({
    status: 'SUCCESS',
    result: expect.stringMatching(/^\[contacts\] Record \S+ created$/),
  });
  expect(await writer.waitForOperation(refusedId)).toMatchObject({
    status: 'FAILURE',
    result: expect.stringContaining('Error writing to provider'),
  });
  expect(await writer.waitForOperation(lastId)).toMatchObject({ status: 'SUCCESS' });
  expect(await listTasks(writer)).toMatchObject([{ attempts: 1, batchKey: null }]);
  expect(sandbox.listRecords('contacts')).toContainEqual(expect.objectContaining(record));
});

test('writes a batch when the shortest delay of its records has passed', async () => {
  const writer = await createWriter(app);
  const patientId = await collectWrite(writer, { autoBatchPolicy: { maxDelayMinutes: 60 } });
  const urgentId = await collectWrite(writer, {
    autoBatchPolicy: { maxDelayMinutes: 1, retryDeadlineHours: 48 },
  });
  const [task] = await listTasks(writer);
  const retryHours = (Number(task?.deadlineTime) - Number(task?.dueTime)) / (60 * MINUTE_MS);
  expect(retryHours).toBeCloseTo(48, 2);
  passMinutes(2);
  expect(await writer.waitForOperation(urgentId)).toMatchObject({ status: 'SUCCESS' });
  expect(await writer.waitForOperation(patientId)).toMatchObject({ status: 'SUCCESS' });
});

test('writes a full batch of a hundred records immediately and starts another', async () => {
  const writer = await createWriter(app);
  const ids: string[] = [];
  // More concurrent writes would wait too long for a connection on a busy machine.
  for (const count of [25, 25, 25, 26])
    ids.push(...(await Promise.all(Array.from({ length: count }, () => collectWrite(writer)))));
  const fullTask = (await listTasks(writer)).find(({ recordCount }) => recordCount === 100);
  const entries = await prisma.writeEntry.findMany({ where: { taskId: fullTask?.id } });
  expect(new Set(entries.map(({ position }) => position)).size).toBe(100);
  for (const { operationId } of entries) {
    expect(await writer.waitForOperation(operationId)).toMatchObject({ status: 'SUCCESS' });
  }
  const [waitingId] = ids.filter((id) => !entries.some(({ operationId }) => operationId === id));
  expect(await prisma.writeTask.findFirst({ where: { id: waitingId } })).toMatchObject({
    recordCount: 1,
    attempts: 0,
    batchKey: expect.any(String),
  });
});

test('collects records with different objects, types, headers or installations separately', async () => {
  const [writer, otherWriter] = [await createWriter(app), await createWriter(app)];
  await collectWrite(writer);
  await collectWrite(writer, { headers: [{ key: 'x-sandbox-trace', value: '1' }] });
  await collectWrite(writer, { objectName: 'companies', record: { name: 'Acme' } });
  await collectWrite(writer, { type: 'UPDATE', record: { id: 'c1', firstname: 'Ann' } });
  await collectWrite(otherWriter);
  expect(await listTasks(writer)).toHaveLength(4);
  expect(await listTasks(otherWriter)).toHaveLength(1);
});

test('writes a retried batch once', async () => {
  const writer = await createWriter(app);
  const records = [createContact(), createContact()];
  sandbox.faults.set({ drop: 'after', pathPrefix: '/objects/contacts/batch' });
  const ids = [];
  for (const record of records) ids.push(await collectWrite(writer, { record }));
  passMinutes(5);
  await expect
    .poll(() => listTasks(writer), POLLING)
    .toMatchObject([{ attempts: 1, leaseToken: null }]);
  passMinutes(1);
  for (const id of ids) {
    expect(await writer.waitForOperation(id)).toMatchObject({
      status: 'SUCCESS',
      metadata: { retry: { attempts: 2 } },
    });
  }
  const emails = sandbox.listRecords('contacts').map(({ email }) => email);
  for (const { email } of records)
    expect(emails.filter((address) => address === email)).toHaveLength(1);
});
