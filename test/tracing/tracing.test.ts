import { randomBytes } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createLog } from '../../src/kernel/log.ts';
import {
  findCurrentSpan,
  findCurrentTraceparent,
  inSpan,
  inTrace,
} from '../../src/kernel/spans.ts';
import { createTestApp, getSharedApp } from '../support/app.ts';
import { createNames, recordNamedEvents, routeEvents } from '../support/event-log.ts';
import { openEventStream } from '../support/event-stream.ts';
import { CREATE_DESTINATION } from '../support/fixtures/integrations.ts';
import { installReads, TRIGGER_READ } from '../support/fixtures/reads.ts';
import { createContact, createWriter } from '../support/fixtures/writes.ts';
import { requestMcp } from '../support/mcp/mcp-client.ts';
import { startReceiver } from '../support/receiver.ts';
import { type ReceivedSpan, startTraceReceiver } from './trace-receiver.ts';

const POLLING = { interval: 50 };
const SECRET_HEADER = 'of-the-operator';

const traceReceiver = await startTraceReceiver();
const webhookReceiver = await startReceiver();
const logLines: Record<string, unknown>[] = [];
const app = await getSharedApp({
  log: createLog('info', { write: (line) => void logLines.push(JSON.parse(line)) }),
  env: {
    OTEL_EXPORTER_OTLP_ENDPOINT: traceReceiver.url,
    OTEL_EXPORTER_OTLP_HEADERS: `x-receiver-key=${SECRET_HEADER}`,
    OTEL_BSP_SCHEDULE_DELAY: '20',
    ALLOWED_PRIVATE_TARGETS: '127.0.0.1/32',
  },
});
afterAll(async () => {
  await traceReceiver[Symbol.asyncDispose]();
  await webhookReceiver[Symbol.asyncDispose]();
});

/** Creates the trace of a caller, such as a builder's backend. */
function createTrace(flags = '01') {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  const traceparent = `00-${traceId}-${spanId}-${flags}`;
  const listSpans = () => traceReceiver.spans.filter((span) => span.traceId === traceId);
  return { traceId, spanId, traceparent, listSpans };
}

/** Returns the names of the spans from the gateway's first span down to this span. */
function listPath(span: ReceivedSpan | undefined): string[] {
  if (!span) return [];
  const parent = traceReceiver.spans.find(({ spanId }) => spanId === span.parentSpanId);
  return [...listPath(parent), span.name];
}

const listPaths = (spans: ReceivedSpan[]) =>
  new Set(spans.map((span) => listPath(span).join(' > ')));

test('traces a request from its caller to its statements', async () => {
  const tenant = await app.createTenant();
  const { traceparent, spanId, listSpans } = createTrace();
  const query = `query Project { project(idOrName: "${tenant.projectId}") { id operations(first: 1) { totalCount } } }`;
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
  const [serverSpan] = listSpans().filter(({ name }) => name === 'POST /graphql');
  expect(serverSpan?.parentSpanId).toBe(spanId);
  expect(serverSpan?.attributes).toMatchObject({
    'http.route': '/graphql',
    'graphql.operation.name': 'Project',
  });
});

test('marks the span of a request as failed if its operation fails', async () => {
  const { traceparent, listSpans } = createTrace();
  const { errors } = await app
    .createClient({ traceparent })
    .request('query Viewer { viewer { nothing } }');
  expect(errors?.[0]?.extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
  await expect.poll(() => listPaths(listSpans()), POLLING).toContain('POST /graphql');
  const [serverSpan] = listSpans().filter(({ name }) => name === 'POST /graphql');
  expect(serverSpan).toMatchObject({ hasFailed: true });
  expect(serverSpan?.attributes).toMatchObject({ 'error.type': 'GRAPHQL_VALIDATION_FAILED' });
});

test('traces the opening of a stream below its request, and no later messages', async () => {
  const tenant = await app.createTenant();
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
  const tenant = await app.createTenant();
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
  const line = logLines.find((entry) => entry.msg === 'request.ended' && entry.traceId === traceId);
  expect(line).toMatchObject({ path, method: 'PATCH' });
});

test('traces the tool of an agent by its name, with its failure', async () => {
  const { projectId, apiKey } = await app.createTenant();
  const { traceparent, listSpans } = createTrace();
  const caller = { projectId, headers: { 'x-api-key': apiKey, traceparent } };
  await requestMcp(app, caller, 'tools/call', {
    name: 'search_objects',
    arguments: { group: 'none' },
  });
  await expect.poll(() => listPaths(listSpans()), POLLING).toContain('POST /mcp/*');
  expect(listPaths(listSpans())).toContain('POST /mcp/* > admit');
  expect(listPaths(listSpans())).toContain('POST /mcp/* > execute > SELECT Group');
  const executeSpan = listSpans().find(({ name }) => name === 'execute');
  expect(executeSpan).toMatchObject({ hasFailed: true });
  expect(executeSpan?.attributes).toMatchObject({ 'gateway.tool': 'search_objects' });
});

test('traces batched reads in the trace of the work that needs them', async () => {
  const { projectId } = await app.createTenant();
  const { services } = app.app;
  const [firstTrace, secondTrace] = [createTrace(), createTrace()];
  const read = (table: 'ApiKey' | 'Group' | 'Topic') =>
    services.database.reads.find(table, { projectId });
  const readInTrace = (trace: typeof firstTrace, table: 'ApiKey' | 'Topic') =>
    inTrace(services, { name: 'work', parent: trace.traceparent }, () =>
      inSpan('part', {}, () => read(table)),
    );
  await Promise.all([
    readInTrace(firstTrace, 'ApiKey'),
    read('Group'),
    readInTrace(secondTrace, 'Topic'),
    read('Group'),
  ]);
  await expect.poll(() => listPaths(secondTrace.listSpans()), POLLING).toContain('work');
  expect(listPaths(firstTrace.listSpans())).toEqual(
    new Set(['work', 'work > part', 'work > part > SELECT ApiKey']),
  );
  expect(listPaths(secondTrace.listSpans())).toEqual(
    new Set(['work', 'work > part', 'work > part > SELECT Topic']),
  );
});

test('traces a statement over all projects by its verb and table', async () => {
  const { traceparent, listSpans } = createTrace();
  const { url } = await app.app.start();
  const request = { method: 'POST', headers: { traceparent }, body: '[]' };
  const response = await fetch(`${url}/webhooks/sandbox/app_${'0'.repeat(26)}`, request);
  expect(response.status).toBe(401);
  const listSpanNames = () => listSpans().map(({ name }) => name);
  await expect.poll(listSpanNames, POLLING).toContain('SELECT ProviderApp');
});

test('traces a write up to the provider', async () => {
  const writer = await createWriter(app);
  const { traceparent, listSpans } = createTrace();
  const record = createContact();
  const client = app.createClient({ 'x-api-key': writer.apiKey, traceparent });
  await client.query(
    `mutation WriteRecords($input: WriteRecordsInput!) { writeRecords(input: $input) { operation { id status } } }`,
    writer.createVariables({ record }),
  );
  await expect
    .poll(() => [...listPaths(listSpans())].join('\n'), POLLING)
    .toMatch(/POST \/graphql > execute > .*provider call > POST$/m);
  await expect.poll(() => listPaths(listSpans()), POLLING).toContain('POST /graphql');
  const [callSpan] = listSpans().filter(({ name }) => name === 'provider call');
  expect(callSpan?.attributes).toMatchObject({ 'gateway.provider': 'sandbox' });
});

test('traces a read with its time slices and deliveries, also if another process runs them', async () => {
  app.app.sandbox.seed('companies', 3);
  const tenant = await app.createTenant();
  const { signingSecret } = (
    await tenant.query(CREATE_DESTINATION, {
      input: {
        ...{ projectIdOrName: tenant.projectId, name: 'records', type: 'WEBHOOK' },
        url: webhookReceiver.getUrl('read'),
      },
    })
  ).createDestination;
  const object = { objectName: 'companies', mapToName: undefined, schedule: undefined };
  const reads = await installReads(app, tenant, {
    object: { ...object, requiredFields: [{ fieldName: 'name' }] },
  });
  const { traceId, traceparent, listSpans } = createTrace();
  const client = app.createClient({ 'x-api-key': tenant.apiKey, traceparent });
  await client.query(TRIGGER_READ, { input: { ...reads.triggerInput, objectName: 'companies' } });
  // The request has ended. The app starts only now, and runs the work as another process would.
  await app.app.start();
  await webhookReceiver.waitForMessages('read', 1);
  const [message] = webhookReceiver.listMessages('read');
  await expect
    .poll(() => [...listPaths(listSpans())].join('\n'), POLLING)
    .toMatch(/> deliver > POST$/m);
  await expect
    .poll(() => [...listPaths(listSpans())].join('\n'), POLLING)
    .toMatch(/> run read > provider call > GET$/m);
  const [sendSpan] = listSpans().filter(
    (span) => listPath(span).slice(-2).join() === 'deliver,POST',
  );
  expect(message?.headers.traceparent).toBe(`00-${traceId}-${sendSpan?.spanId}-01`);
  expect(listPaths(listSpans())).toContain('POST /graphql');
  // Traces must not contain records, names of customers or credentials.
  const { result } = JSON.parse(message?.body ?? '');
  const secrets = [tenant.apiKey, signingSecret, 'sandbox-key', SECRET_HEADER, 'x-api-key'];
  const forbidden = [...secrets, 'acme', ...result.map(({ fields }: Page) => fields.name)];
  expect(forbidden).toHaveLength(9);
  for (const text of forbidden) expect(traceReceiver.readBytes()).not.toContain(text);
  expect(traceReceiver.readHeaders()).toMatchObject({ 'x-receiver-key': SECRET_HEADER });
});

interface Page {
  fields: { name: string };
}

test('exports no trace that the caller does not sample, and logs its id', async () => {
  const tenant = await app.createTenant();
  const { traceId, traceparent, listSpans } = createTrace('00');
  await app
    .createClient({ 'x-api-key': tenant.apiKey, traceparent })
    .query('query Viewer { viewer { __typename } }');
  const hasEnded = () => logLines.some((line) => line.traceId === traceId);
  await expect.poll(hasEnded, POLLING).toBe(true);
  const marker = createTrace();
  await app.createClient({ traceparent: marker.traceparent }).request('{ __typename }');
  await expect.poll(() => marker.listSpans().length, POLLING).toBeGreaterThan(0);
  expect(listSpans()).toEqual([]);
});

test('traces no request that the sampler drops, and passes on the trace of the caller', async () => {
  const env = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' };
  await using unsampledApp = await createTestApp({
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: traceReceiver.url, ...env },
  });
  const { services } = unsampledApp.app;
  expect(inTrace(services, { name: 'request' }, findCurrentSpan)).toBeNull();
  const { traceId, traceparent } = createTrace();
  const parent = inTrace(
    services,
    { name: 'request', parent: traceparent },
    findCurrentTraceparent,
  );
  expect(parent).toMatch(new RegExp(`^00-${traceId}-\\w{16}-01$`));
});

test('starts no trace from the parts of an unsampled trace, even with metrics', async () => {
  const env = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.5' };
  await using halfSampledApp = await createTestApp({
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: traceReceiver.url, METRICS_PORT: '0', ...env },
  });
  const spanCountBefore = traceReceiver.spans.length;
  for (let count = 0; count < 40; count += 1)
    await halfSampledApp.createClient().request('{ __typename }');
  const { traceparent, listSpans } = createTrace();
  await halfSampledApp.createClient({ traceparent }).request('{ __typename }');
  // Spans are sent in the order of their ends.
  await halfSampledApp.app[Symbol.asyncDispose]();
  await expect.poll(listSpans, POLLING).not.toEqual([]);
  const roots = traceReceiver.spans
    .slice(spanCountBefore)
    .filter(({ parentSpanId }) => parentSpanId === '');
  expect(new Set(roots.map(({ name }) => name))).toEqual(new Set(['POST /graphql']));
});

test('repeats no fields of earlier log lines', () => {
  const writtenLines: unknown[] = [];
  const log = createLog('info', { write: (line) => void writtenLines.push(JSON.parse(line)) });
  log.info({ first: 1 }, 'line.written');
  log.info({ second: 2 }, 'line.written');
  const head = { level: 'info', time: expect.any(String), msg: 'line.written' };
  expect(writtenLines).toEqual([
    { ...head, first: 1 },
    { ...head, second: 2 },
  ]);
});

test('starts a new trace for a malformed traceparent', async () => {
  const spanCountBefore = traceReceiver.spans.length;
  for (const traceparent of ['nothing', `ff-${'a'.repeat(32)}-${'b'.repeat(16)}-01`]) {
    await app.createClient({ traceparent }).request('{ __typename }');
  }
  const listRoots = () =>
    traceReceiver.spans
      .slice(spanCountBefore)
      .filter(({ name, parentSpanId }) => name === 'POST /graphql' && parentSpanId === '');
  await expect.poll(() => listRoots().length, POLLING).toBe(2);
});

test("logs a receiver's refusal once, and continues to serve requests", async () => {
  traceReceiver.responseStatus = 500;
  const client = app.createClient();
  const listFailures = () => logLines.filter(({ msg }) => msg === 'traces.not_sent');
  await expect
    .poll(async () => {
      expect((await client.request('{ __typename }')).data).toBeTruthy();
      return listFailures().length;
    }, POLLING)
    .toBe(1);
  traceReceiver.responseStatus = 200;
});

test('imports the SDK of OpenTelemetry only in src/tracing, which no other module imports statically', () => {
  const src = join(import.meta.dirname, '..', '..', 'src');
  const importingFiles = globSync('**/*.ts', { cwd: src, exclude: ['tracing/**'] }).filter((file) =>
    /from '(@opentelemetry\/(?!api')|[./]+tracing\/)/.test(readFileSync(join(src, file), 'utf8')),
  );
  expect(importingFiles).toEqual([]);
});

test('traces nothing without a receiver', async () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: traceReceiver.url, OTEL_SDK_DISABLED: 'true' };
  await using appWithDisabledSdk = await createTestApp({ env });
  await using appWithoutReceiver = await createTestApp();
  expect(appWithDisabledSdk.app.services.tracer).toBeNull();
  expect(appWithoutReceiver.app.services.tracer).toBeNull();
});
