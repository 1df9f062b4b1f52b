/** Requests to providers are recorded with their operation or connection, without values of records. */
import { afterEach, beforeAll, expect, test } from 'vitest';
import type { RequestRecorder } from '../../../../src/domain/connections/diagnosis/request-recorder.ts';
import { removeExpired } from '../../../../src/domain/upkeep/retention.ts';
import { createLog } from '../../../../src/kernel/log.ts';
import { createTestApp, getSharedApp, type Tenant } from '../../../support/app.ts';
import { installReads, POLLING, TRIGGER_READ } from '../../../support/fixtures/reads.ts';
import { installActiveSubscription } from '../../../support/fixtures/subscriptions.ts';
import { createContact, createWriter } from '../../../support/fixtures/writes.ts';
import { callSandbox, connectWithTokens } from '../../../support/providers/oauth.ts';
import { createRestClient } from '../../../support/rest/rest-client.ts';

let aheadMs = 0;
// Deliveries of reads fail, because their destination has no secret. The log would show the failures.
const app = await getSharedApp({
  now: () => new Date(Date.now() + aheadMs),
  log: createLog('silent'),
});
const { services, sandbox } = app.app;
const { prisma } = services.database;
sandbox.seed('contacts', 250);
beforeAll(async () => void (await app.app.start()));
afterEach(() => {
  aheadMs = 0;
  sandbox.faults.clear();
});

const REQUEST_FIELDS = `createTime kind method host path responseStatus error durationMs requestHeaders
  responseHeaders responseBody`;
const REQUESTS_OF_OPERATION = `query RequestsOfOperation($id: ID!) {
  node(id: $id) { ... on Operation { requests { totalCount nodes { ${REQUEST_FIELDS} } } } }
}`;
const REQUESTS_OF_CONNECTION = `query RequestsOfConnection($id: ID!) {
  node(id: $id) { ... on ConnectedAccount { requests { nodes { ${REQUEST_FIELDS} } } } }
}`;

async function listRequests(
  tenant: Pick<Tenant, 'query'>,
  id: string,
  query = REQUESTS_OF_OPERATION,
) {
  await services.requestRecorder?.flush();
  return (await tenant.query(query, { id })).node.requests.nodes;
}

test('records the request of a write, without its values', async () => {
  const writer = await createWriter(app);
  const { operationId } = await writer.write({ record: createContact({ firstname: 'Ada' }) });
  const [request, ...otherRequests] = await listRequests(writer, operationId);
  expect(otherRequests).toEqual([]);
  expect(request).toMatchObject({
    kind: 'API',
    method: 'POST',
    host: new URL(sandbox.url).host,
    path: '/objects/contacts/records',
    responseStatus: 201,
    error: null,
    durationMs: expect.any(Number),
    responseBody: null,
  });
  expect(request.requestHeaders).toMatchObject({ 'content-type': 'application/json' });
  expect(JSON.stringify(request)).not.toMatch(/sandbox-key|Ada/);
});

test("records the rejection of a write with the provider's message", async () => {
  const writer = await createWriter(app);
  const { operationId } = await writer.write({ record: createContact({ email: 'no address' }) });
  const [request] = await listRequests(writer, operationId);
  expect(request).toMatchObject({
    responseStatus: expect.any(Number),
    responseBody: expect.any(String),
  });
  expect(request.responseStatus).toBeGreaterThanOrEqual(400);
  expect(JSON.parse(request.responseBody).error.message).toEqual(expect.any(String));
  expect(request.responseBody).not.toContain('no address');
});

test('shows each attempt of an operation, newest first, over REST too', async () => {
  const writer = await createWriter(app);
  sandbox.faults.set({ method: 'POST', pathPrefix: '/objects', status: 503, times: 1 });
  const { operationId } = await writer.write({ record: createContact(), mode: 'ASYNCHRONOUS' });
  await expect.poll(async () => (await listRequests(writer, operationId)).length, POLLING).toBe(2);
  const statuses = (await listRequests(writer, operationId)).map(
    ({ responseStatus }: { responseStatus: number }) => responseStatus,
  );
  expect(statuses).toEqual([201, 503]);
  const rest = createRestClient(app, { 'x-api-key': writer.apiKey });
  const path = `/projects/${writer.projectId}/operations/${operationId}/requests`;
  const { results } = await rest.get(path);
  expect(results).toMatchObject([
    { kind: 'api', responseStatus: 201 },
    { responseStatus: 503, responseBody: expect.stringContaining('Injected fault') },
  ]);
});

test('keeps the newest 20 requests of a read, and older failed requests in preference', async () => {
  const tenant = await app.createTenant();
  const reads = await installReads(app, tenant);
  const { id: installationId } = reads;
  const operation = await prisma.operation.create({
    data: {
      id: 'opr_01kx0000000000000000000001',
      ...{ projectId: tenant.projectId, installationId, integrationId: 'int', configId: 'cfg' },
      ...{ actionType: 'READ', status: 'IN_PROGRESS', metadata: { objects: [] } },
    },
  });
  const recorder = services.requestRecorder as RequestRecorder;
  const createRow = (index: number, isFailed: boolean) => ({
    id: `req_01kx00000000000000000000${String(index).padStart(2, '0')}`,
    ...{ projectId: tenant.projectId, operationId: null, connectionId: null },
    ...{ kind: 'API' as const, method: 'GET', host: 'crm.test', path: `/${index}` },
    ...{ responseStatus: isFailed ? 500 : 200, isFailed, error: null, durationMs: 1 },
    ...{ requestHeaders: {}, responseHeaders: {}, responseBody: null, createTime: new Date() },
  });
  const operationWork = { operationId: operation.id, isContinued: true };
  recorder.storeForOperation([createRow(0, true), createRow(1, false)], operationWork);
  await recorder.flush();
  recorder.storeForOperation(
    Array.from({ length: 20 }, (_none, index) => createRow(index + 2, false)),
    operationWork,
  );
  const paths = (await listRequests(tenant, operation.id)).map(
    ({ path }: { path: string }) => path,
  );
  expect(paths).toHaveLength(20);
  expect(paths).toContain('/0');
  expect(paths).not.toContain('/1');
  expect(paths).not.toContain('/2');
});

test('records the pages of a read, with masked cursors', async () => {
  const tenant = await app.createTenant();
  await installReads(app, tenant);
  const input = {
    projectIdOrName: tenant.projectId,
    integrationIdOrName: 'crm',
    groupRef: 'acme',
    objectName: 'contacts',
  };
  const { id } = (await tenant.query(TRIGGER_READ, { input })).triggerRead.operation;
  await expect
    .poll(async () => (await listRequests(tenant, id)).length, POLLING)
    .toBeGreaterThan(1);
  for (const { method, path, responseStatus } of await listRequests(tenant, id)) {
    expect({ method, responseStatus }).toEqual({ method: 'GET', responseStatus: 200 });
    expect(path).toMatch(/^\/objects\/contacts\/records\?/);
  }
});

test('records the requests that create a subscription with its operation', async () => {
  const tenant = await app.createTenant();
  await installActiveSubscription(app, tenant);
  const { id } = await prisma.operation.findFirstOrThrow({
    where: { projectId: tenant.projectId, actionType: 'SUBSCRIBE' },
  });
  await expect
    .poll(async () => (await listRequests(tenant, id)).length, POLLING)
    .toBeGreaterThan(0);
  expect(await listRequests(tenant, id)).toContainEqual(
    expect.objectContaining({ kind: 'API', method: 'POST', responseStatus: 201 }),
  );
});

test('records only token requests and failed requests of a connection', async () => {
  const tenant = await app.createTenant();
  const connection = await connectWithTokens(app, tenant);
  await callSandbox(app, connection);
  const [tokenRequest, ...otherRequests] = await listRequests(
    tenant,
    connection.id,
    REQUESTS_OF_CONNECTION,
  );
  expect(otherRequests).toEqual([]);
  expect(tokenRequest).toMatchObject({ kind: 'TOKEN', method: 'POST', responseStatus: 200 });
  expect(JSON.stringify(tokenRequest)).not.toMatch(/sandbox-secret|access_token/);
  // Reads of other tests' installations may take some of the faults.
  sandbox.faults.set({ pathPrefix: '/objects', status: 500, times: 1_000 });
  await callSandbox(app, connection);
  const [failedRequest] = await listRequests(tenant, connection.id, REQUESTS_OF_CONNECTION);
  expect(failedRequest).toMatchObject({
    kind: 'API',
    responseStatus: 500,
    responseBody: expect.stringContaining('Injected fault'),
  });
  const rest = createRestClient(app, { 'x-api-key': tenant.apiKey });
  const { results } = await rest.get(
    `/projects/${tenant.projectId}/connections/${connection.id}/requests`,
  );
  expect(results).toMatchObject([{ kind: 'api' }, { kind: 'token' }]);
});

test('records at most 100 requests of a connection per hour', async () => {
  const connection = await connectWithTokens(app, await app.createTenant());
  sandbox.faults.set({ pathPrefix: '/objects', status: 500, times: 120 });
  for (let count = 0; count < 110; count += 1) await callSandbox(app, connection);
  await services.requestRecorder?.flush();
  expect(await prisma.recordedRequest.count({ where: { connectionId: connection.id } })).toBe(100);
});

test('shows requests only with the scope payloads:read, and to no other tenant', async () => {
  const writer = await createWriter(app);
  const { operationId } = await writer.write({ record: createContact() });
  const reader = await writer.withScopes('read');
  const { code, problem } = await reader.expectRefusal(REQUESTS_OF_OPERATION, { id: operationId });
  expect(code).toBe('FORBIDDEN');
  expect(problem.detail).toContain('payloads:read');
  const otherTenant = await app.createTenant();
  expect(await otherTenant.query(REQUESTS_OF_OPERATION, { id: operationId })).toEqual({
    node: null,
  });
});

test('removes requests after REQUEST_RETENTION_HOURS', async () => {
  const writer = await createWriter(app);
  const { operationId } = await writer.write({ record: createContact() });
  await services.requestRecorder?.flush();
  const removeExpiredRows = () => removeExpired(services, { pause: async () => {} });
  aheadMs = 71 * 3_600_000;
  await removeExpiredRows();
  expect(await prisma.recordedRequest.count({ where: { operationId } })).toBe(1);
  aheadMs = 73 * 3_600_000;
  expect(await removeExpiredRows()).toMatchObject({ RecordedRequest: expect.any(Number) });
  expect(await prisma.recordedRequest.count({ where: { operationId } })).toBe(0);
});

test('drops a request whose operation has been removed', async () => {
  const writer = await createWriter(app);
  const { operationId } = await writer.write({ record: createContact() });
  await services.requestRecorder?.flush();
  const [row] = await prisma.recordedRequest.findMany({ where: { operationId } });
  if (!row) throw new Error('No request was recorded.');
  await prisma.operation.deleteMany({ where: { id: operationId } });
  expect(await prisma.recordedRequest.count({ where: { operationId } })).toBe(0);
  services.requestRecorder?.storeForOperation([row as never], { operationId, isContinued: false });
  await services.requestRecorder?.flush();
  expect(await prisma.recordedRequest.count({ where: { operationId } })).toBe(0);
});

test('records nothing if REQUEST_RETENTION_HOURS is 0', async () => {
  await using appWithoutRequests = await createTestApp({ env: { REQUEST_RETENTION_HOURS: '0' } });
  const writer = await createWriter(appWithoutRequests);
  const { operationId } = await writer.write({ record: createContact() });
  expect(appWithoutRequests.app.services.requestRecorder).toBeNull();
  expect(
    (await writer.query(REQUESTS_OF_OPERATION, { id: operationId })).node.requests.nodes,
  ).toEqual([]);
});
