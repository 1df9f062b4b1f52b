/**
 * Airtable sends a ping without the change. The gateway then reads the list of changes, and delivers each once and in
 * order.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import { createVendorProvider } from '../../support/fixtures/event-vendors.ts';
import { deleteInstallation } from '../../support/fixtures/integrations.ts';
import { installPingingVendor, startPingingVendor } from '../../support/fixtures/pinging-vendor.ts';
import {
  checkSubscriptionsNow,
  listSubscribeResults,
  SUBSCRIPTION_POLLING,
} from '../../support/fixtures/subscriptions.ts';
import { startReceiver, verifyMessage } from '../../support/receiver.ts';
import { type AirtableWebhook, signPing } from '../../support/wire/events/airtable-base.ts';

const vendor = await startPingingVendor();
const { base, server } = vendor;
const app = await getSharedApp({
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8', DELIVERY_RETRY_SECONDS: '1,1,1,1' },
  providers: [createVendorProvider(vendor)],
});
const { prisma } = app.app.services.database;
const receiver = await startReceiver();
beforeAll(async () => {
  await app.app.start();
  return async () => {
    await receiver[Symbol.asyncDispose]();
    await vendor[Symbol.asyncDispose]();
  };
});

const PAST = new Date(0);
const NO_OVERRIDE = () => undefined;

/** Unsubscribes after the test, because the base has one webhook for all tests. */
async function install(tenant: Tenant) {
  const installation = await installPingingVendor(app, { tenant, vendor, receiver });
  onTestFinished(async () => {
    vendor.override = NO_OVERRIDE;
    const where = { connectionId: installation.connectionId };
    const data = { isWanted: false, dueTime: PAST };
    await prisma.objectSubscription.updateMany({ where, data });
    await checkSubscriptionsNow(app);
    await expect.poll(() => installation.findStream(), SUBSCRIPTION_POLLING).toBeNull();
    for (const { id } of installation.listWebhooks()) base.webhooks.delete(id);
  });
  return installation;
}

async function installAndSubscribe() {
  const tenant = await app.createTenant();
  const installation = await install(tenant);
  await expect
    .poll(async () => (await installation.getSubscription()).status, SUBSCRIPTION_POLLING)
    .toBe('ACTIVE');
  const readPosition = async () => (await installation.findStream())?.position ?? null;
  await expect.poll(readPosition, SUBSCRIPTION_POLLING).not.toBeNull();
  const [webhook] = installation.listWebhooks();
  return { tenant, ...installation, webhook: webhook as AirtableWebhook };
}

type Installed = Awaited<ReturnType<typeof installAndSubscribe>>;

const listIds = (results: { id?: string }[]) => results.map(({ id }) => id);
const createRecord = (Name = 'From the account', agoMs = 0) =>
  String(server.store.create({ Name }, new Date(Date.now() - agoMs)).id);

/** Makes the next check of the webhook and of the list due now. */
async function checkNow({ connectionId: id }: Installed) {
  await prisma.listWebhook.updateMany({ where: { id }, data: { checkTime: PAST } });
  await prisma.providerStream.updateMany({ where: { connectionId: id }, data: { dueTime: PAST } });
  await checkSubscriptionsNow(app);
}

test('delivers created, changed and deleted records mapped and signed, in order and once', async () => {
  const installation = await installAndSubscribe();
  const { webhook, providerApp, connectionId, tenant } = installation;
  expect(webhook.url).toBe(`${providerApp.webhookUrl}?subscription=${connectionId}`);
  const id = createRecord();
  base.change({ tblTasks: { created: [id] } });
  expect(await base.sendPing(webhook)).toBe(204);
  await receiver.waitForMessages(installation.endpoint, 1);
  base.change({ tblTasks: { changed: [id] }, tblOther: { changed: ['recOther'] } });
  base.change({ tblTasks: { destroyed: [id] } });
  // Several pings for one change cause one or more reads of the list, and deliver the change once.
  await Promise.all([1, 2, 3].map(() => base.sendPing(webhook)));
  await expect.poll(() => installation.listEventResults().length, SUBSCRIPTION_POLLING).toBe(3);
  await base.sendPing(webhook);
  const [message] = receiver.listMessages(installation.endpoint);
  expect(message && verifyMessage(message, installation.signingSecret)).toMatchObject({
    action: 'subscribe',
    projectId: tenant.projectId,
    provider: 'airtable',
    groupRef: 'acme',
    objectName: 'things',
    rawObjectName: 'tblTasks',
    result: [{ subscribeEventType: 'create', id, mappedFields: { label: 'From the account' } }],
  });
  await expect
    .poll(async () => (await installation.findStream())?.position, SUBSCRIPTION_POLLING)
    .toBe('4');
  expect(installation.listEventResults()).toMatchObject([
    { subscribeEventType: 'create', id },
    { subscribeEventType: 'update', id },
    { subscribeEventType: 'delete', id },
  ]);
  expect(await prisma.providerEvent.count({ where: { projectId: tenant.projectId } })).toBe(3);
});

test('rejects a ping with a wrong signature at every URL', async () => {
  const installation = await installAndSubscribe();
  const otherInstallation = await installAndSubscribe();
  const streamBefore = await installation.findStream();
  const send = async (url: string, webhook: Parameters<typeof signPing>[0]) =>
    (await fetch(url, { method: 'POST', ...signPing(webhook) })).status;
  const forged = {
    id: installation.webhook.id,
    macSecretBase64: Buffer.alloc(32).toString('base64'),
  };
  expect(await send(installation.webhook.url, forged)).toBe(401);
  expect(await send(installation.webhook.url, otherInstallation.webhook)).toBe(401);
  const [appUrl = '', query = ''] = installation.webhook.url.split('?');
  expect(await send(appUrl, installation.webhook)).toBe(401);
  expect(await send(`${appUrl}?subscription=`, installation.webhook)).toBe(401);
  expect(
    await send(`${otherInstallation.providerApp.webhookUrl}?${query}`, installation.webhook),
  ).toBe(401);
  expect(await send(appUrl.replace(/app_.{26}/, `app_${'0'.repeat(26)}`), forged)).toBe(401);
  expect(await send(installation.webhook.url, installation.webhook)).toBe(204);
  // The refused pings did not wake the worker, and the signed one did.
  const dueTime = streamBefore?.dueTime.getTime();
  await expect
    .poll(async () => (await installation.findStream())?.dueTime.getTime(), SUBSCRIPTION_POLLING)
    .not.toBe(dueTime);
});

test('delivers each change of a list with several pages once, even if the list is read twice', async () => {
  const installation = await installAndSubscribe();
  const createdIds = Array.from({ length: 120 }, () => createRecord());
  for (const id of createdIds) base.change({ tblTasks: { created: [id] } });
  await base.sendPing(installation.webhook);
  await expect.poll(() => installation.listEventResults().length, SUBSCRIPTION_POLLING).toBe(120);
  expect(listIds(installation.listEventResults()).toSorted()).toEqual(createdIds.toSorted());
  const { connectionId } = installation;
  await prisma.providerStream.updateMany({ where: { connectionId }, data: { position: '1' } });
  base.change({ tblTasks: { destroyed: createdIds.slice(0, 1) } });
  await base.sendPing(installation.webhook);
  await expect.poll(() => installation.listEventResults().length, SUBSCRIPTION_POLLING).toBe(121);
  await expect
    .poll(async () => (await installation.findStream())?.position, SUBSCRIPTION_POLLING)
    .toBe('122');
  const { projectId } = installation.tenant;
  expect(await prisma.providerEvent.count({ where: { projectId } })).toBe(121);
});

test('delivers each change once if workers lose the lease of the list while they read it', async () => {
  const installation = await installAndSubscribe();
  const { connectionId } = installation;
  const createdIds = Array.from({ length: 100 }, () => createRecord());
  const takeover = new AbortController();
  onTestFinished(() => takeover.abort());
  const losingLeases = (async () => {
    for (let round = 0; !takeover.signal.aborted; round += 1) {
      // Simulates that the process died, so that another process takes over the list.
      const free = { leaseToken: null, leaseExpireTime: null, dueTime: PAST };
      await prisma.providerStream.updateMany({ where: { connectionId }, data: free });
      // The delays grow, so that a process makes progress even on a slow machine.
      await delay((20 + ((round * 37) % 200)) * (1 + round / 20));
    }
  })();
  for (const id of createdIds) {
    base.change({ tblTasks: { created: [id] } });
    if (Number(id.slice(-1)) % 5 === 0) await base.sendPing(installation.webhook);
  }
  await expect
    .poll(async () => (await installation.findStream())?.position, SUBSCRIPTION_POLLING)
    .not.toBe('1');
  takeover.abort();
  await losingLeases;
  await base.sendPing(installation.webhook);
  await expect.poll(() => installation.listEventResults().length, SUBSCRIPTION_POLLING).toBe(100);
  expect(listIds(installation.listEventResults()).toSorted()).toEqual(createdIds.toSorted());
});

test('reads the list again immediately if a ping arrives while it is read', async () => {
  const installation = await installAndSubscribe();
  const [requested, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  vendor.override = async (request) => {
    if (!request.path.endsWith('/payloads')) return undefined;
    vendor.override = NO_OVERRIDE;
    const response = base.serve(request);
    requested.resolve();
    await released.promise;
    return response;
  };
  await base.sendPing(installation.webhook);
  await requested.promise;
  // The pending response was created before this change.
  const id = createRecord();
  base.change({ tblTasks: { created: [id] } });
  expect(await base.sendPing(installation.webhook)).toBe(204);
  released.resolve();
  await expect
    .poll(() => listIds(installation.listEventResults()), SUBSCRIPTION_POLLING)
    .toEqual([id]);
});

test('shares a webhook among installations of one connection, and deletes it with the last installation', async () => {
  const installation = await installAndSubscribe();
  const { tenant, connectionId } = installation;
  const { projectId } = tenant;
  const subscription = await prisma.objectSubscription.findFirstOrThrow({ where: { projectId } });
  // Simulates another installation of the connection.
  const otherSubscription = {
    ...subscription,
    installationId: 'ins_00000000000000000000000000',
    isWanted: true,
  };
  await prisma.objectSubscription.create({ data: otherSubscription });
  expect(installation.listWebhooks()).toHaveLength(1);
  await deleteInstallation(installation.tenant, installation.id);
  const countSubscriptions = () => prisma.objectSubscription.count({ where: { connectionId } });
  await expect.poll(countSubscriptions, SUBSCRIPTION_POLLING).toBe(1);
  expect(installation.listWebhooks()).toHaveLength(1);
  await prisma.objectSubscription.updateMany({
    where: { projectId },
    data: { isWanted: false, dueTime: PAST },
  });
  await checkSubscriptionsNow(app);
  await expect.poll(installation.listWebhooks, SUBSCRIPTION_POLLING).toEqual([]);
  await expect.poll(() => installation.findStream(), SUBSCRIPTION_POLLING).toBeNull();
  expect(await prisma.listWebhook.count({ where: { projectId } })).toBe(0);
  expect(
    (await fetch(installation.webhook.url, { method: 'POST', ...signPing(installation.webhook) }))
      .status,
  ).toBe(401);
});

test('deletes the row of a webhook that the vendor refuses to delete', async () => {
  const installation = await installAndSubscribe();
  const refusal = { status: 403, body: { error: { type: 'NOT_AUTHORIZED', message: 'no' } } };
  vendor.override = ({ method }) => (method === 'DELETE' ? refusal : undefined);
  await deleteInstallation(installation.tenant, installation.id);
  await expect.poll(() => installation.findStream(), SUBSCRIPTION_POLLING).toBeNull();
  expect(installation.listWebhooks()).toEqual([installation.webhook]);
  const request = { method: 'POST', ...signPing(installation.webhook) };
  expect((await fetch(installation.webhook.url, request)).status).toBe(401);
});

test('deletes the webhook when the group is erased', async () => {
  const installation = await installAndSubscribe();
  const input = { projectIdOrName: installation.tenant.projectId, groupRef: 'acme' };
  await installation.tenant.query(
    'mutation EraseGroup($input: EraseGroupInput!) { eraseGroup(input: $input) { deletedId } }',
    { input },
  );
  await expect.poll(installation.listWebhooks, SUBSCRIPTION_POLLING).toEqual([]);
  await expect.poll(() => installation.findStream(), SUBSCRIPTION_POLLING).toBeNull();
});

test('renews a webhook that has stopped notifying, and delivers the changes since', async () => {
  const installation = await installAndSubscribe();
  installation.webhook.areNotificationsEnabled = false;
  installation.webhook.expirationTime = PAST;
  const id = createRecord();
  base.change({ tblTasks: { created: [id] } });
  expect(await base.sendPing(installation.webhook)).toBeNull();
  await checkNow(installation);
  await expect
    .poll(() => listIds(installation.listEventResults()), SUBSCRIPTION_POLLING)
    .toEqual([id]);
  await expect
    .poll(() => installation.webhook.areNotificationsEnabled, SUBSCRIPTION_POLLING)
    .toBe(true);
  expect(installation.webhook.expirationTime.getTime()).toBeGreaterThan(Date.now());
  const readCheckTime = async () =>
    (
      await prisma.listWebhook.findFirst({ where: { id: installation.connectionId } })
    )?.checkTime.getTime();
  await expect.poll(readCheckTime, SUBSCRIPTION_POLLING).toBeGreaterThan(Date.now());
  expect(installation.listWebhooks()).toEqual([installation.webhook]);
});

test.each([
  ['is gone', (webhook: AirtableWebhook) => base.webhooks.delete(webhook.id)],
  ['has ended', (webhook: AirtableWebhook) => Object.assign(webhook, { isHookEnabled: false })],
])('recreates a webhook that %s, and reads the changes since', async (_state, endWebhook) => {
  const installation = await installAndSubscribe();
  const reportedRecord = createRecord();
  base.change({ tblTasks: { created: [reportedRecord] } });
  await base.sendPing(installation.webhook);
  await expect
    .poll(() => listIds(installation.listEventResults()), SUBSCRIPTION_POLLING)
    .toEqual([reportedRecord]);
  endWebhook(installation.webhook);
  // The gateway uses the database's clock, which may be slightly behind the vendor's.
  const missedRecord = createRecord('Missed', 1_000);
  base.change({ tblTasks: { created: [missedRecord] } });
  await checkNow(installation);
  const listReadIds = () => installation.listReadResults().map(({ raw }) => raw?.id);
  await expect.poll(listReadIds, SUBSCRIPTION_POLLING).toContain(missedRecord);
  expect(await listSubscribeResults(app, installation.tenant)).toContainEqual(
    expect.stringMatching(/without events are read; deletions are not reported/),
  );
  const [recreated, ...otherWebhooks] = installation.listWebhooks();
  expect(otherWebhooks).toEqual([]);
  expect(recreated?.id).not.toBe(installation.webhook.id);
  const laterRecord = createRecord();
  base.change({ tblTasks: { created: [laterRecord] } });
  expect(recreated && (await base.sendPing(recreated))).toBe(204);
  await expect
    .poll(() => listIds(installation.listEventResults()), SUBSCRIPTION_POLLING)
    .toEqual([reportedRecord, laterRecord]);
  // Pings of the old webhook are refused.
  expect(
    (await fetch(installation.webhook.url, { method: 'POST', ...signPing(installation.webhook) }))
      .status,
  ).toBe(401);
});

test('reads records whose changes the vendor no longer keeps', async () => {
  const installation = await installAndSubscribe();
  base.change({ tblTasks: { created: [createRecord()] } });
  await base.sendPing(installation.webhook);
  await expect.poll(() => installation.listEventResults().length, SUBSCRIPTION_POLLING).toBe(1);
  const forgotten = createRecord('Forgotten');
  base.change({ tblTasks: { created: [forgotten] } });
  installation.webhook.payloads.clear();
  const id = createRecord();
  base.change({ tblTasks: { created: [id] } }, new Date(Date.now() + 1_000));
  await base.sendPing(installation.webhook);
  await expect
    .poll(() => installation.listReadResults().map(({ raw }) => raw?.id), SUBSCRIPTION_POLLING)
    .toContain(forgotten);
  await expect
    .poll(() => listIds(installation.listEventResults()), SUBSCRIPTION_POLLING)
    .toContain(id);
  expect(listIds(installation.listEventResults())).not.toContain(forgotten);
});

test('reports why a webhook cannot be created, and recovers with the next attempt', async () => {
  const reason = 'You are not permitted to perform this operation';
  const refusal = { status: 403, body: { error: { type: 'NOT_AUTHORIZED', message: reason } } };
  vendor.override = ({ method }) => (method === 'POST' ? refusal : undefined);
  const tenant = await app.createTenant();
  const installation = await install(tenant);
  await expect
    .poll(async () => (await installation.getSubscription()).status, SUBSCRIPTION_POLLING)
    .toBe('FAILED');
  expect((await installation.getSubscription()).error).toContain(
    `Airtable returned 403: ${reason}`,
  );
  expect(await listSubscribeResults(app, tenant)).toContainEqual(expect.stringContaining(reason));
  vendor.override = NO_OVERRIDE;
  const { connectionId } = installation;
  const dueTime = PAST;
  await prisma.providerStream.updateMany({ where: { connectionId }, data: { dueTime } });
  await checkSubscriptionsNow(app);
  await expect
    .poll(async () => (await installation.getSubscription()).status, SUBSCRIPTION_POLLING)
    .toBe('ACTIVE');
});
