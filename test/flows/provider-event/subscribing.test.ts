import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { scheduleMaintenance } from '../../../src/domain/data/provider-event/object-subscription.ts';
import { getSharedApp } from '../../support/app.ts';
import { recordEvents } from '../../support/fixtures/connections.ts';
import { deleteInstallation } from '../../support/fixtures/integrations.ts';
import {
  checkSubscriptionsNow,
  createSandboxApp,
  createSandboxClient,
  installActiveSubscription,
  installSubscription,
  LIST_SUBSCRIPTIONS,
  SUBSCRIPTION_POLLING,
} from '../../support/fixtures/subscriptions.ts';

const app = await getSharedApp({ env: { DELIVERY_RETRY_SECONDS: '1,1,1,1,1,1' } });
const { sandbox } = app.app;
const crm = createSandboxClient(sandbox.url);
beforeAll(async () => void (await app.app.start()));

/** Returns the message that docs/webhooks.md shows. */
function readDocumentedExample() {
  const text = readFileSync('docs/webhooks.md', 'utf8');
  const [, example = ''] = /```json\n(\{\n {2}"action": "subscribe".*?)```/s.exec(text) ?? [];
  return JSON.parse(example);
}

const createEmail = () => `${crypto.randomUUID()}@example.test`;

test('delivers created, changed and deleted records mapped', async () => {
  const tenant = await app.createTenant();
  const installation = await installActiveSubscription(app, tenant);
  const id = await crm.create({ email: createEmail(), firstname: 'Ada' });
  await crm.update(id, { firstname: 'Ada L.' });
  await installation.waitForEntries(2);
  await crm.delete(id);
  const entries = (await installation.waitForEntries(3)).filter((entry) => entry.id === id);
  expect(entries).toMatchObject([
    { subscribeEventType: 'create', providerEventType: 'contacts.created' },
    { subscribeEventType: 'update', fieldsUpdated: ['firstname'] },
    { subscribeEventType: 'delete', providerEventType: 'contacts.deleted' },
  ]);
  expect(entries[0]?.fields).toMatchObject({ email: expect.stringContaining('@example.test') });
  const [message = {}] = installation.listMessages().filter(({ action }) => action === 'subscribe');
  const example = readDocumentedExample();
  const withoutWorkspace = ({ workspace: _none, ...members }: Record<string, unknown>) => members;
  expect(Object.keys(withoutWorkspace(message)).toSorted()).toEqual(
    Object.keys(example).toSorted(),
  );
  expect(Object.keys(entries[1] ?? {}).toSorted()).toEqual(
    Object.keys(example.result[0]).toSorted(),
  );
  expect(message).toMatchObject({
    action: 'subscribe',
    projectId: tenant.projectId,
    provider: 'sandbox',
    groupRef: 'acme',
    rawObjectName: 'contacts',
    resultInfo: { type: 'inline' },
  });
  expect(await installation.listSubscriptions()).toMatchObject([
    {
      objectName: 'contacts',
      status: 'ACTIVE',
      kinds: ['CREATE', 'UPDATE', 'DELETE'],
      eventCount: 3,
    },
  ]);
});

test('ignores repeated and forged requests', async () => {
  const installation = await installActiveSubscription(app, await app.createTenant());
  sandbox.settings.webhooks = { ...sandbox.settings.webhooks, doubled: true, forged: true };
  try {
    const ids = await Promise.all(
      Array.from({ length: 20 }, () => crm.create({ email: createEmail() })),
    );
    await installation.waitForEntries(20);
    const lastId = await crm.create({ email: createEmail() });
    await expect
      .poll(() => installation.listEntries().map(({ id }) => id), SUBSCRIPTION_POLLING)
      .toContain(lastId);
    const delivered = installation.listEntries().map(({ id }) => id);
    expect(delivered.toSorted()).toEqual([...ids, lastId].toSorted());
  } finally {
    sandbox.settings.webhooks = { ...sandbox.settings.webhooks, doubled: false, forged: false };
  }
});

test('delivers changes of a record in order, even if the destination fails sometimes', async () => {
  const installation = await installActiveSubscription(app, await app.createTenant());
  const ids = await Promise.all(
    Array.from({ length: 5 }, () => crm.create({ email: createEmail() })),
  );
  for (let change = 1; change <= 10; change += 1) {
    if (change % 4 === 0) {
      sandbox.faults.set({ status: 500, pathPrefix: `/inbox/${installation.inbox}`, times: 3 });
    }
    await Promise.all(ids.map((id) => crm.update(id, { phone: `${change}` })));
  }
  await installation.waitForEntries(55);
  for (const id of ids) {
    const order = installation
      .listEntries()
      .filter((entry) => entry.id === id)
      .map(({ rawEvent }) => String(rawEvent.occurredAt));
    expect(order).toHaveLength(11);
    expect(order).toEqual(order.toSorted());
  }
});

test('delivers changes of watched fields and configured event types only', async () => {
  const tenant = await app.createTenant();
  const subscribe = {
    createEvent: undefined,
    deleteEvent: undefined,
    updateEvent: { enabled: 'ALWAYS', requiredWatchFields: ['phone'] },
    otherEvents: ['contacts.merged'],
  };
  const installation = await installActiveSubscription(app, tenant, { subscribe });
  const [id, mergedId] = [
    await crm.create({ email: createEmail() }),
    await crm.create({ email: createEmail() }),
  ];
  await crm.update(id, { lastname: 'Not watched' });
  await crm.update(id, { phone: '1' });
  await crm.call('POST', `/objects/contacts/records/${id}/merge`, { otherId: mergedId });
  await installation.waitForEntries(2);
  expect(installation.listEntries()).toMatchObject([
    { subscribeEventType: 'update', id, fieldsUpdated: ['phone'] },
    { subscribeEventType: 'other', providerEventType: 'contacts.merged', id },
  ]);
});

test('delivers an association with its two records', async () => {
  const tenant = await app.createTenant();
  const subscribe = { associationChangeEvent: { enabled: 'ALWAYS', includeFullRecords: true } };
  const installation = await installActiveSubscription(app, tenant, { subscribe });
  const companyId = (
    await crm.call('POST', '/objects/companies/records', { record: { name: 'Acme' } })
  ).record.id;
  const id = await crm.create({ email: createEmail(), company_id: companyId });
  const entries = await installation.waitForEntries(2);
  expect(
    entries.find(({ subscribeEventType }) => subscribeEventType === 'associationUpdate'),
  ).toMatchObject({
    fromRecord: { id, objectName: 'contacts', raw: { id } },
    toRecord: { id: companyId, objectName: 'companies', raw: { name: 'Acme' } },
  });
});

test('deletes the subscription at the provider with the installation', async () => {
  const tenant = await app.createTenant();
  const installation = await installActiveSubscription(app, tenant);
  const { prisma } = app.app.services.database;
  const { projectId } = tenant;
  const { id: appId } = await prisma.providerApp.findFirstOrThrow({ where: { projectId } });
  const findSubscription = async () =>
    (await crm.listSubscriptions()).filter(({ url }) => String(url).endsWith(appId));
  expect(await findSubscription()).toMatchObject([{ objectName: 'contacts' }]);
  await deleteInstallation(tenant, installation.id);
  await expect.poll(async () => (await findSubscription()).length, SUBSCRIPTION_POLLING).toBe(0);
  const countSubscriptions = () => prisma.objectSubscription.count({ where: { projectId } });
  await expect.poll(countSubscriptions, SUBSCRIPTION_POLLING).toBe(0);
});

test('fails without a provider app, and recovers when one is created', async () => {
  const tenant = await app.createTenant();
  const listEvents = await recordEvents(app, tenant);
  const installation = await installSubscription(app, tenant, { app: false });
  await expect.poll(installation.getStatus, SUBSCRIPTION_POLLING).toBe('FAILED');
  const { healthStatus, subscriptions } = (
    await tenant.query(LIST_SUBSCRIPTIONS, { id: installation.id })
  ).node;
  expect(healthStatus).toBe('UNHEALTHY');
  expect(subscriptions[0].error).toContain('provider app');
  await expect
    .poll(async () => (await listEvents()).map(({ eventType }) => eventType), SUBSCRIPTION_POLLING)
    .toContain('SUBSCRIBE_CREATE_ERROR');
  await createSandboxApp(tenant);
  await installation.waitUntilActive();
});

test('recreates the subscriptions of a sandbox that has lost all of them', async () => {
  const installation = await installActiveSubscription(app, await app.createTenant());
  const lostSubscriptions = await crm.listSubscriptions();
  for (const { id } of lostSubscriptions) {
    await crm.call('DELETE', `/webhook-subscriptions/${id}`);
  }
  await scheduleMaintenance(app.app.services, 'sandbox');
  // The sandbox also has subscriptions of other tests.
  const countSubscriptions = async () => (await crm.listSubscriptions()).length;
  await expect
    .poll(countSubscriptions, SUBSCRIPTION_POLLING)
    .toBeGreaterThanOrEqual(lostSubscriptions.length);
  const id = await crm.create({ email: createEmail() });
  await installation.waitForEntries(1);
  expect(installation.listEntries().map((entry) => entry.id)).toContain(id);
});

test('renews an expiring subscription at the provider while it is needed', async () => {
  const { settings } = sandbox;
  const lifetime = settings.subscriptionLifetimeSeconds;
  // A subscription is renewed after half of its lifetime, which must be longer than the interval between sweeps.
  settings.subscriptionLifetimeSeconds = 12;
  try {
    const tenant = await app.createTenant();
    const installation = await installActiveSubscription(app, tenant);
    const { prisma } = app.app.services.database;
    const { projectId } = tenant;
    const findSubscription = () =>
      prisma.objectSubscription.findFirstOrThrow({ where: { projectId } });
    const { providerRef } = await findSubscription();
    const findAtProvider = async () =>
      (await crm.listSubscriptions()).find(({ id }) => id === providerRef);
    const readExpiryMs = async () => Date.parse(String((await findAtProvider())?.expiresAt));
    const firstExpiryMs = await readExpiryMs();
    await expect.poll(readExpiryMs, SUBSCRIPTION_POLLING).toBeGreaterThan(firstExpiryMs);
    expect(await findSubscription()).toMatchObject({ providerRef, status: 'ACTIVE' });
    await crm.create({ email: createEmail() });
    await installation.waitForEntries(1);
  } finally {
    settings.subscriptionLifetimeSeconds = lifetime;
  }
});

test('recreates a subscription that the provider has lost', async () => {
  const tenant = await app.createTenant();
  const installation = await installActiveSubscription(app, tenant);
  const { prisma } = app.app.services.database;
  const where = { projectId: tenant.projectId };
  const { providerRef, dueTime } = await prisma.objectSubscription.findFirstOrThrow({ where });
  expect(Number(dueTime) - Date.now()).toBeLessThanOrEqual(24 * 3_600_000);
  await crm.call('DELETE', `/webhook-subscriptions/${providerRef}`);
  await prisma.objectSubscription.updateMany({ where, data: { dueTime: new Date(0) } });
  await checkSubscriptionsNow(app);
  const readRef = async () =>
    (await prisma.objectSubscription.findFirstOrThrow({ where })).providerRef;
  await expect.poll(readRef, SUBSCRIPTION_POLLING).not.toBe(providerRef);
  const id = await crm.create({ email: createEmail() });
  await installation.waitForEntries(1);
  expect(installation.listEntries().map((entry) => entry.id)).toContain(id);
});
