import { expect, test } from 'vitest';
import { removeExpired } from '../../../src/domain/upkeep/retention.ts';
import { getSharedApp } from '../../support/app.ts';
import { createContact, createWriter, WRITE_RECORDS } from '../../support/fixtures/writes.ts';

const HOUR_MS = 3_600_000;

let aheadMs = 0;
const app = await getSharedApp({ now: () => new Date(Date.now() + aheadMs) });
const { sandbox, services } = app.app;
const { prisma } = services.database;

const listContacts = (record: Record<string, unknown>) =>
  sandbox.listRecords('contacts').filter(({ email }) => email === record.email);

test('returns the first outcome of a repeated call, and writes nothing', async () => {
  const writer = await createWriter(app);
  const record = createContact();
  const firstResult = await writer.write({ record, idempotencyKey: 'order 1' });
  const repeated = await writer.write({ idempotencyKey: 'order 1', record });
  expect(repeated).toEqual(firstResult);
  expect(listContacts(record)).toHaveLength(1);
});

test('returns the first outcome of a repeated batch', async () => {
  const writer = await createWriter(app);
  const batch = [{ record: createContact() }, { record: { lastname: 'No email' } }];
  const firstResult = await writer.write({ batch, idempotencyKey: 'k' });
  expect(await writer.write({ batch, idempotencyKey: 'k' })).toEqual(firstResult);
  expect(firstResult).toMatchObject({ successCount: 1, failureCount: 1 });
});

test('accepts a repeated asynchronous write once', async () => {
  const writer = await createWriter(app);
  const input = { record: createContact(), mode: 'ASYNCHRONOUS', idempotencyKey: 'k' };
  const { operationId } = await writer.write(input);
  expect((await writer.write(input)).operationId).toBe(operationId);
  expect(await prisma.writeTask.count({ where: { projectId: writer.projectId } })).toBe(1);
});

test('returns CONFLICT for a used key with another input', async () => {
  const writer = await createWriter(app);
  await writer.write({ record: createContact(), idempotencyKey: 'k' });
  const changedInput = writer.createVariables({ record: createContact(), idempotencyKey: 'k' });
  expect(await writer.expectRefusal(WRITE_RECORDS, changedInput)).toMatchObject({
    code: 'CONFLICT',
  });
});

test('writes once for concurrent calls with one key, and returns the same outcome to each', async () => {
  const writer = await createWriter(app);
  const record = createContact();
  const input = { record, idempotencyKey: 'k' };
  const responses = await Promise.all(Array.from({ length: 5 }, () => writer.write(input)));
  expect(responses[0]).toMatchObject({ result: { success: true, data: record } });
  for (const response of responses) expect(response).toEqual(responses[0]);
  expect(listContacts(record)).toHaveLength(1);
});

test('accepts a key that another project has used', async () => {
  const [writer, otherWriter] = [await createWriter(app), await createWriter(app)];
  const firstResult = await writer.write({ record: createContact(), idempotencyKey: 'k' });
  const secondResult = await otherWriter.write({ record: createContact(), idempotencyKey: 'k' });
  expect(secondResult.operationId).not.toBe(firstResult.operationId);
});

test('accepts a key that was sent with a refused call', async () => {
  const writer = await createWriter(app);
  const refusedVariables = writer.createVariables({
    record: createContact(),
    objectName: 'deals',
    idempotencyKey: 'k',
  });
  await writer.expectRefusal(WRITE_RECORDS, refusedVariables);
  const { result } = await writer.write({ record: createContact(), idempotencyKey: 'k' });
  expect(result.success).toBe(true);
});

test('accepts a key again after 24 hours, and deletes it with expired rows', async () => {
  const writer = await createWriter(app);
  const firstResult = await writer.write({ record: createContact(), idempotencyKey: 'k' });
  aheadMs += 24 * HOUR_MS;
  const secondResult = await writer.write({ record: createContact(), idempotencyKey: 'k' });
  expect(secondResult.operationId).not.toBe(firstResult.operationId);
  aheadMs += 24 * HOUR_MS;
  await removeExpired(services);
  expect(await prisma.idempotencyKey.count({ where: { projectId: writer.projectId } })).toBe(0);
});
