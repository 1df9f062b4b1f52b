import { randomBytes } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createLog } from '../../src/log.ts';
import { findCurrentSpan, findCurrentTraceparent, inSpan, inTrace } from '../../src/spans.ts';
import { createTestApp, getSharedApp } from '../support/app.ts';
import { createNames, recordNamedEvents, routeEvents } from '../support/event-log.ts';
import { openEventStream } from '../support/event-stream.ts';
import { CREATE_DESTINATION } from '../support/fixtures/integrations.ts';
import { installReads, TRIGGER_READ } from '../support/fixtures/reads.ts';
import { createContact, createWriter } from '../support/fixtures/writes.ts';
import { requestMcp } from '../support/mcp/mcp-client.ts';
import { startReceiver } from '../support/receiver.ts';
import { type ReceivedSpan, startTraceReceiver } from './trace-receiver.ts';

const POLLING = { timeout: 20_000, interval: 50 };
const SECRET_HEADER = 'of-the-operator';

const traces = await startTraceReceiver();
const hooks = await startReceiver();
const lines: Record<string, unknown>[] = [];
const app = await getSharedApp({
  log: createLog('info', { write: (line) => void lines.push(JSON.parse(line)) }),
  env: {
    OTEL_EXPORTER_OTLP_ENDPOINT: traces.url,
    OTEL_EXPORTER_OTLP_HEADERS: `x-receiver-key=${SECRET_HEADER}`,
    OTEL_BSP_SCHEDULE_DELAY: '20',
    ALLOWED_PRIVATE_TARGETS: '127.0.0.1/32',
  },
});
afterAll(async () => {
  await traces[Symbol.asyncDispose]();
  await hooks[Symbol.asyncDispose]();
});

/** Creates the trace of a caller, such as a builder's backend. */
function createTrace(flags = '01') {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  const traceparent = `00-${traceId}-${spanId}-${flags}`;
  const listSpans = () => traces.spans.filter((span) => span.traceId === traceId);
  return { traceId, spanId, traceparent, listSpans };
}

/** Returns the names of the spans from the gateway's first span down to this span. */
function listPath(span: ReceivedSpan | undefined): string[] {
  if (!span) return [];
  const parent = traces.spans.find(({ spanId }) => spanId === span.parentSpanId);
  return [...listPath(parent), span.name];
}

const listPaths = (spans: ReceivedSpan[]) =>
  new Set(spans.map((span) => listPath(span).join(' > ')));

test('traces a request from its caller to its statements', async () => {
  const tenant = await app.tenant();
  const { traceparent, spanId, listSpans } = createTrace();
  const query = `query Look { project(idOrName: "${tenant.projectId}") { id operations(first: 1) { totalCount } } }`;
  const response = await app.fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': tenant.apiKey, traceparent },
    body: JSON.stringify({ query }),
  });
  expect(response.status).toBe(200);
  await expect.poll(() => listPaths(listSpans()), POLLING).toContain('POST /graphql');
  const names = listPaths(listSpans());
  expect(names).toContain('POST /graphql > parse');
  expect(names).toContain('POST /graphql > admit');
  expect(names).toContain('POST /graphql > execute');
  expect(names).toContain('POST /graphql > execute > SELECT Project');
  const [server] = listSpans().filter(({ name }) => name === 'POST /graphql');
  expect(server?.parentSpanId).toBe(spanId);
  expect(server?.attributes).toMatchObject({
    'http.route': '/graphql',
    'graphql.operation.name': 'Look',
  });
});

test('marks the span of a request as failed if its operation fails', async () => {
  const { traceparent, listSpans } = createTrace();
  const { errors } = await app.client({ traceparent }).request('{ viewer { nothing } }');
  expect(errors?.[0]?.extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
  await expect.poll(() => listPaths(listSpans()), POLLING).toContain('POST /graphql');
  const [server] = listSpans().filter(({ name }) => name === 'POST /graphql');
  expect(server).toMatchObject({ hasFailed: true });
  expect(server?.attributes).toMatchObject({ 'error.type': 'GRAPHQL_VALIDATION_FAILED' });
});

test('traces the opening of a stream below its request, and no later messages', async () => {
  const tenant = await app.tenant();
  const { database } = app.app.services;
  await routeEvents(database.prisma, tenant.projectId);
  const { traceparent, listSpans } = createTrace();
  const stream = await openEventStream(app.fetch, {
    query: `subscription NotificationEvents($project: String!) {
      notificationEvents(projectIdOrName: $project) { cursor node { data } }
    }`,
    variables: { project: tenant.projectId },
    headers: { 'x-api-key': tenant.apiKey, traceparent },
  });
  // The span of the request ends with the stream.
  await expect.poll(() => listSpans().map(({ name }) => name), POLLING).toContain('graphql');
  const spansAtOpening = listSpans().length;
  await recordNamedEvents(database, tenant, createNames('e', 3));
  for (let index = 0; index < 3; index += 1) expect((await stream.next())?.event).toBe('next');
  stream.close();
  await expect.poll(() => listPaths(listSpans()), POLLING).toContain('POST /graphql > graphql');
  expect(listSpans().length).toBe(spansAtOpening + 1);
});

test('keeps the trace of a REST request after its body has arrived', async () => {
  const tenant = await app.tenant();
  const { traceparent, traceId, listSpans } = createTrace();
  const path = `/v1/projects/${tenant.projectId}`;
  const headers = { 'content-type': 'application/json', 'x-api-key': tenant.apiKey, traceparent };
  const response = await app.fetch(path, {
    method: 'PATCH',
    headers,
    body: '{"updateMask":["appName"],"project":{"appName":"An app"}}',
  });
  expect(response.status).toBe(200);
  await expect.poll(() => listPaths(listSpans()), POLLING).toContain('PATCH /v1/*');
  expect(listPaths(listSpans())).toContain('PATCH /v1/* > admit');
  expect(listPaths(listSpans())).toContain('PATCH /v1/* > execute');
  const line = lines.find((entry) => entry.msg === 'request.ended' && entry.traceId === traceId);
  expect(line).toMatchObject({ path, method: 'PATCH' });
});

test("traces an agent's tool by its name, with its failure", async () => {
  const { projectId, apiKey } = await app.tenant();
  const { traceparent, listSpans } = createTrace();
  const caller = { projectId, headers: { 'x-api-key': apiKey, traceparent } };
  await requestMcp(app, caller, 'tools/call', {
    name: 'search_objects',
    arguments: { group: 'none' },
  });
  await expect.poll(() => listPaths(listSpans()), POLLING).toContain('POST /mcp/*');
  expect(listPaths(listSpans())).toContain('POST /mcp/* > admit');
  expect(listPaths(listSpans())).toContain('POST /mcp/* > execute > SELECT Group');
  const execute = listSpans().find(({ name }) => name === 'execute');
  expect(execute).toMatchObject({ hasFailed: true });
  expect(execute?.attributes).toMatchObject({ 'gateway.tool': 'search_objects' });
});

test('traces batched reads in the trace of the work that needs them', async () => {
  const { projectId } = await app.tenant();
  const { services } = app.app;
  const [first, other] = [createTrace(), createTrace()];
  const read = (table: 'ApiKey' | 'Group' | 'Topic') =>
    services.database.rows.find(table, { projectId });
  const readIn = (trace: typeof first, table: 'ApiKey' | 'Topic') =>
    inTrace(services, { name: 'work', parent: trace.traceparent }, () =>
      inSpan('part', {}, () => read(table)),
    );
  await Promise.all([
    readIn(first, 'ApiKey'),
    read('Group'),
    readIn(other, 'Topic'),
    read('Group'),
  ]);
  await expect.poll(() => listPaths(other.listSpans()), POLLING).toContain('work');
  expect(listPaths(first.listSpans())).toEqual(
    new Set(['work', 'work > part', 'work > part > SELECT ApiKey']),
  );
  expect(listPaths(other.listSpans())).toEqual(
    new Set(['work', 'work > part', 'work > part > SELECT Topic']),
  );
});

test('names a statement over all projects by its verb and table', async () => {
  const { traceparent, listSpans } = createTrace();
  const { url } = await app.app.start();
  const sent = { method: 'POST', headers: { traceparent }, body: '[]' };
  const response = await fetch(`${url}/webhooks/sandbox/app_${'0'.repeat(26)}`, sent);
  expect(response.status).toBe(401);
  const listSpanNames = () => listSpans().map(({ name }) => name);
  await expect.poll(listSpanNames, POLLING).toContain('SELECT ProviderApp');
});

test('traces a write up to the provider', async () => {
  const writer = await createWriter(app);
  const { traceparent, listSpans } = createTrace();
  const record = createContact();
  const client = app.client({ 'x-api-key': writer.apiKey, traceparent });
  await client.query(
    `mutation WriteRecords($input: WriteRecordsInput!) { writeRecords(input: $input) { operation { id status } } }`,
    writer.createVariables({ record }),
  );
  await expect
    .poll(() => [...listPaths(listSpans())].join('\n'), POLLING)
    .toMatch(/POST \/graphql > execute > .*provider call > POST$/m);
  await expect.poll(() => listPaths(listSpans()), POLLING).toContain('POST /graphql');
  const [sent] = listSpans().filter(({ name }) => name === 'provider call');
  expect(sent?.attributes).toMatchObject({ 'gateway.provider': 'sandbox' });
});

test('traces a read with its jobs and deliveries, in whichever process they run', async () => {
  app.app.sandbox.seed('companies', 3);
  const tenant = await app.tenant();
  const { signingSecret } = (
    await tenant.query(CREATE_DESTINATION, {
      input: {
        ...{ projectIdOrName: tenant.projectId, name: 'records', type: 'WEBHOOK' },
        url: hooks.getUrl('read'),
      },
    })
  ).createDestination;
  const object = { objectName: 'companies', mapToName: undefined, schedule: undefined };
  const reads = await installReads(app, tenant, {
    object: { ...object, requiredFields: [{ fieldName: 'name' }] },
  });
  const { traceId, traceparent, listSpans } = createTrace();
  const client = app.client({ 'x-api-key': tenant.apiKey, traceparent });
  await client.query(TRIGGER_READ, { input: { ...reads.triggerInput, objectName: 'companies' } });
  // The request has ended. The app that starts now runs the work as another process would.
  await app.app.start();
  await hooks.waitForMessages('read', 1);
  const [message] = hooks.listMessages('read');
  await expect
    .poll(() => [...listPaths(listSpans())].join('\n'), POLLING)
    .toMatch(/> deliver > POST$/m);
  await expect
    .poll(() => [...listPaths(listSpans())].join('\n'), POLLING)
    .toMatch(/> job run-read > provider call > GET$/m);
  const [sent] = listSpans().filter((span) => listPath(span).slice(-2).join() === 'deliver,POST');
  expect(message?.headers.traceparent).toBe(`00-${traceId}-${sent?.spanId}-01`);
  expect(listPaths(listSpans())).toContain('POST /graphql');
  // Traces must not contain records, names of customers or credentials.
  const { result } = JSON.parse(message?.body ?? '');
  const secrets = [tenant.apiKey, signingSecret, 'sandbox-key', SECRET_HEADER, 'x-api-key'];
  const forbidden = [...secrets, 'acme', ...result.map(({ fields }: Page) => fields.name)];
  expect(forbidden).toHaveLength(9);
  for (const text of forbidden) expect(traces.bytes()).not.toContain(text);
  expect(traces.headers()).toMatchObject({ 'x-receiver-key': SECRET_HEADER });
});

interface Page {
  fields: { name: string };
}

test('exports no unsampled trace of a caller, and keeps its id', async () => {
  const tenant = await app.tenant();
  const { traceId, traceparent, listSpans } = createTrace('00');
  await app.client({ 'x-api-key': tenant.apiKey, traceparent }).query('{ viewer { __typename } }');
  const hasEnded = () => lines.some((line) => line.traceId === traceId);
  await expect.poll(hasEnded, POLLING).toBe(true);
  const marker = createTrace();
  await app.client({ traceparent: marker.traceparent }).request('{ __typename }');
  await expect.poll(() => marker.listSpans().length, POLLING).toBeGreaterThan(0);
  expect(listSpans()).toEqual([]);
});

test('traces no request that the sampler drops', async () => {
  const env = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' };
  await using unsampled = await createTestApp({
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: traces.url, ...env },
  });
  const { services } = unsampled.app;
  expect(inTrace(services, { name: 'request' }, findCurrentSpan)).toBeNull();
  const { traceId, traceparent } = createTrace();
  const parent = inTrace(
    services,
    { name: 'request', parent: traceparent },
    findCurrentTraceparent,
  );
  expect(parent).toMatch(new RegExp(`^00-${traceId}-\\w{16}-01$`));
});

test('starts no trace from parts of an unsampled one, even with metrics', async () => {
  const env = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.5' };
  await using half = await createTestApp({
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: traces.url, METRICS_PORT: '0', ...env },
  });
  const before = traces.spans.length;
  for (let sent = 0; sent < 40; sent += 1) await half.client().request('{ __typename }');
  const { traceparent, listSpans } = createTrace();
  await half.client({ traceparent }).request('{ __typename }');
  // Spans are sent in the order of their ends.
  await half.app[Symbol.asyncDispose]();
  await expect.poll(listSpans, POLLING).not.toEqual([]);
  const roots = traces.spans.slice(before).filter(({ parentSpanId }) => parentSpanId === '');
  expect(new Set(roots.map(({ name }) => name))).toEqual(new Set(['POST /graphql']));
});

test('writes no fields of earlier lines', () => {
  const written: unknown[] = [];
  const log = createLog('info', { write: (line) => void written.push(JSON.parse(line)) });
  log.info({ first: 1 }, 'line.written');
  log.info({ second: 2 }, 'line.written');
  const head = { level: 'info', time: expect.any(String), msg: 'line.written' };
  expect(written).toEqual([
    { ...head, first: 1 },
    { ...head, second: 2 },
  ]);
});

test('starts a new trace for a malformed traceparent', async () => {
  const before = traces.spans.length;
  for (const traceparent of ['nothing', `ff-${'a'.repeat(32)}-${'b'.repeat(16)}-01`]) {
    await app.client({ traceparent }).request('{ __typename }');
  }
  const listRoots = () =>
    traces.spans
      .slice(before)
      .filter(({ name, parentSpanId }) => name === 'POST /graphql' && parentSpanId === '');
  await expect.poll(() => listRoots().length, POLLING).toBe(2);
});

test("logs a receiver's refusal once, and continues to serve requests", async () => {
  traces.responseStatus = 500;
  const client = app.client();
  const listFailures = () => lines.filter(({ msg }) => msg === 'traces.not_sent');
  await expect
    .poll(async () => {
      expect((await client.request('{ __typename }')).data).toBeTruthy();
      return listFailures().length;
    }, POLLING)
    .toBe(1);
  traces.responseStatus = 200;
});

test("imports OpenTelemetry's SDK only in src/tracing, and loads that only if it is used", () => {
  const src = join(import.meta.dirname, '..', '..', 'src');
  const loading = globSync('**/*.ts', { cwd: src, exclude: ['tracing/**'] }).filter((file) =>
    /from '(@opentelemetry\/(?!api')|[./]+tracing\/)/.test(readFileSync(join(src, file), 'utf8')),
  );
  expect(loading).toEqual([]);
});

test('traces nothing without a receiver', async () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: traces.url, OTEL_SDK_DISABLED: 'true' };
  await using disabled = await createTestApp({ env });
  await using plain = await createTestApp();
  expect(disabled.app.services.tracer).toBeNull();
  expect(plain.app.services.tracer).toBeNull();
});
