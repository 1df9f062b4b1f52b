import { expect, test } from 'vitest';
import { newId } from '../../src/kernel/ids.ts';
import { createLog } from '../../src/kernel/log.ts';
import { NO_METERS } from '../../src/kernel/meters.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { createTestApp, createTestDatabase, getSharedApp } from '../support/app.ts';
import { CREATE_DESTINATION } from '../support/fixtures/integrations.ts';
import { installReads, TRIGGER_READ } from '../support/fixtures/reads.ts';
import { createContact, createWriter } from '../support/fixtures/writes.ts';

const POLLING = { interval: 100 };

const metrics = createMetrics({ METRICS_PROJECTS: [] });
const database = await createTestDatabase(createLog('silent'), metrics.meters);
const app = await getSharedApp({
  env: { METRICS_PORT: '0', LIMIT_ALIASES: '2', WRONG_KEY_LIMIT_PER_MINUTE: '1' },
  metrics,
  database,
});
const { metrics: url = '' } = await app.app.start();

/** Returns the value of the first series that begins with this text, or 0. */
async function readSeries(series: string): Promise<number> {
  const text = await (await fetch(url)).text();
  const line = text.split('\n').find((entry) => entry.startsWith(series));
  return Number(line?.split(' ').at(-1) ?? 0);
}

/** Waits until the series has the value that the caller expects. */
const pollSeries = (series: string) => expect.poll(() => readSeries(series), POLLING);

test('serves /metrics on its port, and no other path', async () => {
  const { origin } = new URL(url);
  expect(new URL(url).hostname).toBe('127.0.0.1');
  const response = await fetch(url);
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(await response.text()).toMatch(/^process_resident_memory_bytes \d+/m);
  expect((await fetch(`${origin}/`)).status).toBe(404);
  expect((await fetch(url, { method: 'POST' })).status).toBe(404);
  expect((await app.fetch('/metrics')).status).toBe(404);
});

test('counts requests by surface, kind and outcome', async () => {
  const tenant = await app.createTenant();
  await tenant.query('query Viewer { viewer { __typename } }');
  const graphqlSeries =
    'gateway_request_duration_seconds_count{surface="graphql",kind="query",outcome="OK"}';
  expect(await readSeries(graphqlSeries)).toBeGreaterThan(0);
  expect(await readSeries('gateway_graphql_cost_count')).toBeGreaterThan(0);
  const path = `/v1/projects/${tenant.projectId}/integrations`;
  await app.fetch(path, { headers: { 'x-api-key': tenant.apiKey } });
  await app.fetch(`${path}/nothing`, { headers: { 'x-api-key': tenant.apiKey } });
  const restSeries = 'gateway_request_duration_seconds_count{surface="rest",kind="query",outcome=';
  expect(await readSeries(`${restSeries}"OK"}`)).toBe(1);
  await pollSeries(
    'http_server_request_duration_seconds_count{http_request_method="GET",http_route="/v1/*",http_response_status_code="200"}',
  ).toBe(1);
  expect(await readSeries('http_server_active_requests')).toBe(0);
});

test('counts the messages of agents by the outcome of the called tool', async () => {
  const tenant = await app.createTenant();
  const params = { name: 'search_objects', arguments: { group: 'nothing' } };
  await app.fetch(`/mcp/projects/${tenant.projectId}`, {
    method: 'POST',
    headers: {
      'x-api-key': tenant.apiKey,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  });
  const mcpSeries = 'gateway_request_duration_seconds_count{surface="mcp",kind="query",outcome=';
  expect(await readSeries(`${mcpSeries}"NOT_FOUND"}`)).toBe(1);
  await pollSeries(
    'http_server_request_duration_seconds_count{http_request_method="POST",http_route="/mcp/*",http_response_status_code="200"}',
  ).toBe(1);
});

test('counts requests of the documentation under a separate route', async () => {
  const { status } = await app.fetch('/docs/');
  await pollSeries(
    `http_server_request_duration_seconds_count{http_request_method="GET",http_route="/docs/*",http_response_status_code="${status}"}`,
  ).toBe(1);
});

test('counts refusals by their limit', async () => {
  const tenant = await app.createTenant();
  await tenant.request('query Viewers { a: viewer { id } b: viewer { id } c: viewer { id } }');
  expect(await readSeries('gateway_refusals_total{limit="aliases"}')).toBe(1);
  const refusedSeries =
    'gateway_request_duration_seconds_count{surface="graphql",kind="query",outcome="QUERY_LIMIT_EXCEEDED"}';
  expect(await readSeries(refusedSeries)).toBe(1);
  for (const key of ['ik_a', 'ik_b', 'ik_c'])
    await app.createClient({ 'x-api-key': key }).request('query Viewer { viewer { kind } }');
  expect(await readSeries('gateway_refusals_total{limit="wrong_keys"}')).toBeGreaterThan(0);
});

test('counts writes, provider calls and records by their outcome', async () => {
  const writer = await createWriter(app);
  await writer.write({ record: createContact() });
  await pollSeries('gateway_operations_total{kind="write",outcome="succeeded"}').toBe(1);
  await pollSeries('gateway_records_total{kind="write"}').toBe(1);
  const callsSeries =
    'gateway_provider_call_duration_seconds_count{provider="sandbox",kind="api",outcome="2xx"}';
  expect(await readSeries(callsSeries)).toBeGreaterThan(0);
});

test('reports the pending requests to providers, and the use of each share', async () => {
  const writer = await createWriter(app);
  app.app.sandbox.faults.set({ pathPrefix: '/objects', delayMs: 3_000, times: 1 });
  const pendingWrite = writer.write({ record: createContact() });
  await pollSeries('gateway_provider_calls_active').toBe(1);
  expect(await readSeries('gateway_share_held{share="provider_requests"}')).toBe(1);
  await pendingWrite;
  await pollSeries('gateway_provider_calls_active').toBe(0);
  for (const [share, max] of [
    ['provider_requests', 1_000],
    ['running', 64],
    ['heavy_operations', 2],
  ] as const) {
    expect(await readSeries(`gateway_share_held{share="${share}"}`)).toBe(0);
    expect(await readSeries(`gateway_share_max{share="${share}"}`)).toBe(max);
  }
});

test('counts a read, its records and its delivery, and reports pending work of the database', async () => {
  const { database, sandboxUrl } = app.app.services;
  app.app.sandbox.seed('companies', 3);
  const tenant = await app.createTenant();
  await tenant.query(CREATE_DESTINATION, {
    input: {
      ...{ projectIdOrName: tenant.projectId, name: 'records', type: 'WEBHOOK' },
      url: 'https://hooks.example.com/in',
    },
  });
  const reads = await installReads(app, tenant, {
    object: {
      objectName: 'companies',
      mapToName: undefined,
      // A schedule might read the object a second time.
      schedule: undefined,
      requiredFields: [{ fieldName: 'name' }],
    },
  });
  await database.prisma.destination.updateMany({
    where: { projectId: tenant.projectId },
    data: { url: `${sandboxUrl()}/inbox/metrics` },
  });
  await tenant.query(TRIGGER_READ, { input: { ...reads.triggerInput, objectName: 'companies' } });
  await pollSeries('gateway_operations_total{kind="read",outcome="succeeded"}').toBe(1);
  await pollSeries('gateway_records_total{kind="read"}').toBe(3);
  await pollSeries('gateway_delivery_attempt_duration_seconds_count{outcome="succeeded"}').toBe(1);
  await pollSeries('gateway_deliveries_pending').toBe(0);
  await pollSeries('gateway_database_up').toBe(1);
  await pollSeries('gateway_work_running{kind="read"}').toBe(0);
  await pollSeries('gateway_work_due{kind="read"}').toBe(0);
  expect(
    await readSeries('db_client_operation_duration_seconds_count{outcome="ok"}'),
  ).toBeGreaterThan(0);
  expect(await readSeries('db_client_connection_max')).toBeGreaterThan(0);
});

test('reports the due deliveries and the age of the oldest', async () => {
  const { prisma } = app.app.services.database;
  const { projectId } = await app.createTenant();
  const destinationId = await insertDestination(projectId);
  const nextAttemptTime = new Date(Date.now() - 3_600_000);
  await prisma.delivery.create({
    data: {
      ...{ id: 'dlv_old', projectId, destinationId, body: '{}' },
      ...{ nextAttemptTime, leaseExpireTime: new Date(Date.now() + 3_600_000), leaseToken: 'held' },
    },
  });
  expect(await readSeries('gateway_deliveries_pending')).toBe(1);
  expect(await readSeries('gateway_deliveries_due')).toBe(1);
  expect(await readSeries('gateway_delivery_oldest_due_seconds')).toBeGreaterThan(3_500);
  await prisma.destination.updateMany({
    where: { id: destinationId },
    data: { status: 'DISABLED' },
  });
  expect(await readSeries('gateway_deliveries_pending')).toBe(0);
});

test('counts provider events by outcome, and reports the waiting events and the age of the oldest', async () => {
  const { prisma } = app.app.services.database;
  const { projectId } = await app.createTenant();
  const sendEvent = async (init: RequestInit) => {
    const path = '/webhooks/sandbox/app_00000000000000000000000000';
    return (await app.fetch(path, { method: 'POST', body: 'x', ...init })).status;
  };
  const countEvents = (outcome: string) =>
    readSeries(`gateway_provider_event_requests_total{provider="sandbox",outcome="${outcome}"}`);
  expect(await sendEvent({})).toBe(401);
  expect(await countEvents('UNKNOWN_APP')).toBe(1);
  expect(await sendEvent({ headers: { 'content-encoding': 'gzip' } })).toBe(415);
  expect(await countEvents('COMPRESSED')).toBe(1);
  expect(await sendEvent({ body: 'x'.repeat(1024 * 1024 + 1) })).toBe(413);
  expect(await countEvents('TOO_LARGE')).toBe(1);
  const event = { installationId: 'ins', objectName: 'contacts', nativeId: 'one', nativeType: 'x' };
  const receiveTime = new Date(Date.now() - 3_600_000);
  await prisma.providerEvent.create({
    data: {
      ...{ projectId, ...event, providerAppId: 'app', kind: 'CREATE', eventTime: receiveTime },
      receiveTime,
    },
  });
  expect(await readSeries('gateway_provider_events_waiting')).toBe(1);
  expect(await readSeries('gateway_provider_event_oldest_seconds')).toBeGreaterThan(3_500);
  await prisma.providerEvent.deleteMany({ where: { projectId } });
  expect(await readSeries('gateway_provider_events_waiting')).toBe(0);
  expect(await readSeries('gateway_provider_event_oldest_seconds')).toBe(0);
});

async function insertDestination(projectId: string): Promise<string> {
  const { prisma } = app.app.services.database;
  const id = newId('dst');
  const url = 'https://hooks.example.com/in';
  const data = {
    id,
    projectId,
    name: 'waits',
    url,
    type: 'WEBHOOK',
    signingSecretSealed: 'sealed',
  };
  await prisma.destination.create({ data: data as never });
  return id;
}

test('counts provider events by provider, with one series for unknown names', async () => {
  for (const provider of ['hubspot', 'unknown', 'someone']) {
    await app.fetch(`/webhooks/${provider}/${newId('app')}`, { method: 'POST', body: '{}' });
  }
  const countRefusals = (provider: string) =>
    readSeries(
      `gateway_provider_event_requests_total{provider="${provider}",outcome="UNKNOWN_APP"}`,
    );
  expect(await countRefusals('hubspot')).toBe(1);
  expect(await countRefusals('unknown')).toBe(2);
});

test('counts open event streams', async () => {
  const tenant = await app.createTenant();
  const headers = {
    ...{ accept: 'text/event-stream', 'content-type': 'application/json' },
    'x-api-key': tenant.apiKey,
  };
  const query = `subscription NotificationEvents { notificationEvents(projectIdOrName: "${tenant.projectId}") { cursor } }`;
  const abortController = new AbortController();
  const body = JSON.stringify({ query });
  const { signal } = abortController;
  await app.fetch('/graphql', { method: 'POST', headers, body, signal });
  await pollSeries('gateway_event_streams').toBe(1);
  abortController.abort();
  await pollSeries('gateway_event_streams').toBe(0);
});

test('puts no id of a tenant into a label, except the projects of METRICS_PROJECTS', async () => {
  expect(await (await fetch(url)).text()).not.toMatch(/(prj|opr|con|ik|dst)_[a-z0-9]/i);
  const { meters, registry } = createMetrics({ METRICS_PROJECTS: ['prj_listed'] });
  for (const projectId of ['prj_listed', 'prj_other', 'prj_third']) {
    meters.operationEnded({ kind: 'read', outcome: 'succeeded', projectId });
  }
  const text = await registry.metrics();
  expect(text).toContain(
    'gateway_operations_total{kind="read",outcome="succeeded",project="prj_listed"} 1',
  );
  expect(text).toContain('gateway_operations_total{kind="read",outcome="succeeded",project=""} 2');
  expect(text).not.toMatch(/prj_other|prj_third/);
});

test('counts unknown HTTP methods in one series', async () => {
  const { meters, registry } = createMetrics({ METRICS_PROJECTS: [] });
  for (const method of ['PROPFIND', 'BREW']) {
    meters.httpResponded({ method, route: '/*', status: 404, seconds: 0.1 });
  }
  expect(await registry.metrics()).toContain(
    'http_server_request_duration_seconds_count{http_request_method="_OTHER",http_route="/*",http_response_status_code="404"} 2',
  );
});

test('measures nothing and opens no port without METRICS_PORT', async () => {
  await using appWithoutMetrics = await createTestApp();
  expect(appWithoutMetrics.app.services.meters).toBe(NO_METERS);
  expect((await appWithoutMetrics.app.start()).metrics).toBeUndefined();
});
