import { expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import { createContact, createWriter } from '../../support/fixtures/writes.ts';

const app = await getSharedApp();
const { sandbox } = app.app;
const pathPrefix = '/objects/contacts';

const listEmails = () => sandbox.listRecords('contacts').map(({ email }) => email);

test('creates, updates and deletes a record, each with an operation', async () => {
  const writer = await createWriter(app);
  const record = createContact({ firstname: 'Ann' });
  const creation = await writer.write({ record });
  const { recordId: id } = creation.result;
  expect(creation).toEqual({
    operationId: creation.operation.id,
    successCount: 1,
    failureCount: 0,
    result: { success: true, recordId: id, data: expect.objectContaining(record), errors: [] },
    results: null,
    operation: {
      id: expect.stringMatching(/^opr_/),
      status: 'SUCCEEDED',
      actionType: 'WRITE',
      result: `[contacts] Record ${id} created`,
      integrationId: writer.integrationId,
      installationId: writer.installationId,
      configId: writer.configId,
      metadata: { objects: ['contacts'], successfulRecordIds: [id], retry: null },
    },
  });
  const update = await writer.write({ type: 'UPDATE', record: { id, firstname: 'Anna' } });
  expect(update.result).toMatchObject({ success: true, recordId: id });
  expect(update.operation.result).toBe(`[contacts] Record ${id} updated`);
  expect(sandbox.listRecords('contacts').find((row) => row.id === id)).toMatchObject({
    ...record,
    firstname: 'Anna',
  });
  const deletion = await writer.write({ type: 'DELETE', record: { id } });
  expect(deletion.result).toEqual({ success: true, recordId: id, data: null, errors: [] });
  expect(sandbox.listRecords('contacts').some((row) => row.id === id)).toBe(false);
});

test('returns a result for each record of a batch in order, and succeeds if a record was written', async () => {
  const writer = await createWriter(app);
  const [firstRecord, lastRecord] = [createContact(), createContact()];
  const batch = [firstRecord, { email: firstRecord.email }, { lastname: 'No email' }, lastRecord];
  const response = await writer.write({ batch: batch.map((record) => ({ record })) });
  expect(response).toMatchObject({ result: null, successCount: 2, failureCount: 2 });
  expect(response.results).toMatchObject([
    { success: true, data: firstRecord, errors: [] },
    { success: false, recordId: null, data: null, errors: [{ message: expect.any(String) }] },
    { success: false, recordId: null, data: null, errors: [{ message: expect.any(String) }] },
    { success: true, data: lastRecord, errors: [] },
  ]);
  expect(response.operation).toMatchObject({
    status: 'SUCCEEDED',
    result: '[contacts] Batch write completed (2 succeeded, 2 failed)',
    metadata: {
      successfulRecordIds: [response.results[0].recordId, response.results[3].recordId],
    },
  });
});

test('writes no record of a batch with allOrNone if one is refused', async () => {
  const writer = await createWriter(app);
  const record = createContact();
  const response = await writer.write({
    batch: [{ record }, { record: { lastname: 'No email' } }],
    batchPolicy: { allOrNone: true },
  });
  expect(response).toMatchObject({ successCount: 0, failureCount: 2 });
  expect(response.operation.status).toBe('FAILED');
  expect(listEmails()).not.toContain(record.email);
});

test("returns a refused record as an outcome, with the provider's reasons", async () => {
  const writer = await createWriter(app);
  const { result, operation, failureCount } = await writer.write({ record: { score: 'many' } });
  expect(result).toMatchObject({ success: false, recordId: null, data: null });
  expect(result.errors.length).toBeGreaterThan(0);
  expect(failureCount).toBe(1);
  expect(operation).toMatchObject({
    status: 'FAILED',
    result: expect.stringContaining(`Error writing to provider: ${result.errors[0].message}`),
    metadata: { successfulRecordIds: [] },
  });
});

test('returns rejected credentials as an outcome', async () => {
  const writer = await createWriter(app);
  await generateConnection(writer, { apiKey: 'wrong', skipCheck: true });
  const { result, operation } = await writer.write({ record: createContact() });
  expect(result).toMatchObject({ success: false, errors: [{ message: expect.any(String) }] });
  expect(operation.status).toBe('FAILED');
});

test("does not wait for the provider's Retry-After", async () => {
  const writer = await createWriter(app);
  sandbox.faults.set({ status: 429, retryAfterSeconds: 1, pathPrefix });
  const record = createContact();
  const { result, operation } = await writer.write({ record });
  expect(result.success).toBe(false);
  expect(operation).toMatchObject({ status: 'FAILED', metadata: { retry: null } });
  expect(listEmails()).not.toContain(record.email);
});

test.each([
  'before',
  'after',
] as const)('creates a record once if the connection is lost %s the provider has created it', async (drop) => {
  const writer = await createWriter(app);
  const record = createContact();
  sandbox.faults.set({ drop, pathPrefix });
  const { result, operation } = await writer.write({ record });
  expect(result).toMatchObject({ success: true, data: record });
  expect(operation.metadata.retry).toMatchObject({ attempts: 2 });
  expect(listEmails().filter((email) => email === record.email)).toHaveLength(1);
});

test('leaves the outcome unknown if the provider fails repeatedly', async () => {
  const writer = await createWriter(app);
  sandbox.faults.set({ status: 500, times: 10, pathPrefix });
  const { result, operation } = await writer.write({ record: createContact() });
  sandbox.faults.clear();
  expect(result.errors).toMatchObject([{ message: expect.stringContaining('unknown') }]);
  expect(operation).toMatchObject({ status: 'FAILED', metadata: { retry: { attempts: 3 } } });
});

test('logs each step of a write, without fields of the record', async () => {
  const writer = await createWriter(app);
  const record = createContact();
  sandbox.faults.set({ drop: 'before', pathPrefix });
  const { operationId, result } = await writer.write({ record });
  const query = `query Operation($id: ID!) { node(id: $id) {
    ... on Operation { logs { nodes { severity message } } }
  } }`;
  const { node } = await writer.query(query, { id: operationId });
  expect(node.logs.nodes).toEqual([
    { severity: 'DEBUG', message: '[contacts] 1 record to create' },
    {
      severity: 'WARNING',
      message: expect.stringMatching(/^Attempt 1 failed, the next one is at /),
    },
    { severity: 'INFO', message: `[contacts] Record ${result.recordId} created` },
  ]);
  expect(JSON.stringify(node)).not.toContain(record.email);
});
