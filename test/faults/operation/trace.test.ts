/** One trace spans two processes: the request in one, and the job and the delivery in the other. */
import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { testApp, testDatabase } from '../../support/app.ts';
import { installReads, TRIGGER } from '../../support/fixtures/reads.ts';
import { createSandboxClient } from '../../support/fixtures/subscriptions.ts';
import { findFreePort } from '../../support/process/free-port.ts';
import { startReceiver } from '../../support/receiver.ts';
import { type ReceivedSpan, startTraceReceiver } from '../../tracing/trace-receiver.ts';
import { databaseUrl, ENCRYPTION_KEY, startGateway } from '../fixtures/gateway.ts';

const WAITING = { timeout: 90_000, interval: 100 };

const CREATE_DESTINATION = `mutation ($input: CreateDestinationInput!) {
  createDestination(input: $input) { destination { id } }
}`;

/** Creates an installation that reads contacts, with a webhook at the URL. */
async function prepare(receiverUrl: string) {
  const database = await testDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const kept = { ...database, [Symbol.asyncDispose]: async () => {} };
  const common = { ENCRYPTION_KEY, ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' };
  await using app = await testApp({ env: common, database: kept });
  const tenant = await app.tenant();
  const destination = { projectIdOrName: tenant.projectId, name: 'records', type: 'WEBHOOK' };
  await tenant.query(CREATE_DESTINATION, { input: { ...destination, url: receiverUrl } });
  const object = { mapToName: undefined, schedule: undefined };
  const requiredFields = [{ fieldName: 'email' }];
  const reading = await installReads(app, tenant, { object: { ...object, requiredFields } });
  const env = { ...common, DATABASE_URL: await databaseUrl(database) };
  return { env, apiKey: tenant.apiKey, trigger: reading.trigger };
}

async function traceReceiver() {
  const receiver = await startTraceReceiver();
  onTestFinished(() => receiver[Symbol.asyncDispose]());
  return receiver;
}

test('a read has one trace over the request in one process and the job and delivery in another', async () => {
  const hooks = await startReceiver();
  onTestFinished(() => hooks[Symbol.asyncDispose]());
  const { env, apiKey, trigger } = await prepare(hooks.url('read'));
  const [ofApi, ofWorker] = [await traceReceiver(), await traceReceiver()];
  const SANDBOX_PORT = `${await findFreePort()}`;
  const start = (ROLES: string, OTEL_EXPORTER_OTLP_ENDPOINT: string) =>
    startGateway({ ...env, SANDBOX_PORT, ROLES, OTEL_EXPORTER_OTLP_ENDPOINT });
  const api = await start('api', ofApi.url);
  await start('worker', ofWorker.url);
  await createSandboxClient(`http://127.0.0.1:${SANDBOX_PORT}`).create({
    email: 'ada@example.test',
  });

  const [traceId, callerId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  const traceparent = `00-${traceId}-${callerId}-01`;
  const response = await fetch(`${api.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': apiKey, traceparent },
    body: JSON.stringify({
      query: TRIGGER,
      variables: { input: { ...trigger, objectName: 'contacts' } },
    }),
  });
  expect(await response.json()).not.toHaveProperty('errors');

  const ofTrace = ({ spans }: { spans: ReceivedSpan[] }) =>
    spans.filter((span) => span.traceId === traceId);
  const named = (from: { spans: ReceivedSpan[] }, name: string) =>
    ofTrace(from).find((span) => span.name === name);
  await expect.poll(() => named(ofApi, 'POST /graphql')?.parentSpanId, WAITING).toBe(callerId);
  await expect.poll(() => named(ofWorker, 'job run-read'), WAITING).toBeDefined();
  await expect.poll(() => named(ofWorker, 'deliver'), WAITING).toBeDefined();
  const ids = (from: { spans: ReceivedSpan[] }) => ofTrace(from).map(({ spanId }) => spanId);
  // The parent of the job's span is a span of the request, which the other process exported.
  expect(ids(ofApi)).toContain(named(ofWorker, 'job run-read')?.parentSpanId);
  expect(ids(ofWorker)).toContain(named(ofWorker, 'deliver')?.parentSpanId);
  expect(named(ofApi, 'job run-read')).toBeUndefined();
  const [message] = hooks.received('read');
  expect(message?.headers.traceparent).toContain(traceId);
});
