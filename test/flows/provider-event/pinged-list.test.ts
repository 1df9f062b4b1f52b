/** A vendor that says only that something has changed: what it was is fetched from its list, in order and once. */
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { sharedApp, type Tenant } from '../../support/app.ts';
import { startReceiver, verified } from '../../support/receiver.ts';
import { installPinged, startPingedBase } from '../../support/scenes/pinged-base.ts';
import { maintainNow, POLLING } from '../../support/scenes/subscriptions.ts';
import { providerOf } from '../../support/scenes/telling-vendors.ts';
import { type AirtableWebhook, pinging } from '../../support/wire/events/airtable-base.ts';

const vendor = await startPingedBase();
const { base, server } = vendor;
const app = await sharedApp({
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8', DELIVERY_RETRY_SECONDS: '1,1,1,1' },
  providers: [providerOf(vendor)],
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

/** It goes with the test: its webhook would take the place of another one's. */
async function install(tenant: Tenant) {
  const pinged = await installPinged(app, { tenant, vendor, receiver });
  onTestFinished(async () => {
    vendor.instead = NOTHING;
    const where = { connectionId: pinged.connectionId };
    const data = { isWanted: false, dueTime: PAST };
    await prisma.objectSubscription.updateMany({ where, data });
    await maintainNow(app);
    await expect.poll(() => pinged.stream(), POLLING).toBeNull();
    for (const { id } of pinged.webhooks()) base.webhooks.delete(id);
  });
  return pinged;
}

async function installed() {
  const tenant = await app.tenant();
  const pinged = await install(tenant);
  await expect.poll(async () => (await pinged.subscription()).status, POLLING).toBe('ACTIVE');
  const isRead = async () => (await pinged.stream())?.position ?? null;
  await expect.poll(isRead, POLLING).not.toBeNull();
  const [webhook] = pinged.webhooks();
  return { tenant, ...pinged, webhook: webhook as AirtableWebhook };
}

type Installed = Awaited<ReturnType<typeof installed>>;

const ids = (results: { id?: string }[]) => results.map(({ id }) => id);
const record = (Name = 'From the account', agoMs = 0) =>
  String(server.store.create({ Name }, new Date(Date.now() - agoMs)).id);

/** The next look at the webhook and at the list comes now. */
async function look({ connectionId: id }: Installed) {
  await prisma.streamPing.updateMany({ where: { id }, data: { checkTime: PAST } });
  await prisma.providerStream.updateMany({ where: { connectionId: id }, data: { dueTime: PAST } });
  await maintainNow(app);
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

test('what is made, changed and deleted arrives mapped and signed, in order and once', async () => {
  const one = await installed();
  const { webhook, providerApp, connectionId, tenant } = one;
  expect(webhook.url).toBe(`${providerApp.webhookUrl}?subscription=${connectionId}`);
  const id = record();
  base.change({ tblTasks: { created: [id] } });
  expect(await base.ping(webhook)).toBe(204);
  await receiver.arrived(one.box, 1);
  base.change({ tblTasks: { changed: [id] }, tblOther: { changed: ['recOther'] } });
  base.change({ tblTasks: { destroyed: [id] } });
  // Several pings of the same are one look or several, and tell nothing twice.
  await Promise.all([1, 2, 3].map(() => base.ping(webhook)));
  await expect.poll(() => one.told().length, POLLING).toBe(3);
  await base.ping(webhook);
  const [message] = receiver.received(one.box);
  expect(message && verified(message, one.signingSecret)).toMatchObject({
    action: 'subscribe',
    projectId: tenant.projectId,
    provider: 'airtable',
    groupRef: 'acme',
    objectName: 'things',
    rawObjectName: 'tblTasks',
    result: [{ subscribeEventType: 'create', id, mappedFields: { label: 'From the account' } }],
  });
  await expect.poll(async () => (await one.stream())?.position, POLLING).toBe('4');
  expect(one.told()).toMatchObject([
    { subscribeEventType: 'create', id },
    { subscribeEventType: 'update', id },
    { subscribeEventType: 'delete', id },
  ]);
  expect(await prisma.providerEvent.count({ where: { projectId: tenant.projectId } })).toBe(3);
});

test('a ping that the webhook has not signed is refused, at whatever address', async () => {
  const one = await installed();
  const other = await installed();
  const before = await one.stream();
  const send = async (url: string, webhook: Parameters<typeof pinging>[0]) =>
    (await fetch(url, { method: 'POST', ...pinging(webhook) })).status;
  const forged = { id: one.webhook.id, macSecretBase64: Buffer.alloc(32).toString('base64') };
  expect(await send(one.webhook.url, forged)).toBe(401);
  expect(await send(one.webhook.url, other.webhook)).toBe(401);
  const [address = '', query = ''] = one.webhook.url.split('?');
  expect(await send(address, one.webhook)).toBe(401);
  expect(await send(`${address}?subscription=`, one.webhook)).toBe(401);
  expect(await send(`${other.providerApp.webhookUrl}?${query}`, one.webhook)).toBe(401);
  expect(await send(address.replace(/app_.{26}/, `app_${'0'.repeat(26)}`), forged)).toBe(401);
  expect(await send(one.webhook.url, one.webhook)).toBe(204);
  // What was refused woke nobody; what was signed did.
  const dueTime = before?.dueTime.getTime();
  await expect.poll(async () => (await one.stream())?.dueTime.getTime(), POLLING).not.toBe(dueTime);
});

test('a list of several parts is told once, also if it is read again', async () => {
  const one = await installed();
  const made = Array.from({ length: 120 }, () => record());
  for (const id of made) base.change({ tblTasks: { created: [id] } });
  await base.ping(one.webhook);
  await expect.poll(() => one.told().length, POLLING).toBe(120);
  expect(ids(one.told()).toSorted()).toEqual(made.toSorted());
  const { connectionId } = one;
  await prisma.providerStream.updateMany({ where: { connectionId }, data: { position: '1' } });
  base.change({ tblTasks: { destroyed: made.slice(0, 1) } });
  await base.ping(one.webhook);
  await expect.poll(() => one.told().length, POLLING).toBe(121);
  await expect.poll(async () => (await one.stream())?.position, POLLING).toBe('122');
  const { projectId } = one.tenant;
  expect(await prisma.providerEvent.count({ where: { projectId } })).toBe(121);
});

test('whoever loses the list at any moment stores nothing more: each change is told once', async () => {
  const one = await installed();
  const { connectionId } = one;
  const made = Array.from({ length: 100 }, () => record());
  const losing = new AbortController();
  onTestFinished(() => losing.abort());
  const lost = (async () => {
    for (let round = 0; !losing.signal.aborted; round += 1) {
      // As though its process had died: another takes the list over.
      const free = { leaseToken: null, leaseExpireTime: null, dueTime: PAST };
      await prisma.providerStream.updateMany({ where: { connectionId }, data: free });
      // Less and less often: on a slow machine, too, one of them gets further in between.
      await delay((20 + ((round * 37) % 200)) * (1 + round / 20));
    }
  })();
  for (const id of made) {
    base.change({ tblTasks: { created: [id] } });
    if (Number(id.slice(-1)) % 5 === 0) await base.ping(one.webhook);
  }
  await expect.poll(async () => (await one.stream())?.position, POLLING).not.toBe('1');
  losing.abort();
  await lost;
  await base.ping(one.webhook);
  await expect.poll(() => one.told().length, POLLING).toBe(100);
  expect(ids(one.told()).toSorted()).toEqual(made.toSorted());
});

test('a ping that comes while the list is read has it read again at once', async () => {
  const one = await installed();
  const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  vendor.instead = async (request) => {
    if (!request.path.endsWith('/payloads')) return undefined;
    vendor.instead = NOTHING;
    const found = base.answer(request);
    asked.resolve();
    await held.promise;
    return found;
  };
  await base.ping(one.webhook);
  await asked.promise;
  // The answer under way was made before this.
  const id = record();
  base.change({ tblTasks: { created: [id] } });
  expect(await base.ping(one.webhook)).toBe(204);
  held.resolve();
  await expect.poll(() => ids(one.told()), POLLING).toEqual([id]);
});

test('installations of one connection share a webhook, which goes with the last of them', async () => {
  const one = await installed();
  const { tenant, connectionId } = one;
  const { projectId } = tenant;
  const second = await prisma.objectSubscription.findFirstOrThrow({ where: { projectId } });
  // Another installation of the same connection, as far as the list is concerned.
  const other = { ...second, installationId: 'ins_00000000000000000000000000', isWanted: true };
  await prisma.objectSubscription.create({ data: other });
  expect(one.webhooks()).toHaveLength(1);
  await uninstall(one);
  const left = () => prisma.objectSubscription.count({ where: { connectionId } });
  await expect.poll(left, POLLING).toBe(1);
  expect(one.webhooks()).toHaveLength(1);
  await prisma.objectSubscription.updateMany({
    where: { projectId },
    data: { isWanted: false, dueTime: PAST },
  });
  await maintainNow(app);
  await expect.poll(one.webhooks, POLLING).toEqual([]);
  await expect.poll(() => one.stream(), POLLING).toBeNull();
  expect(await prisma.streamPing.count({ where: { projectId } })).toBe(0);
  expect((await fetch(one.webhook.url, { method: 'POST', ...pinging(one.webhook) })).status).toBe(
    401,
  );
});

test('a webhook that the vendor does not take down is forgotten in the end', async () => {
  const one = await installed();
  const refused = { status: 403, body: { error: { type: 'NOT_AUTHORIZED', message: 'no' } } };
  vendor.instead = ({ method }) => (method === 'DELETE' ? refused : undefined);
  await uninstall(one);
  await expect.poll(() => one.stream(), POLLING).toBeNull();
  expect(one.webhooks()).toEqual([one.webhook]);
  const request = { method: 'POST', ...pinging(one.webhook) };
  expect((await fetch(one.webhook.url, request)).status).toBe(401);
});

test('an erasure takes the webhook down', async () => {
  const one = await installed();
  const input = { projectIdOrName: one.tenant.projectId, groupRef: 'acme' };
  await one.tenant.query(
    'mutation ($input: EraseGroupInput!) { eraseGroup(input: $input) { deletedId } }',
    { input },
  );
  await expect.poll(one.webhooks, POLLING).toEqual([]);
  await expect.poll(() => one.stream(), POLLING).toBeNull();
});

test('a webhook that has stopped telling is found by the next look, which tells what came meanwhile', async () => {
  const one = await installed();
  one.webhook.areNotificationsEnabled = false;
  one.webhook.expirationTime = PAST;
  const id = record();
  base.change({ tblTasks: { created: [id] } });
  expect(await base.ping(one.webhook)).toBeNull();
  await look(one);
  await expect.poll(() => ids(one.told()), POLLING).toEqual([id]);
  await expect.poll(() => one.webhook.areNotificationsEnabled, POLLING).toBe(true);
  expect(one.webhook.expirationTime.getTime()).toBeGreaterThan(Date.now());
  const isChecked = async () =>
    (await prisma.streamPing.findFirst({ where: { id: one.connectionId } }))?.checkTime.getTime();
  await expect.poll(isChecked, POLLING).toBeGreaterThan(Date.now());
  expect(one.webhooks()).toEqual([one.webhook]);
});

test.each([
  ['is gone', (webhook: AirtableWebhook) => base.webhooks.delete(webhook.id)],
  ['has ended', (webhook: AirtableWebhook) => Object.assign(webhook, { isHookEnabled: false })],
])('a webhook that %s is made anew, and what changed since is read', async (_name, end) => {
  const one = await installed();
  const first = record();
  base.change({ tblTasks: { created: [first] } });
  await base.ping(one.webhook);
  await expect.poll(() => ids(one.told()), POLLING).toEqual([first]);
  end(one.webhook);
  // The gateway goes by the database's clock, which may be a little behind the vendor's.
  const missed = record('Missed', 1_000);
  base.change({ tblTasks: { created: [missed] } });
  await look(one);
  const read = () => one.read().map(({ raw }) => raw?.id);
  await expect.poll(read, POLLING).toContain(missed);
  expect(await subscribeLogs(one.tenant)).toContainEqual(
    expect.stringMatching(/of which no events tell, are read; deletions are not told/),
  );
  const [anew, ...more] = one.webhooks();
  expect(more).toEqual([]);
  expect(anew?.id).not.toBe(one.webhook.id);
  const later = record();
  base.change({ tblTasks: { created: [later] } });
  expect(anew && (await base.ping(anew))).toBe(204);
  await expect.poll(() => ids(one.told()), POLLING).toEqual([first, later]);
  // The one before signs nothing any more.
  expect((await fetch(one.webhook.url, { method: 'POST', ...pinging(one.webhook) })).status).toBe(
    401,
  );
});

test('changes that the vendor has forgotten are told, and read', async () => {
  const one = await installed();
  base.change({ tblTasks: { created: [record()] } });
  await base.ping(one.webhook);
  await expect.poll(() => one.told().length, POLLING).toBe(1);
  const forgotten = record('Forgotten');
  base.change({ tblTasks: { created: [forgotten] } });
  one.webhook.payloads.clear();
  const id = record();
  base.change({ tblTasks: { created: [id] } }, new Date(Date.now() + 1_000));
  await base.ping(one.webhook);
  await expect.poll(() => one.read().map(({ raw }) => raw?.id), POLLING).toContain(forgotten);
  await expect.poll(() => ids(one.told()), POLLING).toContain(id);
  expect(ids(one.told())).not.toContain(forgotten);
});

test('why no webhook can be made is told, and mended by the next try', async () => {
  const words = 'You are not permitted to perform this operation';
  const refused = { status: 403, body: { error: { type: 'NOT_AUTHORIZED', message: words } } };
  vendor.instead = ({ method }) => (method === 'POST' ? refused : undefined);
  const tenant = await app.tenant();
  const pinged = await install(tenant);
  await expect.poll(async () => (await pinged.subscription()).status, POLLING).toBe('FAILED');
  expect((await pinged.subscription()).error).toContain(`Airtable answered 403: ${words}`);
  expect(await subscribeLogs(tenant)).toContainEqual(expect.stringContaining(words));
  vendor.instead = NOTHING;
  const { connectionId } = pinged;
  const dueTime = PAST;
  await prisma.providerStream.updateMany({ where: { connectionId }, data: { dueTime } });
  await maintainNow(app);
  await expect.poll(async () => (await pinged.subscription()).status, POLLING).toBe('ACTIVE');
});
