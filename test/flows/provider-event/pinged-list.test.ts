/**
 * A vendor that only notifies of a change: the gateway fetches the changes from its list, in order and once.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { sharedApp, type Tenant } from '../../support/app.ts';
import { toProvider } from '../../support/fixtures/event-vendors.ts';
import { installPingingVendor, startPingingVendor } from '../../support/fixtures/pinging-vendor.ts';
import { checkSubscriptionsNow, POLLING } from '../../support/fixtures/subscriptions.ts';
import { startReceiver, verifyMessage } from '../../support/receiver.ts';
import { type AirtableWebhook, signPing } from '../../support/wire/events/airtable-base.ts';

const vendor = await startPingingVendor();
const { base, server } = vendor;
const app = await sharedApp({
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8', DELIVERY_RETRY_SECONDS: '1,1,1,1' },
  providers: [toProvider(vendor)],
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
const NOTHING = () => undefined;

/** Uninstalls after the test, because its webhook would replace that of another test. */
async function install(tenant: Tenant) {
  const pinged = await installPingingVendor(app, { tenant, vendor, receiver });
  onTestFinished(async () => {
    vendor.override = NOTHING;
    const where = { connectionId: pinged.connectionId };
    const data = { isWanted: false, dueTime: PAST };
    await prisma.objectSubscription.updateMany({ where, data });
    await checkSubscriptionsNow(app);
    await expect.poll(() => pinged.stream(), POLLING).toBeNull();
    for (const { id } of pinged.webhooks()) base.webhooks.delete(id);
  });
  return pinged;
}

async function installAndSubscribe() {
  const tenant = await app.tenant();
  const pinged = await install(tenant);
  await expect.poll(async () => (await pinged.subscription()).status, POLLING).toBe('ACTIVE');
  const isRead = async () => (await pinged.stream())?.position ?? null;
  await expect.poll(isRead, POLLING).not.toBeNull();
  const [webhook] = pinged.webhooks();
  return { tenant, ...pinged, webhook: webhook as AirtableWebhook };
}

type Installed = Awaited<ReturnType<typeof installAndSubscribe>>;

const ids = (results: { id?: string }[]) => results.map(({ id }) => id);
const createRecord = (Name = 'From the account', agoMs = 0) =>
  String(server.store.create({ Name }, new Date(Date.now() - agoMs)).id);

/** Makes the next check of the webhook and of the list due now. */
async function checkNow({ connectionId: id }: Installed) {
  await prisma.streamPing.updateMany({ where: { id }, data: { checkTime: PAST } });
  await prisma.providerStream.updateMany({ where: { connectionId: id }, data: { dueTime: PAST } });
  await checkSubscriptionsNow(app);
}

const DELETE = `mutation ($input: DeleteInstallationInput!) {
  deleteInstallation(input: $input) { deletedId }
}`;

const uninstall = ({ tenant, id }: Pick<Installed, 'tenant' | 'id'>) =>
  tenant.query(DELETE, { input: { projectIdOrName: tenant.projectId, installationId: id } });

const subscribeLogs = async ({ projectId }: Tenant) => {
  const where = { projectId, actionType: 'SUBSCRIBE' } as const;
  const operations = await prisma.operation.findMany({ where, orderBy: { id: 'asc' } });
  return operations.map(({ result }) => result);
};

test('delivers created, changed and deleted records mapped and signed, in order and once', async () => {
  const pinged = await installAndSubscribe();
  const { webhook, providerApp, connectionId, tenant } = pinged;
  expect(webhook.url).toBe(`${providerApp.webhookUrl}?subscription=${connectionId}`);
  const id = createRecord();
  base.change({ tblTasks: { created: [id] } });
  expect(await base.sendPing(webhook)).toBe(204);
  await receiver.waitForMessages(pinged.box, 1);
  base.change({ tblTasks: { changed: [id] }, tblOther: { changed: ['recOther'] } });
  base.change({ tblTasks: { destroyed: [id] } });
  // Several pings for one change cause one read of the list or several, and deliver nothing twice.
  await Promise.all([1, 2, 3].map(() => base.sendPing(webhook)));
  await expect.poll(() => pinged.eventResults().length, POLLING).toBe(3);
  await base.sendPing(webhook);
  const [message] = receiver.received(pinged.box);
  expect(message && verifyMessage(message, pinged.signingSecret)).toMatchObject({
    action: 'subscribe',
    projectId: tenant.projectId,
    provider: 'airtable',
    groupRef: 'acme',
    objectName: 'things',
    rawObjectName: 'tblTasks',
    result: [{ subscribeEventType: 'create', id, mappedFields: { label: 'From the account' } }],
  });
  await expect.poll(async () => (await pinged.stream())?.position, POLLING).toBe('4');
  expect(pinged.eventResults()).toMatchObject([
    { subscribeEventType: 'create', id },
    { subscribeEventType: 'update', id },
    { subscribeEventType: 'delete', id },
  ]);
  expect(await prisma.providerEvent.count({ where: { projectId: tenant.projectId } })).toBe(3);
});

test('refuses a ping with a wrong signature, at any address', async () => {
  const pinged = await installAndSubscribe();
  const other = await installAndSubscribe();
  const before = await pinged.stream();
  const send = async (url: string, webhook: Parameters<typeof signPing>[0]) =>
    (await fetch(url, { method: 'POST', ...signPing(webhook) })).status;
  const forged = { id: pinged.webhook.id, macSecretBase64: Buffer.alloc(32).toString('base64') };
  expect(await send(pinged.webhook.url, forged)).toBe(401);
  expect(await send(pinged.webhook.url, other.webhook)).toBe(401);
  const [address = '', query = ''] = pinged.webhook.url.split('?');
  expect(await send(address, pinged.webhook)).toBe(401);
  expect(await send(`${address}?subscription=`, pinged.webhook)).toBe(401);
  expect(await send(`${other.providerApp.webhookUrl}?${query}`, pinged.webhook)).toBe(401);
  expect(await send(address.replace(/app_.{26}/, `app_${'0'.repeat(26)}`), forged)).toBe(401);
  expect(await send(pinged.webhook.url, pinged.webhook)).toBe(204);
  // The refused pings did not wake the worker, and the signed one did.
  const dueTime = before?.dueTime.getTime();
  await expect
    .poll(async () => (await pinged.stream())?.dueTime.getTime(), POLLING)
    .not.toBe(dueTime);
});

test('delivers the changes of a list with several pages once, also if it is read again', async () => {
  const pinged = await installAndSubscribe();
  const created = Array.from({ length: 120 }, () => createRecord());
  for (const id of created) base.change({ tblTasks: { created: [id] } });
  await base.sendPing(pinged.webhook);
  await expect.poll(() => pinged.eventResults().length, POLLING).toBe(120);
  expect(ids(pinged.eventResults()).toSorted()).toEqual(created.toSorted());
  const { connectionId } = pinged;
  await prisma.providerStream.updateMany({ where: { connectionId }, data: { position: '1' } });
  base.change({ tblTasks: { destroyed: created.slice(0, 1) } });
  await base.sendPing(pinged.webhook);
  await expect.poll(() => pinged.eventResults().length, POLLING).toBe(121);
  await expect.poll(async () => (await pinged.stream())?.position, POLLING).toBe('122');
  const { projectId } = pinged.tenant;
  expect(await prisma.providerEvent.count({ where: { projectId } })).toBe(121);
});

test('delivers each change once if workers lose the list while reading it', async () => {
  const pinged = await installAndSubscribe();
  const { connectionId } = pinged;
  const created = Array.from({ length: 100 }, () => createRecord());
  const losing = new AbortController();
  onTestFinished(() => losing.abort());
  const lostResponse = (async () => {
    for (let round = 0; !losing.signal.aborted; round += 1) {
      // Simulates that the process died: another one takes over the list.
      const free = { leaseToken: null, leaseExpireTime: null, dueTime: PAST };
      await prisma.providerStream.updateMany({ where: { connectionId }, data: free });
      // The delays grow, so that a process makes progress between them on a slow machine, too.
      await delay((20 + ((round * 37) % 200)) * (1 + round / 20));
    }
  })();
  for (const id of created) {
    base.change({ tblTasks: { created: [id] } });
    if (Number(id.slice(-1)) % 5 === 0) await base.sendPing(pinged.webhook);
  }
  await expect.poll(async () => (await pinged.stream())?.position, POLLING).not.toBe('1');
  losing.abort();
  await lostResponse;
  await base.sendPing(pinged.webhook);
  await expect.poll(() => pinged.eventResults().length, POLLING).toBe(100);
  expect(ids(pinged.eventResults()).toSorted()).toEqual(created.toSorted());
});

test('reads the list again immediately if a ping arrives while it is read', async () => {
  const pinged = await installAndSubscribe();
  const [requested, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  vendor.override = async (request) => {
    if (!request.path.endsWith('/payloads')) return undefined;
    vendor.override = NOTHING;
    const response = base.serve(request);
    requested.resolve();
    await held.promise;
    return response;
  };
  await base.sendPing(pinged.webhook);
  await requested.promise;
  // The response under way was created before this change.
  const id = createRecord();
  base.change({ tblTasks: { created: [id] } });
  expect(await base.sendPing(pinged.webhook)).toBe(204);
  held.resolve();
  await expect.poll(() => ids(pinged.eventResults()), POLLING).toEqual([id]);
});

test('shares a webhook among installations of one connection, and deletes it with the last', async () => {
  const pinged = await installAndSubscribe();
  const { tenant, connectionId } = pinged;
  const { projectId } = tenant;
  const second = await prisma.objectSubscription.findFirstOrThrow({ where: { projectId } });
  // Simulates another installation of the connection.
  const other = { ...second, installationId: 'ins_00000000000000000000000000', isWanted: true };
  await prisma.objectSubscription.create({ data: other });
  expect(pinged.webhooks()).toHaveLength(1);
  await uninstall(pinged);
  const countSubscriptions = () => prisma.objectSubscription.count({ where: { connectionId } });
  await expect.poll(countSubscriptions, POLLING).toBe(1);
  expect(pinged.webhooks()).toHaveLength(1);
  await prisma.objectSubscription.updateMany({
    where: { projectId },
    data: { isWanted: false, dueTime: PAST },
  });
  await checkSubscriptionsNow(app);
  await expect.poll(pinged.webhooks, POLLING).toEqual([]);
  await expect.poll(() => pinged.stream(), POLLING).toBeNull();
  expect(await prisma.streamPing.count({ where: { projectId } })).toBe(0);
  expect(
    (await fetch(pinged.webhook.url, { method: 'POST', ...signPing(pinged.webhook) })).status,
  ).toBe(401);
});

test('forgets a webhook that the vendor refuses to delete', async () => {
  const pinged = await installAndSubscribe();
  const refused = { status: 403, body: { error: { type: 'NOT_AUTHORIZED', message: 'no' } } };
  vendor.override = ({ method }) => (method === 'DELETE' ? refused : undefined);
  await uninstall(pinged);
  await expect.poll(() => pinged.stream(), POLLING).toBeNull();
  expect(pinged.webhooks()).toEqual([pinged.webhook]);
  const request = { method: 'POST', ...signPing(pinged.webhook) };
  expect((await fetch(pinged.webhook.url, request)).status).toBe(401);
});

test('deletes the webhook when the group is erased', async () => {
  const pinged = await installAndSubscribe();
  const input = { projectIdOrName: pinged.tenant.projectId, groupRef: 'acme' };
  await pinged.tenant.query(
    'mutation ($input: EraseGroupInput!) { eraseGroup(input: $input) { deletedId } }',
    { input },
  );
  await expect.poll(pinged.webhooks, POLLING).toEqual([]);
  await expect.poll(() => pinged.stream(), POLLING).toBeNull();
});

test('renews a webhook that has stopped notifying, and delivers the changes since', async () => {
  const pinged = await installAndSubscribe();
  pinged.webhook.areNotificationsEnabled = false;
  pinged.webhook.expirationTime = PAST;
  const id = createRecord();
  base.change({ tblTasks: { created: [id] } });
  expect(await base.sendPing(pinged.webhook)).toBeNull();
  await checkNow(pinged);
  await expect.poll(() => ids(pinged.eventResults()), POLLING).toEqual([id]);
  await expect.poll(() => pinged.webhook.areNotificationsEnabled, POLLING).toBe(true);
  expect(pinged.webhook.expirationTime.getTime()).toBeGreaterThan(Date.now());
  const isChecked = async () =>
    (
      await prisma.streamPing.findFirst({ where: { id: pinged.connectionId } })
    )?.checkTime.getTime();
  await expect.poll(isChecked, POLLING).toBeGreaterThan(Date.now());
  expect(pinged.webhooks()).toEqual([pinged.webhook]);
});

test.each([
  ['is gone', (webhook: AirtableWebhook) => base.webhooks.delete(webhook.id)],
  ['has ended', (webhook: AirtableWebhook) => Object.assign(webhook, { isHookEnabled: false })],
])('recreates a webhook that %s, and reads the changes since', async (_name, end) => {
  const pinged = await installAndSubscribe();
  const first = createRecord();
  base.change({ tblTasks: { created: [first] } });
  await base.sendPing(pinged.webhook);
  await expect.poll(() => ids(pinged.eventResults()), POLLING).toEqual([first]);
  end(pinged.webhook);
  // The gateway uses the database's clock, which may be slightly behind the vendor's.
  const missedRecord = createRecord('Missed', 1_000);
  base.change({ tblTasks: { created: [missedRecord] } });
  await checkNow(pinged);
  const read = () => pinged.readResults().map(({ raw }) => raw?.id);
  await expect.poll(read, POLLING).toContain(missedRecord);
  expect(await subscribeLogs(pinged.tenant)).toContainEqual(
    expect.stringMatching(/without events are read; deletions are not reported/),
  );
  const [recreated, ...otherWebhooks] = pinged.webhooks();
  expect(otherWebhooks).toEqual([]);
  expect(recreated?.id).not.toBe(pinged.webhook.id);
  const later = createRecord();
  base.change({ tblTasks: { created: [later] } });
  expect(recreated && (await base.sendPing(recreated))).toBe(204);
  await expect.poll(() => ids(pinged.eventResults()), POLLING).toEqual([first, later]);
  // Pings of the old webhook are refused.
  expect(
    (await fetch(pinged.webhook.url, { method: 'POST', ...signPing(pinged.webhook) })).status,
  ).toBe(401);
});

test('logs changes that the vendor no longer keeps, and reads them', async () => {
  const pinged = await installAndSubscribe();
  base.change({ tblTasks: { created: [createRecord()] } });
  await base.sendPing(pinged.webhook);
  await expect.poll(() => pinged.eventResults().length, POLLING).toBe(1);
  const forgotten = createRecord('Forgotten');
  base.change({ tblTasks: { created: [forgotten] } });
  pinged.webhook.payloads.clear();
  const id = createRecord();
  base.change({ tblTasks: { created: [id] } }, new Date(Date.now() + 1_000));
  await base.sendPing(pinged.webhook);
  await expect
    .poll(() => pinged.readResults().map(({ raw }) => raw?.id), POLLING)
    .toContain(forgotten);
  await expect.poll(() => ids(pinged.eventResults()), POLLING).toContain(id);
  expect(ids(pinged.eventResults())).not.toContain(forgotten);
});

test('reports why a webhook cannot be created, and recovers with the next attempt', async () => {
  const words = 'You are not permitted to perform this operation';
  const refused = { status: 403, body: { error: { type: 'NOT_AUTHORIZED', message: words } } };
  vendor.override = ({ method }) => (method === 'POST' ? refused : undefined);
  const tenant = await app.tenant();
  const pinged = await install(tenant);
  await expect.poll(async () => (await pinged.subscription()).status, POLLING).toBe('FAILED');
  expect((await pinged.subscription()).error).toContain(`Airtable answered 403: ${words}`);
  expect(await subscribeLogs(tenant)).toContainEqual(expect.stringContaining(words));
  vendor.override = NOTHING;
  const { connectionId } = pinged;
  const dueTime = PAST;
  await prisma.providerStream.updateMany({ where: { connectionId }, data: { dueTime } });
  await checkSubscriptionsNow(app);
  await expect.poll(async () => (await pinged.subscription()).status, POLLING).toBe('ACTIVE');
});
