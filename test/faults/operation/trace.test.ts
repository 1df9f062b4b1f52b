/** One trace over two processes: the request of one, and the job and the delivery that the other one does. */
import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { testApp, testDatabase } from '../../support/app.ts';
import { startReceiver } from '../../support/receiver.ts';
import { installReading, TRIGGER } from '../../support/scenes/reads.ts';
import { sandboxClient } from '../../support/scenes/subscriptions.ts';
import { type ReceivedSpan, startTraceReceiver } from '../../tracing/trace-receiver.ts';
import { databaseUrl, ENCRYPTION_KEY, startGateway } from '../scenes/gateway.ts';
import { freePort } from './balancer.ts';

const WAITING = { timeout: 90_000, interval: 100 };

const CREATE_DESTINATION = `mutation ($input: CreateDestinationInput!) {
  createDestination(input: $input) { destination { id } }
}`;

/** An installation that reads contacts, whose messages go to the URL. */
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
  const reading = await installReading(app, tenant, { object: { ...object, requiredFields } });
  const env = { ...common, DATABASE_URL: await databaseUrl(database) };
  return { env, apiKey: tenant.apiKey, trigger: reading.trigger };
}

async function traceReceiver() {
  const receiver = await startTraceReceiver();
  onTestFinished(() => receiver[Symbol.asyncDispose]());
  return receiver;
}

test('a read that one process is asked for is one trace with the job and the delivery of another one', async () => {
  const hooks = await startReceiver();
  onTestFinished(() => hooks[Symbol.asyncDispose]());
  const { env, apiKey, trigger } = await prepare(hooks.url('read'));
  const [ofApi, ofWorker] = [await traceReceiver(), await traceReceiver()];
  const SANDBOX_PORT = `${await freePort()}`;
  const start = (ROLES: string, OTEL_EXPORTER_OTLP_ENDPOINT: string) =>
    startGateway({ ...env, SANDBOX_PORT, ROLES, OTEL_EXPORTER_OTLP_ENDPOINT });
  const api = await start('api', ofApi.url);
  await start('worker', ofWorker.url);
  await sandboxClient(`http://127.0.0.1:${SANDBOX_PORT}`).create({ email: 'ada@example.test' });

  const [traceId, callerId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  const traceparent = `00-${traceId}-${callerId}-01`;
  const answer = await fetch(`${api.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': apiKey, traceparent },
    body: JSON.stringify({
      query: TRIGGER,
      variables: { input: { ...trigger, objectName: 'contacts' } },
    }),
  });
  expect(await answer.json()).not.toHaveProperty('errors');

  const ofTrace = ({ spans }: { spans: ReceivedSpan[] }) =>
    spans.filter((span) => span.traceId === traceId);
  const named = (from: { spans: ReceivedSpan[] }, name: string) =>
    ofTrace(from).find((span) => span.name === name);
  await expect.poll(() => named(ofApi, 'POST /graphql')?.parentSpanId, WAITING).toBe(callerId);
  await expect.poll(() => named(ofWorker, 'job run-read'), WAITING).toBeDefined();
  await expect.poll(() => named(ofWorker, 'deliver'), WAITING).toBeDefined();
  const ids = (from: { spans: ReceivedSpan[] }) => ofTrace(from).map(({ spanId }) => spanId);
  // The job hangs on a part of the request, which the other process has told.
  expect(ids(ofApi)).toContain(named(ofWorker, 'job run-read')?.parentSpanId);
  expect(ids(ofWorker)).toContain(named(ofWorker, 'deliver')?.parentSpanId);
  expect(named(ofApi, 'job run-read')).toBeUndefined();
  const [message] = hooks.received('read');
  expect(message?.headers.traceparent).toContain(traceId);
});
