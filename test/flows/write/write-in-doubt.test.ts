import { afterAll, expect, test } from 'vitest';
import { writes } from '../../../src/domain/data/operation/write/write-run.ts';
import { createSandboxProvider } from '../../../src/providers/sandbox/sandbox-provider.ts';
import { getSharedApp } from '../../support/app.ts';
import { createContact, createWriter } from '../../support/fixtures/writes.ts';
import { startSandbox } from '../../support/providers/sandbox.ts';
import { claimDueRow, runDueRows } from '../../support/work/due-work.ts';

const sandbox = await startSandbox();
afterAll(() => sandbox[Symbol.asyncDispose]());
const sandboxProvider = createSandboxProvider(() => sandbox.url);
/** A sandbox without idempotency keys, like HubSpot and Salesforce. */
const provider = {
  ...sandboxProvider,
  features: { ...sandboxProvider.features, idempotencyKeyLifetimeMs: null },
};
const HOUR_MS = 3_600_000;
let aheadMs = 0;
const app = await getSharedApp({
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  providers: [provider],
  now: () => new Date(Date.now() + aheadMs),
});
const { services } = app.app;
const { prisma } = services.database;

const listContacts = (email: unknown) =>
  sandbox.listRecords('contacts').filter((row) => row.email === email);

test('does not repeat an interrupted creation if the provider has no idempotency keys', async () => {
  const writer = await createWriter(app);
  const record = createContact();
  sandbox.faults.set({ drop: 'after', pathPrefix: '/objects/contacts' });
  const { result, operation } = await writer.write({ record });
  expect(result).toMatchObject({
    success: false,
    errors: [{ message: expect.stringContaining('The outcome is unknown') }],
  });
  expect(operation).toMatchObject({ status: 'FAILED', metadata: { retry: null } });
  expect(listContacts(record.email)).toHaveLength(1);
});

test('repeats an interrupted update without an idempotency key', async () => {
  const writer = await createWriter(app);
  const { result } = await writer.write({ record: createContact() });
  const change = { id: result.recordId, firstname: 'Ann' };
  sandbox.faults.set({ drop: 'after', pathPrefix: '/objects/contacts' });
  const repeated = await writer.write({ type: 'UPDATE', record: change });
  expect(repeated.result).toMatchObject({ success: true, data: change });
});

test('reports an unknown outcome if the response to the first of several attempts was lost', async () => {
  const writer = await createWriter(app);
  const { result } = await writer.write({ record: createContact() });
  const { operationId } = await writer.write({
    mode: 'ASYNCHRONOUS',
    type: 'UPDATE',
    record: { id: result.recordId, firstname: 'Ann' },
    retryPolicy: { deadlineHours: 2 },
  });
  const run = () => runDueRows(services, writes, { projectId: writer.projectId });
  sandbox.faults.set({ drop: 'after', pathPrefix: '/objects/contacts' });
  expect(await run()).toMatchObject([{ next: expect.anything() }]);
  aheadMs += HOUR_MS;
  sandbox.faults.set({ status: 429, times: 2, pathPrefix: '/objects/contacts' });
  expect(await run()).toMatchObject([{ next: expect.anything() }]);
  aheadMs += 2 * HOUR_MS;
  expect(await run()).toMatchObject([{ endedWrite: expect.anything() }]);
  expect(await writer.waitForOperation(operationId)).toMatchObject({
    status: 'FAILURE',
    result: expect.stringContaining('The outcome is unknown'),
    metadata: { retry: { attempts: 3 } },
  });
});

test('reports an unknown outcome for a creation whose process was killed, without repeating it', async () => {
  const writer = await createWriter(app);
  const record = createContact();
  const { operationId } = await writer.write({ mode: 'ASYNCHRONOUS', record });
  const key = { projectId: writer.projectId, id: operationId };
  await claimDueRow(services, writes, key.projectId);
  await prisma.$executeRaw`
    update "WriteTask" set "leaseExpireTime" = clock_timestamp()
    where "projectId" = ${key.projectId} and "id" = ${operationId}`;
  await runDueRows(services, writes, { projectId: key.projectId });
  const operation = await writer.waitForOperation(operationId);
  expect(operation).toMatchObject({
    status: 'FAILURE',
    result: expect.stringContaining('The outcome is unknown'),
  });
  expect(operation.metadata).not.toHaveProperty('retry');
  expect(listContacts(record.email)).toEqual([]);
});
