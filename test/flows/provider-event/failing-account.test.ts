import { beforeAll, expect, test } from 'vitest';
import { createLog } from '../../../src/kernel/log.ts';
import { getSharedApp } from '../../support/app.ts';
import {
  createEventsBody,
  createSentEvent,
  installWithInbox,
  signRequest,
} from '../../support/fixtures/signed-events.ts';
import { SUBSCRIPTION_POLLING } from '../../support/fixtures/subscriptions.ts';

const MANY_FAILURES = 10_000;
const OVER_A_DAY_MS = 25 * 3_600_000;

const lines: Record<string, unknown>[] = [];
const app = await getSharedApp({
  log: createLog('info', { write: (line) => void lines.push(JSON.parse(line)) }),
});
const { sandbox, services } = app.app;
const { prisma } = services.database;
let url = '';
beforeAll(async () => {
  ({ url } = await app.app.start());
  return () => sandbox.faults.clear();
});

async function subscribeAccount() {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const { providerAppId, account, listArrivedIds } = await installWithInbox(app, tenant);
  const send = async (overrides: object) => {
    const event = createSentEvent(account, overrides);
    const path = `${url}/webhooks/sandbox/${providerAppId}`;
    expect((await fetch(path, signRequest(createEventsBody(event)))).status).toBe(204);
    return event.id;
  };
  const readFailures = async () =>
    (await prisma.objectSubscription.findFirstOrThrow({ where: { projectId } })).eventFailures;
  return { projectId, send, listArrivedIds, readFailures };
}

/** Makes requests for records fail. Returns members of an event whose record the gateway must fetch. */
function failRecordRequests() {
  sandbox.faults.set({
    status: 503,
    pathPrefix: '/objects/contacts/batch/read',
    times: MANY_FAILURES,
  });
  return { type: 'contacts.created' };
}

test("delivers other accounts' events while one account fails, and that account's events when it has recovered", async () => {
  const [failingAccount, healthyAccount] = [await subscribeAccount(), await subscribeAccount()];
  const failedEventId = await failingAccount.send(failRecordRequests());
  await expect.poll(failingAccount.readFailures, SUBSCRIPTION_POLLING).toBeGreaterThan(0);
  const healthyEventId = await healthyAccount.send({});
  await expect.poll(healthyAccount.listArrivedIds, SUBSCRIPTION_POLLING).toEqual([healthyEventId]);
  expect(failingAccount.listArrivedIds()).toEqual([]);
  const { projectId } = failingAccount;
  expect(await prisma.providerEvent.count({ where: { projectId, doneTime: null } })).toBe(1);
  sandbox.faults.clear();
  await expect.poll(failingAccount.listArrivedIds, SUBSCRIPTION_POLLING).toEqual([failedEventId]);
  await expect.poll(failingAccount.readFailures, SUBSCRIPTION_POLLING).toBe(0);
});

test('drops events that failed for a day, and logs their count', async () => {
  const { projectId, send, listArrivedIds, readFailures } = await subscribeAccount();
  await send(failRecordRequests());
  await expect.poll(readFailures, SUBSCRIPTION_POLLING).toBeGreaterThan(0);
  const receiveTime = new Date(Date.now() - OVER_A_DAY_MS);
  await prisma.providerEvent.updateMany({ where: { projectId }, data: { receiveTime } });
  const countWaiting = () => prisma.providerEvent.count({ where: { projectId, doneTime: null } });
  await expect.poll(countWaiting, SUBSCRIPTION_POLLING).toBe(0);
  const { installationId } = await prisma.objectSubscription.findFirstOrThrow({
    where: { projectId },
  });
  const dropped = lines.filter(
    (line) => line.msg === 'provider_events.dropped' && line.installationId === installationId,
  );
  expect(dropped).toMatchObject([{ level: 'error', objectName: 'contacts', count: 1 }]);
  sandbox.faults.clear();
  // The dropped event is not delivered: the next event is the first to arrive.
  const nextEventId = await send({});
  await expect.poll(listArrivedIds, SUBSCRIPTION_POLLING).toEqual([nextEventId]);
});
