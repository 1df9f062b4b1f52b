import { beforeAll, expect, test } from 'vitest';
import { createLog } from '../../../src/log.ts';
import { sharedApp } from '../../support/app.ts';
import {
  createSentEvent,
  eventsBody,
  installForSentEvents,
  signRequest,
} from '../../support/fixtures/signed-events.ts';
import { POLLING } from '../../support/fixtures/subscriptions.ts';

const TIMES = 10_000;
const DAY_AND_MORE_MS = 25 * 3_600_000;

const lines: Record<string, unknown>[] = [];
const app = await sharedApp({
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
  const tenant = await app.tenant();
  const { projectId } = tenant;
  const { providerAppId, account, listArrivedIds } = await installForSentEvents(app, tenant);
  const send = async (more: object) => {
    const event = createSentEvent(account, more);
    const path = `${url}/webhooks/sandbox/${providerAppId}`;
    expect((await fetch(path, signRequest(eventsBody(event)))).status).toBe(204);
    return event.id;
  };
  const failures = async () =>
    (await prisma.objectSubscription.findFirstOrThrow({ where: { projectId } })).eventFailures;
  return { projectId, send, arrived: listArrivedIds, failures };
}

/** An event without its record. Fetching the record fails. */
function failToFetch() {
  sandbox.faults.set({ status: 503, pathPrefix: '/objects/contacts/batch/read', times: TIMES });
  return { type: 'contacts.created' };
}

test('delivers events of other accounts while fetching records of one fails, and its own afterwards', async () => {
  const [failing, sound] = [await subscribeAccount(), await subscribeAccount()];
  const id = await failing.send(failToFetch());
  await expect.poll(failing.failures, POLLING).toBeGreaterThan(0);
  const other = await sound.send({});
  await expect.poll(sound.arrived, POLLING).toEqual([other]);
  expect(failing.arrived()).toEqual([]);
  const { projectId } = failing;
  expect(await prisma.providerEvent.count({ where: { projectId, doneTime: null } })).toBe(1);
  sandbox.faults.clear();
  await expect.poll(failing.arrived, POLLING).toEqual([id]);
  expect(await failing.failures()).toBe(0);
});

test('drops events that failed for a day, and logs their number', async () => {
  const { projectId, send, arrived, failures } = await subscribeAccount();
  await send(failToFetch());
  await expect.poll(failures, POLLING).toBeGreaterThan(0);
  const receiveTime = new Date(Date.now() - DAY_AND_MORE_MS);
  await prisma.providerEvent.updateMany({ where: { projectId }, data: { receiveTime } });
  const waiting = () => prisma.providerEvent.count({ where: { projectId, doneTime: null } });
  await expect.poll(waiting, POLLING).toBe(0);
  const { installationId } = await prisma.objectSubscription.findFirstOrThrow({
    where: { projectId },
  });
  const dropped = lines.filter(
    (line) => line.msg === 'provider_events.failed' && line.installationId === installationId,
  );
  expect(dropped).toMatchObject([{ level: 'error', objectName: 'contacts', count: 1 }]);
  sandbox.faults.clear();
  // The dropped event is not delivered: the next event is the first one to arrive.
  const next = await send({});
  await expect.poll(arrived, POLLING).toEqual([next]);
});
