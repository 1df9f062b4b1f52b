import { createHmac } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { providerEvents } from '../../../src/domain/data/provider-event/deliver-provider-events.ts';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import {
  createInstallation,
  createIntegration,
  createIntegrationContent,
} from '../../support/fixtures/integrations.ts';
import {
  ALL_EVENTS,
  LIST_SUBSCRIPTIONS,
  SUBSCRIPTION_POLLING,
} from '../../support/fixtures/subscriptions.ts';
import { PORTAL_ID, startHubspotServer } from '../../support/providers/hubspot-server.ts';
import { CREATE_PROVIDER_APP } from '../../support/providers/oauth.ts';
import { FOREIGN_COUNT, FOREIGN_EVENTS } from '../../support/wire/events/foreign-events.ts';
import { runAllDueRows } from '../../support/work/due-work.ts';

const APP_SECRET = 'secret of the app';
const ACCESS_TOKEN = 'hubspot-token';
/** Refuses requests for records: returns the status and the message of the refusal. Null serves the request. */
let refuse: (path: string, body: string) => [status: number, message: string] | null = () => null;
const hubspot = await startHubspotServer({
  token: ACCESS_TOKEN,
  intercept: async (request, serve) => {
    const refusal = refuse(request.path, JSON.stringify(request.body));
    return refusal ? { status: refusal[0], body: { message: refusal[1] } } : serve(request);
  },
});
const app = await getSharedApp({ env: { HUBSPOT_BASE_URL: hubspot.url } });
const { services } = app.app;
const { prisma } = services.database;
beforeAll(async () => {
  await app.app.start();
  return () => hubspot[Symbol.asyncDispose]();
});

/** Subscribes the group `acme` to contacts of the portal. */
async function subscribe(tenant: Tenant, { namesPortal = true, hasAssociations = false } = {}) {
  const projectIdOrName = tenant.projectId;
  const client = { clientId: 'client', clientSecret: APP_SECRET, provider: 'hubspot' };
  const input = { projectIdOrName, ...client };
  const { providerApp } = (await tenant.query(CREATE_PROVIDER_APP, { input })).createProviderApp;
  const [contacts] = createIntegrationContent().read.objects;
  // Without a schedule, no read delivers records in addition to the events.
  const read = { objects: [{ ...contacts, schedule: undefined }] };
  const associationChangeEvent = { enabled: 'ALWAYS', includeFullRecords: true };
  const subscribed = { ...ALL_EVENTS, ...(hasAssociations && { associationChangeEvent }) };
  const content = createIntegrationContent('crm', { read, subscribe: { objects: [subscribed] } });
  await createIntegration(app, tenant, { ...content, provider: 'hubspot' });
  const { id: connectionId } = await generateConnection(tenant, {
    provider: 'hubspot',
    ...(namesPortal && { providerWorkspaceRef: `${PORTAL_ID}` }),
    oauth2AuthorizationCode: { accessToken: { token: ACCESS_TOKEN } },
  });
  const { id } = await createInstallation(tenant, { connectionId });
  const listSubscriptions = async () =>
    (await tenant.query(LIST_SUBSCRIPTIONS, { id })).node.subscriptions;
  const readAccount = async () =>
    (await prisma.objectSubscription.findFirstOrThrow({ where: { installationId: id } })).account;
  await expect.poll(readAccount, SUBSCRIPTION_POLLING).toBe(`${PORTAL_ID}`);
  return { providerApp, listSubscriptions };
}

let eventCount = 0;

function createEvent(overrides: object, portalId = PORTAL_ID) {
  eventCount += 1;
  return {
    appId: 1,
    eventId: eventCount,
    subscriptionId: 7,
    portalId,
    occurredAt: Date.now(),
    attemptNumber: 0,
    objectTypeId: '0-1',
    subscriptionType: 'object.propertyChange',
    ...overrides,
  };
}

/** Sends a request as HubSpot signs it. */
function send(url: string, body: object, { secret = APP_SECRET, timestamp = Date.now() } = {}) {
  const text = JSON.stringify(body);
  const signedText = `POST${url}${text}${timestamp}`;
  return fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-hubspot-request-timestamp': `${timestamp}`,
      'x-hubspot-signature-v3': createHmac('sha256', secret).update(signedText).digest('base64'),
    },
    body: text,
  });
}

async function listEntries({ projectId }: Tenant) {
  await runAllDueRows(services, providerEvents);
  const rows = await prisma.delivery.findMany({ where: { projectId }, orderBy: { id: 'asc' } });
  return rows.flatMap(({ body }) => JSON.parse(body).result);
}

test('delivers an event of the portal with the current record, and sets the subscription to ACTIVE', async () => {
  const tenant = await app.createTenant();
  const { providerApp, listSubscriptions } = await subscribe(tenant);
  expect(providerApp.webhookInstructions).toContain(providerApp.webhookUrl);
  expect(await listSubscriptions()).toMatchObject([{ status: 'PENDING', eventCount: 0 }]);
  const { id } = hubspot.store.create('contacts', { email: 'ada@example.test' });
  const changed = createEvent({ objectId: Number(id), propertyName: 'email', propertyValue: 'x' });
  const deletionEvent = createEvent({ objectId: 99, subscriptionType: 'object.deletion' });
  expect((await send(providerApp.webhookUrl, [changed, deletionEvent])).status).toBe(204);
  // HubSpot repeats an event if it did not see a success.
  expect((await send(providerApp.webhookUrl, [changed, deletionEvent, changed])).status).toBe(204);
  await expect.poll(() => listEntries(tenant), SUBSCRIPTION_POLLING).toHaveLength(2);
  expect(await listEntries(tenant)).toMatchObject([
    {
      subscribeEventType: 'update',
      id,
      fieldsUpdated: ['email'],
      fields: { email: 'ada@example.test' },
    },
    { subscribeEventType: 'delete', id: '99', rawEvent: { portalId: PORTAL_ID } },
  ]);
  expect(await listSubscriptions()).toMatchObject([{ status: 'ACTIVE', eventCount: 2 }]);
});

test('requests the portal from HubSpot if the input omits it', async () => {
  const tenant = await app.createTenant();
  const { providerApp } = await subscribe(tenant, { namesPortal: false });
  const deletionEvent = createEvent({ objectId: 99, subscriptionType: 'object.deletion' });
  expect((await send(providerApp.webhookUrl, [deletionEvent])).status).toBe(204);
  await expect.poll(() => listEntries(tenant), SUBSCRIPTION_POLLING).toHaveLength(1);
  const { projectId } = tenant;
  const connection = await prisma.connection.findFirst({ where: { projectId } });
  expect(connection?.providerWorkspaceRef).toBe(`${PORTAL_ID}`);
});

test('stores nothing from requests that are forged, late, malformed or for an unknown app', async () => {
  const tenant = await app.createTenant();
  const { providerApp } = await subscribe(tenant);
  const url: string = providerApp.webhookUrl;
  const event = [createEvent({ objectId: 1, subscriptionType: 'object.deletion' })];
  const late = { timestamp: Date.now() - 6 * 60_000 };
  expect((await send(url, event, { secret: 'another' })).status).toBe(401);
  expect((await send(url, event, late)).status).toBe(401);
  expect((await send(url.replace(/.{4}$/, '0000'), event)).status).toBe(401);
  expect((await send(url.replace('hubspot', 'sandbox'), event)).status).toBe(401);
  expect((await send(url.replace('hubspot', 'stripe'), event)).status).toBe(401);
  expect((await send(url, { not: 'a list' })).status).toBe(400);
  // The database cannot store this time.
  const { status } = await send(url, [createEvent({ objectId: 1, occurredAt: 8e15 })]);
  expect(status).toBe(400);
  expect((await send(`${url}/more`, event)).status).toBe(404);
  expect((await fetch(url)).status).toBe(405);
  const large = await fetch(url, { method: 'POST', body: 'x'.repeat(1024 * 1024 + 1) });
  expect(large.status).toBe(413);
  const compressed = { method: 'POST', body: 'x', headers: { 'content-encoding': 'gzip' } };
  expect((await fetch(url, compressed)).status).toBe(415);
  expect(await prisma.providerEvent.count({ where: { projectId: tenant.projectId } })).toBe(0);
});

test('ignores an event of another type that has another form, and stores the other events of the request', async () => {
  const tenant = await app.createTenant();
  const { providerApp } = await subscribe(tenant);
  const otherEvents = [{ subscriptionType: 'app.uninstall', portalId: PORTAL_ID }];
  const deletionEvent = createEvent({ objectId: 99, subscriptionType: 'object.deletion' });
  expect((await send(providerApp.webhookUrl, [...otherEvents, deletionEvent])).status).toBe(204);
  await expect.poll(() => listEntries(tenant), SUBSCRIPTION_POLLING).toHaveLength(1);
  const brokenEvents = [createEvent({ subscriptionType: 'contact.creation', eventId: null })];
  expect((await send(providerApp.webhookUrl, brokenEvents)).status).toBe(400);
});

test('ignores foreign events, and refuses an event without its time', async () => {
  const tenant = await app.createTenant();
  const { webhookUrl } = (await subscribe(tenant)).providerApp;
  const countEvents = () => prisma.providerEvent.count({ where: { projectId: tenant.projectId } });
  const foreignEvents = FOREIGN_EVENTS.hubspot?.(new Date()) ?? [];
  expect(foreignEvents).toHaveLength(FOREIGN_COUNT);
  for (const { body } of foreignEvents) {
    expect((await send(webhookUrl, body as object)).status, JSON.stringify(body)).toBe(204);
  }
  const event = { objectId: 99, subscriptionType: 'object.deletion' };
  const brokenEvent = createEvent({ ...event, occurredAt: undefined });
  expect((await send(webhookUrl, [brokenEvent])).status).toBe(400);
  expect(await countEvents()).toBe(0);
  expect((await send(webhookUrl, [createEvent(event)])).status).toBe(204);
  expect(await countEvents()).toBe(1);
});

test('delivers an event to the tenant of its app only, if two tenants are connected to one portal', async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const { providerApp } = await subscribe(tenant);
  await subscribe(otherTenant);
  const event = createEvent({ objectId: 5, subscriptionType: 'object.deletion' });
  expect((await send(providerApp.webhookUrl, [event])).status).toBe(204);
  await expect.poll(() => listEntries(tenant), SUBSCRIPTION_POLLING).toHaveLength(1);
  expect(await listEntries(otherTenant)).toEqual([]);
  const otherPortalEvent = createEvent(
    { objectId: 5, subscriptionType: 'object.deletion' },
    PORTAL_ID + 1,
  );
  expect((await send(providerApp.webhookUrl, [otherPortalEvent])).status).toBe(204);
  expect(await listEntries(tenant)).toHaveLength(1);
});

/** Creates an event as classic subscriptions send it, without type ids. */
function createClassicAssociation(fromObjectId: string, overrides: object = {}) {
  return createEvent({
    subscriptionType: 'contact.associationChange',
    objectTypeId: undefined,
    associationType: 'CONTACT_TO_COMPANY',
    fromObjectId: Number(fromObjectId),
    toObjectId: 77,
    associationRemoved: false,
    ...overrides,
  });
}

test('delivers classic association events with the records of both parties', async () => {
  const tenant = await app.createTenant();
  const { webhookUrl } = (await subscribe(tenant, { hasAssociations: true })).providerApp;
  const { id } = hubspot.store.create('contacts', { email: 'bea@example.test' });
  const { id: dealId } = hubspot.store.create('deals', {
    dealname: 'Engines',
    dealstage: 'closedwon',
  });
  const events = [
    createClassicAssociation(id, {
      associationType: 'CONTACT_TO_DEAL',
      toObjectId: Number(dealId),
    }),
    createClassicAssociation(id, { associationType: 'CONTACT_TO_FLYING_CAR' }),
    createClassicAssociation(id, { associationType: undefined }),
    createEvent({ objectId: Number(id), propertyName: 'email', propertyValue: 'x' }),
  ];
  expect((await send(webhookUrl, events)).status).toBe(204);
  await expect.poll(() => listEntries(tenant), SUBSCRIPTION_POLLING).toHaveLength(4);
  const fromRecord = { id, objectName: 'contacts', raw: { id } };
  const unknownRecord = { id: '77', objectName: '', fields: {}, raw: {} };
  expect(await listEntries(tenant)).toMatchObject([
    { fromRecord, toRecord: { id: dealId, objectName: 'deals', raw: { id: dealId } } },
    { fromRecord, toRecord: unknownRecord },
    { fromRecord, toRecord: unknownRecord },
    { subscribeEventType: 'update', fields: { email: 'bea@example.test' } },
  ]);
});

test('delivers other events while HubSpot refuses one record, and the events of the record afterwards', async () => {
  const tenant = await app.createTenant();
  const { webhookUrl } = (await subscribe(tenant)).providerApp;
  const ids = ['Ada', 'Bob', 'Cy', 'Di'].map(
    (firstname) => hubspot.store.create('contacts', { firstname }).id,
  );
  const [, refusedId = '', ...otherIds] = ids;
  refuse = (path, body) =>
    path.endsWith('/batch/read') && body.includes(`"${refusedId}"`)
      ? [400, 'Invalid object id']
      : null;
  try {
    const changes = ids.map((id) => createEvent({ objectId: Number(id), propertyName: 'email' }));
    const objectId = Number(refusedId);
    const deletionEvent = createEvent({ objectId, subscriptionType: 'object.deletion' });
    expect((await send(webhookUrl, [...changes, deletionEvent])).status).toBe(204);
    const listIds = async () => (await listEntries(tenant)).map(({ id }) => id);
    await expect.poll(listIds, SUBSCRIPTION_POLLING).toEqual([ids[0], ...otherIds]);
    const { projectId } = tenant;
    const waiting = await prisma.providerEvent.findMany({ where: { projectId, doneTime: null } });
    expect(waiting.map(({ recordId }) => recordId)).toEqual([refusedId, refusedId]);
    refuse = () => null;
    await expect.poll(listIds, SUBSCRIPTION_POLLING).toHaveLength(5);
    const kinds = (await listEntries(tenant)).map((entry) => entry.subscribeEventType);
    expect(kinds.slice(3)).toEqual(['update', 'delete']);
  } finally {
    refuse = () => null;
  }
});

test('delivers an association without the records of an object that HubSpot refuses to return', async () => {
  const tenant = await app.createTenant();
  const { webhookUrl } = (await subscribe(tenant, { hasAssociations: true })).providerApp;
  const { id } = hubspot.store.create('contacts', { email: 'cleo@example.test' });
  refuse = (path) => (path.includes('/companies/') ? [403, 'Missing scopes'] : null);
  try {
    const change = createEvent({ objectId: Number(id), propertyName: 'email' });
    expect((await send(webhookUrl, [createClassicAssociation(id), change])).status).toBe(204);
    await expect.poll(() => listEntries(tenant), SUBSCRIPTION_POLLING).toHaveLength(2);
    expect(await listEntries(tenant)).toMatchObject([
      { fromRecord: { raw: { id } }, toRecord: { id: '77', objectName: 'companies', raw: {} } },
      { subscribeEventType: 'update', fields: { email: 'cleo@example.test' } },
    ]);
  } finally {
    refuse = () => null;
  }
});

test('accepts a rotated secret for another day', async () => {
  const tenant = await app.createTenant();
  const { providerApp } = await subscribe(tenant);
  const update = `mutation UpdateProviderApp($input: UpdateProviderAppInput!) {
    updateProviderApp(input: $input) { providerApp { id } }
  }`;
  const input = {
    projectIdOrName: tenant.projectId,
    providerAppId: providerApp.id,
    updateMask: ['WEBHOOK_SECRET'],
    providerApp: { webhookSecret: 'the new one' },
  };
  await tenant.query(update, { input });
  const sendWith = async (secret: string) =>
    (await send(providerApp.webhookUrl, [], { secret })).status;
  await expect.poll(() => sendWith('the new one'), SUBSCRIPTION_POLLING).toBe(204);
  expect(await sendWith(APP_SECRET)).toBe(204);
  expect(await sendWith('neither')).toBe(401);
});
