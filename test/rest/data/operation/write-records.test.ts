import { expect, test } from 'vitest';
import { getSharedApp } from '../../../support/app.ts';
import { createContact, startWriteJobs } from '../../../support/fixtures/writes.ts';
import { listIssuePositions } from '../../../support/rest/rest-client.ts';
import {
  createRestInstallation,
  type RestInstallation,
} from '../../../support/rest/rest-installation.ts';

// A synchronous write responds 5 s before this limit.
const app = await getSharedApp({ env: { LIMIT_MUTATION_MS: '8000' } });
const { sandbox } = app.app;

const installWriter = () =>
  createRestInstallation(app, {
    config: { write: { objects: { contacts: { deletionSettings: { enabled: true } } } } },
  });
const getContactsPath = (rest: RestInstallation) => `${rest.integrationPath}/objects/contacts`;
const write = (rest: RestInstallation, overrides: object, status = 200) =>
  rest.post(getContactsPath(rest), { groupRef: 'acme', type: 'create', ...overrides }, status);

test('creates, updates and deletes a record, each with an operation', async () => {
  const rest = await installWriter();
  const record = createContact();
  const creation = await write(rest, { mode: 'synchronous', record });
  const { recordId: id } = creation.result;
  expect(creation).toEqual({
    operationId: expect.stringMatching(/^opr_/),
    result: { success: true, recordId: id, data: expect.objectContaining(record) },
  });
  expect(await rest.get(`${rest.base}/operations/${creation.operationId}`)).toMatchObject({
    actionType: 'write',
    status: 'success',
    result: `[contacts] Record ${id} created`,
    installationId: rest.installation.id,
    metadata: { objects: ['contacts'], successfulRecordIds: [id] },
  });
  const { result } = await write(rest, { type: 'update', record: { id, firstname: 'Anna' } });
  expect(result).toMatchObject({ success: true, data: { firstname: 'Anna' } });
  const deletion = await write(rest, { type: 'delete', record: { id } });
  expect(deletion.result).toEqual({ success: true, recordId: id });
  expect(await rest.get(rest.installationPath)).toMatchObject({ lastOperationStatus: 'success' });
});

test('returns 422 with the write result if the provider refuses the record', async () => {
  const rest = await installWriter();
  const refusal = await write(rest, { record: { lastname: 'No email' } }, 422);
  const errors = [{ message: expect.any(String) }];
  expect(refusal).toEqual({
    operationId: expect.stringMatching(/^opr_/),
    result: { success: false },
    errors,
  });
  const operation = await rest.get(`${rest.base}/operations/${refusal.operationId}`);
  expect(operation).toMatchObject({ status: 'failure', result: expect.any(String) });
});

test('accepts records as items of a batch, and as the member `record` of items', async () => {
  const rest = await installWriter();
  const [bare, wrapped] = [createContact(), createContact()];
  const written = await write(rest, { batch: [bare, { record: wrapped }] });
  expect(written).toMatchObject({ successCount: 2, failureCount: 0 });
  expect(sandbox.listRecords('contacts')).toEqual(
    expect.arrayContaining([expect.objectContaining(bare), expect.objectContaining(wrapped)]),
  );
  expect(await write(rest, { batch: [{}] }, 400)).toMatchObject({
    issues: [{ in: 'body', name: 'batch[0].record' }],
  });
});

test('refuses integers that JSON numbers cannot hold exactly, with their paths', async () => {
  const rest = await installWriter();
  const recordCount = sandbox.listRecords('contacts').length;
  const record = { ...createContact(), age: 2 ** 53, nested: { list: [1, -(2 ** 60), 0.5] } };
  const refusal = await write(rest, { record }, 400);
  expect(refusal.issues.map(({ name }: { name: string }) => name)).toEqual([
    'record.age',
    'record.nested.list[1]',
  ]);
  expect(sandbox.listRecords('contacts')).toHaveLength(recordCount);
});

test('returns a problem for a failed write only to clients that accept problems', async () => {
  const rest = await installWriter();
  const requestFailingWrite = (accept: string, overrides: object) =>
    app.app.rest.inject({
      method: 'POST',
      url: `/v1${getContactsPath(rest)}`,
      headers: { 'x-api-key': rest.tenant.apiKey, 'content-type': 'application/json', accept },
      payload: JSON.stringify({ groupRef: 'acme', type: 'create', ...overrides }),
    });
  const wrong = { record: { lastname: 'No email' } };
  const problem = await requestFailingWrite(
    'application/json, application/problem+json;q=0.5',
    wrong,
  );
  expect([problem.statusCode, problem.headers['content-type']]).toEqual([
    422,
    'application/problem+json',
  ]);
  expect(problem.json()).toEqual({
    type: 'urn:problem:unprocessable',
    href: expect.stringMatching(/\/problems\/unprocessable$/),
    title: 'Unprocessable',
    status: 422,
    detail: 'email must have a value',
    instance: expect.stringMatching(/^urn:uuid:/),
    operationId: expect.stringMatching(/^opr_/),
    result: { success: false },
    errors: [{ message: 'email must have a value' }],
  });
  const batch = await requestFailingWrite('application/problem+json', { batch: [wrong, wrong] });
  expect(batch.json()).toMatchObject({ detail: 'None of the 2 records was written.' });
  for (const accept of ['*/*', 'application/json', 'application/problem+json;q=0']) {
    const response = await requestFailingWrite(accept, wrong);
    expect([response.statusCode, Object.keys(response.json()).sort()]).toEqual([
      422,
      ['errors', 'operationId', 'result'],
    ]);
  }
});

test('returns 200 for a batch with a written record, and 422 without', async () => {
  const rest = await installWriter();
  const wrong = { record: { lastname: 'No email' } };
  const record = createContact();
  const partial = await write(rest, { batch: [{ record }, wrong] });
  expect(partial).toMatchObject({
    successCount: 1,
    failureCount: 1,
    results: [{ success: true, data: record }, { success: false }],
  });
  expect(partial.errors).toEqual([{ message: expect.stringMatching(/^Record 2: /) }]);
  expect(partial).not.toHaveProperty('result');
  const failedBatch = await write(rest, { batch: [wrong, wrong] }, 422);
  expect(failedBatch).toEqual({
    operationId: expect.stringMatching(/^opr_/),
    successCount: 0,
    failureCount: 2,
    results: [{ success: false }, { success: false }],
    errors: [expect.anything(), expect.anything()],
  });
  expect(failedBatch.errors.map(({ message }: { message: string }) => message.slice(0, 8))).toEqual(
    ['Record 1', 'Record 2'],
  );
  const allOrNoneBatch = {
    batch: [{ record: createContact() }, wrong],
    batchPolicy: { allOrNone: true },
  };
  expect(await write(rest, allOrNoneBatch, 422)).toMatchObject({
    successCount: 0,
    failureCount: 2,
  });
});

test('returns only the operation of an asynchronous write, which reports its outcome', async () => {
  const rest = await installWriter();
  await using _jobs = await startWriteJobs(app);
  const response = await write(rest, { mode: 'asynchronous', record: createContact() });
  expect(response).toEqual({ operationId: expect.stringMatching(/^opr_/) });
  const path = `${rest.base}/operations/${response.operationId}`;
  await expect.poll(async () => (await rest.get(path)).status, { interval: 50 }).toBe('success');
  const [line] = await rest.get(`${path}/logs`);
  expect(line).toMatchObject({
    severity: expect.stringMatching(/^(DEBUG|INFO)$/),
    message: { msg: expect.any(String), operation_id: response.operationId },
  });
});

test('writes a repeated request with an Idempotency-Key once', async () => {
  const rest = await installWriter();
  const headers = {
    'x-api-key': rest.tenant.apiKey,
    'content-type': 'application/json',
    'idempotency-key': 'order-7',
  };
  const url = `/v1${getContactsPath(rest)}`;
  const sendWrite = (record: object) =>
    app.app.rest.inject({
      method: 'POST',
      url,
      headers,
      payload: JSON.stringify({ groupRef: 'acme', type: 'create', record }),
    });
  const record = createContact();
  const [firstResponse, repeatedResponse] = [await sendWrite(record), await sendWrite(record)];
  expect([firstResponse.statusCode, repeatedResponse.statusCode]).toEqual([200, 200]);
  expect(repeatedResponse.json()).toEqual(firstResponse.json());
  const conflicting = await sendWrite(createContact());
  expect(conflicting.statusCode).toBe(409);
  const tooLong = await app.app.rest.inject({
    method: 'POST',
    url,
    headers: { ...headers, 'idempotency-key': 'x'.repeat(300) },
    payload: JSON.stringify({ groupRef: 'acme', type: 'create', record }),
  });
  expect(tooLong.json().issues).toMatchObject([{ in: 'header', name: 'idempotency-key' }]);
});

test('returns an operation without an error if the outcome is late', async () => {
  const rest = await installWriter();
  sandbox.faults.set({ delayMs: 4_000, pathPrefix: '/objects/contacts' });
  const record = createContact();
  const response = await write(rest, { record });
  expect(response).toEqual({ operationId: expect.stringMatching(/^opr_/) });
  sandbox.faults.set({ delayMs: 0, pathPrefix: '/objects/contacts' });
  const path = `${rest.base}/operations/${response.operationId}`;
  await expect.poll(async () => (await rest.get(path)).status, { interval: 50 }).toBe('success');
});

test('reports invalid members at their positions', async () => {
  const rest = await installWriter();
  const fetchIssues = async (body: object) =>
    listIssuePositions(await rest.expectRefusal('POST', getContactsPath(rest), body));
  expect(await fetchIssues({ groupRef: 'acme', type: 'UPSERT', mode: 'SYNCHRONOUS' })).toEqual(
    expect.arrayContaining(['body type', 'body mode']),
  );
  expect(
    await fetchIssues({
      groupRef: 'acme',
      type: 'update',
      batch: [{ record: {} }],
      retryPolicy: { deadlineHours: 90 },
    }),
  ).toEqual(
    expect.arrayContaining([
      'body batch[0].record.id',
      'body retryPolicy',
      'body retryPolicy.deadlineHours',
    ]),
  );
});

test('refuses a record together with a batch', async () => {
  const rest = await installWriter();
  const body = {
    groupRef: 'acme',
    type: 'create',
    record: createContact(),
    batch: [{ record: createContact() }],
  };
  expect(await rest.expectRefusal('POST', getContactsPath(rest), body)).toMatchObject({
    status: 400,
    issues: [{ in: 'body', name: 'batch', detail: 'must not be combined with record.' }],
  });
});

test("requires records:write and an installation of the caller's project", async () => {
  const [writer, otherTenant] = [await installWriter(), await installWriter()];
  const body = { groupRef: 'acme', type: 'create', record: createContact() };
  expect(await otherTenant.expectRefusal('POST', getContactsPath(writer), body)).toMatchObject({
    status: 404,
  });
  const reader = await writer.withScopes('read');
  const refusal = await reader.expectRefusal('POST', getContactsPath(writer), body);
  expect(refusal.status).toBe(403);
  expect(refusal.detail).toContain('records:write');
});
