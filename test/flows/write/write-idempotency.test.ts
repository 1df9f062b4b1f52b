import { expect, test } from 'vitest';
import { removeExpired } from '../../../src/domain/retention.ts';
import { sharedApp } from '../../support/app.ts';
import { contact, createWriter, WRITE } from '../../support/scenes/writes.ts';

const HOUR_MS = 3_600_000;

let aheadMs = 0;
const app = await sharedApp({ now: () => new Date(Date.now() + aheadMs) });
const { sandbox, services } = app.app;
const { prisma } = services.database;

const written = (record: Record<string, unknown>) =>
  sandbox.records('contacts').filter(({ email }) => email === record.email);

test('a repeated call is answered with the first one’s outcome and writes nothing', async () => {
  const writer = await createWriter(app);
  const record = contact();
  const first = await writer.write({ record, idempotencyKey: 'order 1' });
  const again = await writer.write({ idempotencyKey: 'order 1', record });
  expect(again).toEqual(first);
  expect(written(record)).toHaveLength(1);
});

test('the outcome of a batch is repeated too', async () => {
  const writer = await createWriter(app);
  const batch = [{ record: contact() }, { record: { lastname: 'No e-mail' } }];
  const first = await writer.write({ batch, idempotencyKey: 'k' });
  expect(await writer.write({ batch, idempotencyKey: 'k' })).toEqual(first);
  expect(first).toMatchObject({ successCount: 1, failureCount: 1 });
});

test('an asynchronous write is accepted once', async () => {
  const writer = await createWriter(app);
  const asked = { record: contact(), mode: 'ASYNCHRONOUS', idempotencyKey: 'k' };
  const { operationId } = await writer.write(asked);
  expect((await writer.write(asked)).operationId).toBe(operationId);
  expect(await prisma.writeTask.count({ where: { projectId: writer.projectId } })).toBe(1);
});

test('the same key with another input is a conflict', async () => {
  const writer = await createWriter(app);
  await writer.write({ record: contact(), idempotencyKey: 'k' });
  const other = writer.input({ record: contact(), idempotencyKey: 'k' });
  expect(await writer.refusal(WRITE, other)).toMatchObject({ code: 'CONFLICT' });
});

test('of calls at the same time one writes, and all get its outcome', async () => {
  const writer = await createWriter(app);
  const record = contact();
  const asked = { record, idempotencyKey: 'k' };
  const answers = await Promise.all(Array.from({ length: 5 }, () => writer.write(asked)));
  expect(answers[0]).toMatchObject({ result: { success: true, data: record } });
  for (const answer of answers) expect(answer).toEqual(answers[0]);
  expect(written(record)).toHaveLength(1);
});

test('a key is its project’s own', async () => {
  const [a, b] = [await createWriter(app), await createWriter(app)];
  const first = await a.write({ record: contact(), idempotencyKey: 'k' });
  const second = await b.write({ record: contact(), idempotencyKey: 'k' });
  expect(second.operationId).not.toBe(first.operationId);
});

test('a refused call does not take the key', async () => {
  const writer = await createWriter(app);
  const refused = writer.input({ record: contact(), objectName: 'deals', idempotencyKey: 'k' });
  await writer.refusal(WRITE, refused);
  const { result } = await writer.write({ record: contact(), idempotencyKey: 'k' });
  expect(result.success).toBe(true);
});

test('after 24 hours a key is free again, and goes with the next clearing up', async () => {
  const writer = await createWriter(app);
  const first = await writer.write({ record: contact(), idempotencyKey: 'k' });
  aheadMs += 24 * HOUR_MS;
  const second = await writer.write({ record: contact(), idempotencyKey: 'k' });
  expect(second.operationId).not.toBe(first.operationId);
  aheadMs += 24 * HOUR_MS;
  await removeExpired(services);
  expect(await prisma.idempotencyKey.count({ where: { projectId: writer.projectId } })).toBe(0);
});
