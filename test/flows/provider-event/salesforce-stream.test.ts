import { Webhook } from 'standardwebhooks';
import { beforeAll, expect, test } from 'vitest';
import { claimProviderStreams } from '../../../src/domain/data/provider-event/stream/provider-stream-state.ts';
import { getSharedApp } from '../../support/app.ts';
import { CREATE_REVISION, deleteInstallation } from '../../support/fixtures/integrations.ts';
import {
  createContactsContent,
  installActiveOnOrg,
  installOnOrg,
  startSalesforceOrg,
} from '../../support/fixtures/salesforce-events.ts';
import {
  listSubscribeResults,
  SUBSCRIPTION_POLLING,
} from '../../support/fixtures/subscriptions.ts';

const org = await startSalesforceOrg();
const { rest, stream } = org;
const app = await getSharedApp({ env: { ...org.env, DELIVERY_RETRY_SECONDS: '1,1,1,1' } });
const { services } = app.app;
const { prisma } = services.database;
beforeAll(async () => {
  await app.app.start();
  return () => org[Symbol.asyncDispose]();
});

/** Returns the subscribers of the connection's stream. */
const listSubscribers = ({ connectionId }: { connectionId: string }) =>
  [...stream.subscribers].filter(({ topicName }) => topicName.includes(connectionId.slice(-26)));

/** Returns the number of times that the connection's stream has failed since it stored an event. */
async function readFailures(
  { projectId }: { projectId: string },
  { connectionId }: { connectionId: string },
): Promise<number | undefined> {
  const where = { projectId_connectionId: { projectId, connectionId } };
  return (await prisma.providerStream.findUnique({ where }))?.failures;
}

/** The lease token of a worker in another process. */
const OTHER_LEASE = 'another process:its claim';

const createEmail = () => `${crypto.randomUUID()}@example.test`;

test('delivers created, changed and deleted contacts mapped and signed, and leaves nothing at the org', async () => {
  const tenant = await app.createTenant();
  const installation = await installOnOrg(app, tenant, org);
  expect(installation.providerApp).toMatchObject({ webhookUrl: null, webhookInstructions: null });
  await installation.waitUntilActive();
  const id = org.create({ Email: 'ada@example.test' });
  await installation.waitForEntries(1);
  org.update(id, { Email: 'lovelace@example.test' });
  await installation.waitForEntries(2);
  org.delete(id);
  const entries = await installation.waitForEntries(3);
  expect(entries).toMatchObject([
    {
      subscribeEventType: 'create',
      providerEventType: 'CREATE',
      id,
      fields: { email: 'ada@example.test', lastname: 'Lovelace' },
      mappedFields: { address: 'ada@example.test' },
    },
    { subscribeEventType: 'update', id, fieldsUpdated: ['Email'] },
    { subscribeEventType: 'delete', id },
  ]);
  // The number exceeds JavaScript's integers, and must not be rounded.
  const header = { entityName: 'Contact', commitNumber: '9007199254740993' };
  expect(entries[1]?.rawEvent).toMatchObject({ ChangeEventHeader: header });
  const [message] = installation.listMessages('subscribe');
  expect(message?.body).toMatchObject({ objectName: 'people', rawObjectName: 'Contact' });
  const headers = message?.headers as Record<string, string>;
  const verify = () => new Webhook(installation.secret).verify(message?.rawBody ?? '', headers);
  expect(verify).not.toThrow();
  expect(await installation.listSubscriptions()).toMatchObject([
    { status: 'ACTIVE', eventCount: 3 },
  ]);

  await deleteInstallation(tenant, installation.id);
  const name = installation.connectionId.slice(-26);
  const listChannels = () =>
    rest.channels.channels.filter((channel) => channel.name.includes(name));
  await expect.poll(listChannels, SUBSCRIPTION_POLLING).toEqual([]);
  await expect.poll(() => listSubscribers(installation), SUBSCRIPTION_POLLING).toEqual([]);
});

test('lists changed fields, including parts of an address, and ignores the case of watched fields', async () => {
  const tenant = await app.createTenant();
  const watchEmailAndCity = { enabled: 'ALWAYS', requiredWatchFields: ['email', 'mailingcity'] };
  const installation = await installActiveOnOrg(app, tenant, org, {
    updateEvent: watchEmailAndCity,
  });
  const id = org.create({ Email: createEmail() });
  org.update(id, {}, { Phone: '1' });
  org.update(id, {}, { MailingAddress: { City: 'London' } });
  org.update(id, { Email: createEmail() }, { Email: 'x', Phone: '2' });
  const [, ...updates] = await installation.waitForEntries(3);
  expect(updates.map(({ fieldsUpdated }) => fieldsUpdated)).toEqual([
    ['MailingAddress', 'MailingAddress.City', 'MailingCity'],
    ['Email', 'Phone'],
  ]);
});

test(
  'resumes an interrupted stream without loss or duplicates, and requests at most 100 events ahead',
  { tags: ['all/rows'] },
  async () => {
    const tenant = await app.createTenant();
    const installation = await installActiveOnOrg(app, tenant, org);
    const ids = [org.create({ Email: createEmail() })];
    await installation.waitForEntries(1);
    for (let round = 0; round < 4; round += 1) {
      await expect.poll(() => listSubscribers(installation), SUBSCRIPTION_POLLING).toHaveLength(1);
      // A stream that is interrupted before it stores an event waits longer each time.
      await expect.poll(() => readFailures(tenant, installation), SUBSCRIPTION_POLLING).toBe(0);
      for (let index = 0; index < 40; index += 1) ids.push(org.create({ Email: createEmail() }));
      stream.endStreams();
    }
    const delivered = (await installation.waitForEntries(161)).map(({ id }) => id);
    expect(delivered).toHaveLength(161);
    expect(delivered.toSorted()).toEqual(ids.toSorted());
    const [subscriber] = listSubscribers(installation);
    expect(subscriber).toMatchObject({ preset: 'CUSTOM', creditMax: 100 });
  },
);

test('reopens a stream that the provider closes immediately, with increasing delays', async () => {
  const tenant = await app.createTenant();
  const installation = await installActiveOnOrg(app, tenant, org);
  stream.endsNewStreams = true;
  stream.endStreams();
  await expect
    .poll(() => readFailures(tenant, installation), SUBSCRIPTION_POLLING)
    .toBeGreaterThanOrEqual(3);
  stream.endsNewStreams = false;
  await reopen(installation, () => listSubscribers(installation).length === 1);
  const id = org.create({ Email: createEmail() });
  await expect
    .poll(() => installation.listEntries().map((entry) => entry.id), SUBSCRIPTION_POLLING)
    .toContain(id);
  expect(await readFailures(tenant, installation)).toBe(0);
});

test('replaces a rejected token and continues the stream', async () => {
  const installation = await installActiveOnOrg(app, await app.createTenant(), org);
  org.create({ Email: createEmail() });
  await installation.waitForEntries(1);
  rest.replaceToken(`token-${crypto.randomUUID()}`);
  stream.endStreams();
  org.create({ Email: createEmail() });
  expect(await installation.waitForEntries(2)).toHaveLength(2);
});

test('fetches the record of an event that contains only its ID', async () => {
  const tenant = await app.createTenant();
  const updateEvent = { enabled: 'ALWAYS', requiredWatchFields: ['email'] };
  const installation = await installActiveOnOrg(app, tenant, org, { updateEvent });
  const id = rest.store.create('Contact', { LastName: 'Gap', Email: 'gap@example.test' });
  stream.publish({ entityName: 'Contact', changeType: 'GAP_UPDATE', recordIds: [id] });
  expect(await installation.waitForEntries(1)).toMatchObject([
    {
      subscribeEventType: 'update',
      providerEventType: 'GAP_UPDATE',
      fields: { email: 'gap@example.test' },
    },
  ]);
});

test('reads changes that an overflow event does not list, and delivers deletions', async () => {
  const tenant = await app.createTenant();
  const installation = await installActiveOnOrg(app, tenant, org);
  const deletedId = rest.store.create('Contact', { LastName: 'Gone' });
  const id = rest.store.create('Contact', { LastName: 'Overflow' });
  rest.store.delete('Contact', deletedId);
  const commitTimestamp = Date.now() + 1_000;
  const change = { entityName: 'Contact', recordIds: ['000000000000000AAA'] };
  stream.publish({ ...change, changeType: 'GAP_OVERFLOW', commitTimestamp });
  const listDeletedEntries = () =>
    installation.listEntries().filter((entry) => entry.id === deletedId);
  await expect
    .poll(listDeletedEntries, SUBSCRIPTION_POLLING)
    .toMatchObject([{ subscribeEventType: 'delete' }]);
  const listReadIds = () => installation.listEntries('read').map(({ raw }) => raw.Id);
  await expect.poll(listReadIds, SUBSCRIPTION_POLLING).toContain(id);
  expect(await listSubscribeResults(app, tenant)).toContainEqual(
    expect.stringMatching(/without events/),
  );
});

test("logs that the provider no longer keeps the stream's position, and reads the changes since", async () => {
  const tenant = await app.createTenant();
  const installation = await installActiveOnOrg(app, tenant, org);
  org.create({ Email: createEmail() });
  await installation.waitForEntries(1);
  await holdLease(installation);
  const missedRecord = org.create({ Email: createEmail() });
  const changedAt = new Date(Date.now() + 30_000);
  const missedByFastClock = org.create({ Email: createEmail() }, { changedAt });
  stream.expireEvents();
  await releaseLease(installation);
  const listReadIds = () => installation.listEntries('read').map(({ raw }) => raw.Id);
  await expect
    .poll(listReadIds, SUBSCRIPTION_POLLING)
    .toEqual(expect.arrayContaining([missedRecord, missedByFastClock]));
  const logs = await listSubscribeResults(app, tenant);
  expect(logs).toContainEqual(
    expect.stringMatching(/no longer has the events that follow the last received one/),
  );
  // The stream receives events again.
  const id = org.create({ Email: createEmail() });
  await expect
    .poll(() => installation.listEntries().map((entry) => entry.id), SUBSCRIPTION_POLLING)
    .toContain(id);
  expect(installation.listEntries().map((entry) => entry.id)).not.toContain(missedRecord);
});

/**
 * Makes the stream due repeatedly until it is open. Without this, a busy machine could add failures, each of which
 * doubles the delay.
 */
async function reopen({ connectionId }: { connectionId: string }, isOpen: () => unknown) {
  const attempt = async () => {
    if (await isOpen()) return true;
    const due = { dueTime: services.now() };
    await prisma.providerStream.updateMany({ where: { connectionId }, data: due });
    return false;
  };
  await expect.poll(attempt, { interval: 500 }).toBe(true);
}

/** Gives the lease of the stream to another worker, which does nothing. */
async function holdLease({ connectionId }: { connectionId: string }) {
  const leaseExpireTime = new Date(Date.now() + 3_600_000);
  const lease = { leaseToken: OTHER_LEASE, leaseExpireTime };
  await prisma.providerStream.updateMany({ where: { connectionId }, data: lease });
}

async function releaseLease({ connectionId }: { connectionId: string }) {
  const noLease = { leaseToken: null, leaseExpireTime: null };
  await prisma.providerStream.updateMany({
    where: { connectionId, leaseToken: OTHER_LEASE },
    data: noLease,
  });
}

test('stores no event that a worker receives after another worker has claimed the stream', async () => {
  const tenant = await app.createTenant();
  const installation = await installActiveOnOrg(app, tenant, org);
  expect(await claimProviderStreams(services, 100)).toEqual([]);
  await holdLease(installation);
  const id = org.create({ Email: createEmail() });
  // The previous worker notices that it has lost the lease.
  await expect.poll(() => listSubscribers(installation), SUBSCRIPTION_POLLING).toEqual([]);
  expect(await prisma.providerEvent.count({ where: { projectId: tenant.projectId } })).toBe(0);
  expect(await claimProviderStreams(services, 100)).toEqual([]);
  await releaseLease(installation);
  // The stream had no position yet, so the gateway reads all changes since the stream was first opened.
  const listReadIds = () => installation.listEntries('read').map(({ raw }) => raw.Id);
  await expect.poll(listReadIds, SUBSCRIPTION_POLLING).toContain(id);
});

test('gives two tenants on one org separate streams, which end independently', async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const installation = await installOnOrg(app, tenant, org);
  const otherInstallation = await installOnOrg(app, otherTenant, org, { deleteEvent: null });
  await installation.waitUntilActive();
  await otherInstallation.waitUntilActive();
  const id = org.create({ Email: createEmail() });
  org.delete(id);
  await installation.waitForEntries(2);
  await otherInstallation.waitForEntries(1);
  const deliveries = await prisma.delivery.findMany({
    where: { projectId: otherTenant.projectId },
  });
  expect(deliveries.map(({ body }) => JSON.parse(body).projectId)).not.toContain(tenant.projectId);
  const revision = {
    specVersion: '1.0.0',
    content: { ...createContactsContent(), subscribe: null },
  };
  const input = { projectIdOrName: tenant.projectId, integrationIdOrName: 'crm', revision };
  await tenant.query(CREATE_REVISION, { input });
  await expect.poll(() => listSubscribers(installation), SUBSCRIPTION_POLLING).toEqual([]);
  const lastId = org.create({ Email: createEmail() });
  await expect
    .poll(() => otherInstallation.listEntries().map((entry) => entry.id), SUBSCRIPTION_POLLING)
    .toContain(lastId);
  expect(installation.listEntries().map((entry) => entry.id)).not.toContain(lastId);
  expect(
    otherInstallation.listEntries().map(({ subscribeEventType }) => subscribeEventType),
  ).toEqual(['create', 'create']);
});

test("fails a subscription with the org's reason, and recovers when the cause is removed", async () => {
  const installation = await installActiveOnOrg(app, await app.createTenant(), org);
  const name = installation.connectionId.slice(-26);
  const { channels } = rest;
  const hidden = channels.channels.filter((channel) => channel.name.includes(name));
  channels.channels = channels.channels.filter((channel) => !hidden.includes(channel));
  stream.endStreams();
  const findSubscription = async () => (await installation.listSubscriptions())[0];
  const findStatus = async () => (await findSubscription())?.status;
  await expect.poll(findStatus, SUBSCRIPTION_POLLING).toBe('FAILED');
  expect((await findSubscription())?.error).toMatch(/topic .* is not known/);
  channels.channels.push(...hidden);
  await reopen(installation, async () => (await findStatus()) === 'ACTIVE');
  const id = org.create({ Email: createEmail() });
  await expect
    .poll(() => installation.listEntries().map((entry) => entry.id), SUBSCRIPTION_POLLING)
    .toContain(id);
});
