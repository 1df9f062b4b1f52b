/** @module-tag all/rows */
import { beforeAll, expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import {
  installActiveOnOrg,
  startSalesforceOrg,
} from '../../support/fixtures/salesforce-events.ts';
import {
  createEventsBody,
  createSentEvent,
  installWithInbox,
  type SentRequest,
  signRequest,
  WEBHOOK_SECRET,
} from '../../support/fixtures/signed-events.ts';
import { createSandboxApp, SUBSCRIPTION_POLLING } from '../../support/fixtures/subscriptions.ts';

const WAITING_MAX = 5;
const IN_AN_HOUR = new Date(Date.now() + 3_600_000);
const MEBIBYTE = 1024 * 1024;

const org = await startSalesforceOrg();
const app = await getSharedApp({
  env: {
    ...org.env,
    LIMIT_WAITING_EVENTS: `${WAITING_MAX}`,
    LIMIT_EVENT_REQUESTS_PER_SECOND: '4',
    LIMIT_EVENT_BYTES_PER_SECOND: `${MEBIBYTE}`,
  },
});
const { prisma } = app.app.services.database;
let url = '';
beforeAll(async () => {
  ({ url } = await app.app.start());
  return () => org[Symbol.asyncDispose]();
});

const send = (providerAppId: string, request: SentRequest) =>
  fetch(`${url}/webhooks/sandbox/${providerAppId}`, request);

/** Retries the request until it is accepted, as a provider does. */
const sendUntilAccepted = (providerAppId: string, body: Buffer<ArrayBuffer>) =>
  expect
    .poll(async () => (await send(providerAppId, signRequest(body))).status, SUBSCRIPTION_POLLING)
    .toBe(204);

const delayEvents = (projectId: string, eventsRetryTime: Date | null) =>
  prisma.objectSubscription.updateMany({ where: { projectId }, data: { eventsRetryTime } });

test("refuses excessive requests to an app, without affecting other apps or the app's provider", async () => {
  const tenant = await app.createTenant();
  const { providerAppId, account } = await installWithInbox(app, tenant);
  const otherApp = await createSandboxApp(tenant, { webhookSecret: WEBHOOK_SECRET });
  const forgedRequests = Array.from({ length: 40 }, () =>
    send(
      providerAppId,
      signRequest(createEventsBody(createSentEvent(account)), { secret: 'a guess' }),
    ),
  );
  expect(new Set((await Promise.all(forgedRequests)).map(({ status }) => status))).toEqual(
    new Set([401]),
  );
  const bodies = Array.from({ length: 40 }, () =>
    createEventsBody(createSentEvent(account, { type: 'contacts.merged' })),
  );
  const responses = await Promise.all(bodies.map((body) => send(providerAppId, signRequest(body))));
  expect(responses[0]?.status).toBe(204);
  const refusal = responses.find(({ status }) => status === 503);
  expect(refusal?.headers.get('retry-after')).toBe('1');
  expect(await refusal?.json()).toMatchObject({ detail: expect.stringMatching(/Retry-After/) });
  expect(
    (await send(otherApp.id, signRequest(createEventsBody(createSentEvent('x'))))).status,
  ).toBe(204);
  await sendUntilAccepted(providerAppId, createEventsBody(createSentEvent(account)));
});

test('refuses excessive bytes to an app without storing them, and accepts them later', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const { providerAppId, account } = await installWithInbox(app, tenant);
  const createLargeBody = () =>
    createEventsBody(createSentEvent(account, { padding: 'x'.repeat(MEBIBYTE - 1_000) }));
  const bodies = Array.from({ length: 6 }, createLargeBody);
  const statuses = await Promise.all(
    bodies.map(async (body) => (await send(providerAppId, signRequest(body))).status),
  );
  expect(new Set(statuses)).toEqual(new Set([204, 503]));
  const acceptedCount = statuses.filter((status) => status === 204).length;
  expect(await prisma.providerEvent.count({ where: { projectId } })).toBe(acceptedCount);
  const refusedBodies = bodies.filter((_, index) => statuses[index] === 503);
  await sendUntilAccepted(providerAppId, refusedBodies[0] as Buffer<ArrayBuffer>);
  expect(await prisma.providerEvent.count({ where: { projectId } })).toBe(acceptedCount + 1);
});

test('refuses requests to an app with too many waiting events, and accepts requests to other apps', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const { providerAppId, account } = await installWithInbox(app, tenant);
  const otherApp = await createSandboxApp(tenant, { webhookSecret: WEBHOOK_SECRET });
  await delayEvents(projectId, IN_AN_HOUR);
  const waitingEvents = Array.from({ length: WAITING_MAX }, () => createSentEvent(account));
  await sendUntilAccepted(providerAppId, createEventsBody(...waitingEvents));
  let acceptedCount = WAITING_MAX;
  const sendMore = async () => {
    const response = await send(
      providerAppId,
      signRequest(createEventsBody(createSentEvent(account))),
    );
    if (response.status === 204) acceptedCount += 1;
    return [response.status, response.headers.get('retry-after')];
  };
  // The count of waiting events is cached for some seconds.
  await expect.poll(sendMore, SUBSCRIPTION_POLLING).toEqual([503, '30']);
  expect(await prisma.providerEvent.count({ where: { projectId } })).toBe(acceptedCount);
  expect(
    (await send(otherApp.id, signRequest(createEventsBody(createSentEvent('x'))))).status,
  ).toBe(204);
  await delayEvents(projectId, null);
  await sendUntilAccepted(providerAppId, createEventsBody(createSentEvent(account)));
});

test('pauses a stream while too many of its events wait', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const installation = await installActiveOnOrg(app, tenant, org);
  await delayEvents(projectId, IN_AN_HOUR);
  const count = 200;
  for (let index = 0; index < count; index += 1) org.create({ Email: `${index}@example.test` });
  const countStored = () => prisma.providerEvent.count({ where: { projectId } });
  await expect.poll(countStored, SUBSCRIPTION_POLLING).toBeGreaterThanOrEqual(WAITING_MAX);
  // The stream requests no events until it has stored the last ones and has room for more.
  const [subscriber] = org.stream.subscribers;
  await expect.poll(() => subscriber?.credit, SUBSCRIPTION_POLLING).toBe(0);
  expect(await countStored()).toBeLessThan(count);
  await delayEvents(projectId, null);
  await installation.waitForEntries(count);
  expect(await countStored()).toBe(count);
}, 180_000);
