/** A trace spans two processes: the request in one process, and the job and the delivery in another. */
import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { createTestApp, createTestDatabase, keepOpen } from '../../support/app.ts';
import { installReads, TRIGGER_READ } from '../../support/fixtures/reads.ts';
import { createSandboxClient } from '../../support/fixtures/subscriptions.ts';
import { createWebhook } from '../../support/fixtures/webhooks.ts';
import { ENCRYPTION_KEY } from '../../support/process/encryption-key.ts';
import { findFreePort } from '../../support/process/free-port.ts';
import { startReceiver } from '../../support/receiver.ts';
import { type ReceivedSpan, startTraceReceiver } from '../../tracing/trace-receiver.ts';
import { getDatabaseUrl, startGateway } from '../fixtures/gateway.ts';

const POLLING = { timeout: 90_000, interval: 100 };

/** Creates an installation that reads contacts, with a webhook at the URL. */
async function createFixture(receiverUrl: string) {
  const database = await createTestDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const commonEnv = { ENCRYPTION_KEY, ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' };
  await using app = await createTestApp({ env: commonEnv, database: keepOpen(database) });
  const tenant = await app.createTenant();
  await createWebhook(tenant, { name: 'records', url: receiverUrl });
  const object = { mapToName: undefined, schedule: undefined };
  const requiredFields = [{ fieldName: 'email' }];
  const { triggerInput } = await installReads(app, tenant, {
    object: { ...object, requiredFields },
  });
  const env = { ...commonEnv, DATABASE_URL: await getDatabaseUrl(database) };
  return { env, apiKey: tenant.apiKey, triggerInput };
}

async function startTestTraceReceiver() {
  const receiver = await startTraceReceiver();
  onTestFinished(() => receiver[Symbol.asyncDispose]());
  return receiver;
}

test('continues the trace of a request in the job and the delivery of another process', async () => {
  const webhookReceiver = await startReceiver();
  onTestFinished(() => webhookReceiver[Symbol.asyncDispose]());
  const { env, apiKey, triggerInput } = await createFixture(webhookReceiver.getUrl('read'));
  const [apiTraces, workerTraces] = [
    await startTestTraceReceiver(),
    await startTestTraceReceiver(),
  ];
  const SANDBOX_PORT = `${await findFreePort()}`;
  const startRole = (ROLES: string, OTEL_EXPORTER_OTLP_ENDPOINT: string) =>
    startGateway({ ...env, SANDBOX_PORT, ROLES, OTEL_EXPORTER_OTLP_ENDPOINT });
  const api = await startRole('api', apiTraces.url);
  await startRole('worker', workerTraces.url);
  await createSandboxClient(`http://127.0.0.1:${SANDBOX_PORT}`).create({
    email: 'ada@example.test',
  });

  const [traceId, callerId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  const traceparent = `00-${traceId}-${callerId}-01`;
  const response = await fetch(`${api.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': apiKey, traceparent },
    body: JSON.stringify({
      query: TRIGGER_READ,
      variables: { input: { ...triggerInput, objectName: 'contacts' } },
    }),
  });
  expect(await response.json()).not.toHaveProperty('errors');

  const listSpans = ({ spans }: { spans: ReceivedSpan[] }) =>
    spans.filter((span) => span.traceId === traceId);
  const findSpan = (receiver: { spans: ReceivedSpan[] }, name: string) =>
    listSpans(receiver).find((span) => span.name === name);
  await expect
    .poll(() => findSpan(apiTraces, 'POST /graphql')?.parentSpanId, POLLING)
    .toBe(callerId);
  await expect.poll(() => findSpan(workerTraces, 'run read'), POLLING).toBeDefined();
  await expect.poll(() => findSpan(workerTraces, 'deliver'), POLLING).toBeDefined();
  const listSpanIds = (receiver: { spans: ReceivedSpan[] }) =>
    listSpans(receiver).map(({ spanId }) => spanId);
  // The parent of the work's span is a span of the request, which the other process exported.
  expect(listSpanIds(apiTraces)).toContain(findSpan(workerTraces, 'run read')?.parentSpanId);
  expect(listSpanIds(workerTraces)).toContain(findSpan(workerTraces, 'deliver')?.parentSpanId);
  expect(findSpan(apiTraces, 'run read')).toBeUndefined();
  const [message] = webhookReceiver.listMessages('read');
  expect(message?.headers.traceparent).toContain(traceId);
});
