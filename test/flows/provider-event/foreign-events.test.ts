/**
 * Each of the 18 sources of events sends ten events that no integration can subscribe to. The gateway accepts and ignores
 * them. It refuses an event of a known type whose form is unknown. The test of HubSpot is in `hubspot-webhook.test.ts`.
 *
 * @module-tag all/walk
 */
import { beforeAll, expect, test } from 'vitest';
import { parseExactJson } from '../../../src/providers/exact-json.ts';
import { getSharedApp, type Tenant, type TestApp } from '../../support/app.ts';
import {
  createVendorProvider,
  type EventVendor,
  installEventVendor,
  postSigned,
  startEventVendor,
  waitForWebhook,
} from '../../support/fixtures/event-vendors.ts';
import { installPingingVendor, startPingingVendor } from '../../support/fixtures/pinging-vendor.ts';
import {
  installActiveOnOrg,
  startSalesforceOrg,
} from '../../support/fixtures/salesforce-events.ts';
import {
  createSentEvent,
  installForSentEvents,
  signRequest,
} from '../../support/fixtures/signed-events.ts';
import { SUBSCRIPTION_POLLING } from '../../support/fixtures/subscriptions.ts';
import { startReceiver } from '../../support/receiver.ts';
import { type AirtableWebhook, signPingBody } from '../../support/wire/events/airtable-base.ts';
import { WIRE_EVENTS } from '../../support/wire/events/all.ts';
import {
  FOREIGN_COUNT,
  FOREIGN_EVENTS,
  SANDBOX_ACCOUNT,
} from '../../support/wire/events/foreign-events.ts';
import type { SignedRequest } from '../../support/wire/events/wire-events.ts';

const vendors = await Promise.all(Object.keys(WIRE_EVENTS).map(startEventVendor));
const pingingVendor = await startPingingVendor();
const org = await startSalesforceOrg();
/** Has the declared providers, at their test servers. */
const vendorApp = await getSharedApp({
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  providers: [...vendors, pingingVendor].map(createVendorProvider),
});
/** Has all providers. */
const app = await getSharedApp({ env: org.env });
const receiver = await startReceiver();
beforeAll(async () => {
  await vendorApp.app.start();
  await app.app.start();
  return async () => {
    await receiver[Symbol.asyncDispose]();
    for (const vendor of [...vendors, pingingVendor, org]) await vendor[Symbol.asyncDispose]();
  };
});

/** Creates the foreign events of a provider as signed requests. */
function createForeignRequests(
  provider: string,
  sign: (body: string, sentAt: Date) => Record<string, string>,
): SignedRequest[] {
  const sentAt = new Date();
  return (FOREIGN_EVENTS[provider]?.(sentAt) ?? []).map(({ headers, body: content }) => {
    const body = JSON.stringify(content);
    return { body, headers: { ...headers, ...sign(body, sentAt) } };
  });
}

async function expectIgnored(url: string, requests: SignedRequest[]): Promise<void> {
  expect(requests).toHaveLength(FOREIGN_COUNT);
  for (const request of requests) {
    const response = await postSigned(url, request);
    expect([200, 204], `${response.status} ${request.body}`).toContain(response.status);
    expect(await response.text()).toBe('');
  }
}

const countEvents = ({ app: { services } }: TestApp, { projectId }: Tenant) =>
  services.database.prisma.providerEvent.count({ where: { projectId } });

test('has foreign events for each source of events', () => {
  const sources = app.app.services.catalogs.builtIn.providers.filter(
    ({ capabilities }) => capabilities.subscribe,
  );
  const names = sources.map(({ name }) => name);
  expect(names).toHaveLength(18);
  // Salesforce has two entries for two ways to sign in.
  const expected = [...Object.keys(FOREIGN_EVENTS), 'salesforce', 'salesforceJWT'];
  expect(names.toSorted()).toEqual(expected.toSorted());
});

const cases = vendors.map((vendor): [string, EventVendor] => [vendor.declared.name, vendor]);

test.each(
  cases,
)('%s: ignores foreign events, and refuses an event without its record', async (name, vendor) => {
  const { events } = vendor;
  const tenant = await vendorApp.createTenant();
  const installation = await installEventVendor(vendorApp, { tenant, vendor, receiver });
  const { url, secret } = await waitForWebhook(vendor, installation);
  const requests = createForeignRequests(name, (body, sentAt) =>
    events.sign(body, { secret, sentAt }),
  );
  await expectIgnored(url, requests);
  expect(await countEvents(vendorApp, tenant)).toBe(0);

  const sentAt = new Date();
  const event = events.send({ kind: 'CREATE', sequence: 1, sentAt, secret });
  const body = removeId(event.body, events.recordId);
  const headers = { ...event.headers, ...events.sign(body, { secret, sentAt }) };
  expect((await postSigned(url, { body, headers })).status).toBe(400);
  expect(await countEvents(vendorApp, tenant)).toBe(0);
  expect([200, 204]).toContain((await postSigned(url, event)).status);
  expect(await countEvents(vendorApp, tenant)).toBe(1);
});

/** Replaces the id of the record in the body by null. */
function removeId(body: string, recordId: string): string {
  const id = recordId.split(/[#/]/).at(-1);
  return JSON.stringify(parseExactJson(body), (_name, value) =>
    String(value) === id ? null : value,
  );
}

test('sandbox: ignores foreign events, and refuses an event without its record', async () => {
  const tenant = await app.createTenant();
  const { providerAppId } = await installForSentEvents(app, tenant);
  const { projectId } = tenant;
  await app.app.services.database.prisma.objectSubscription.updateMany({
    where: { projectId },
    data: { account: SANDBOX_ACCOUNT },
  });
  const url = `${app.app.services.publicUrl()}/webhooks/sandbox/${providerAppId}`;
  const sign = (body: string) => signRequest(Buffer.from(body)).headers;
  await expectIgnored(url, createForeignRequests('sandbox', sign));
  const sendEvent = async (members: object) => {
    const body = JSON.stringify({ events: [createSentEvent(SANDBOX_ACCOUNT, members)] });
    return (await postSigned(url, { body, headers: sign(body) })).status;
  };
  expect(await sendEvent({ recordId: null })).toBe(400);
  expect(await countEvents(app, tenant)).toBe(0);
  expect([200, 204]).toContain(await sendEvent({}));
  expect(await countEvents(app, tenant)).toBe(1);
});

test('airtable: accepts all pings, and ignores foreign entries of the list', async () => {
  const { base, server } = pingingVendor;
  const tenant = await vendorApp.createTenant();
  const installation = await installPingingVendor(vendorApp, {
    tenant,
    vendor: pingingVendor,
    receiver,
  });
  await expect
    .poll(async () => (await installation.findStream())?.position, SUBSCRIPTION_POLLING)
    .toBe('1');
  const [webhook] = installation.listWebhooks() as [AirtableWebhook];
  const timestamp = new Date().toISOString();
  const entries = [
    {},
    { actionMetadata: { source: 'system' } },
    { createdTablesById: { tblNew: { metadata: { name: 'New' } } } },
    { destroyedTableIds: ['tblOld'] },
    { changedTablesById: {} },
    { changedTablesById: null },
    { changedTablesById: { tblTasks: { changedMetadata: { current: { name: 'Tasks' } } } } },
    { changedTablesById: { tblTasks: { createdFieldsById: { fld1: {} } } } },
    { changedTablesById: { tblTasks: { changedViewsById: { viw1: {} } } } },
    { changedTablesById: { tblTasks: null } },
  ];
  expect(entries).toHaveLength(FOREIGN_COUNT);
  for (const entry of entries) base.addPayload({ timestamp, ...entry });
  const id = String(server.store.create({ Name: 'From the account' }, new Date()).id);
  base.change({ tblTasks: { created: [id] } });
  const sign = (body: string) => signPingBody(webhook, body);
  await expectIgnored(webhook.url, createForeignRequests('airtable', sign));
  await expect.poll(() => installation.listEventResults(), SUBSCRIPTION_POLLING).toHaveLength(1);
  expect(installation.listEventResults()).toMatchObject([{ subscribeEventType: 'create', id }]);
});

test('salesforce: ignores foreign events of its stream', async () => {
  const installation = await installActiveOnOrg(app, await app.createTenant(), org);
  // An admin of the org has added an object to the channel.
  const { members } = org.rest.channels;
  members.push(
    ...members.map((member) => ({ ...member, id: 'other', entity: 'AccountChangeEvent' })),
  );
  const contactTypes = ['UNDELETE', 'GAP_UNDELETE', 'SNAPSHOT'];
  const accountTypes = ['CREATE', 'UPDATE', 'DELETE', 'UNDELETE'];
  const gapTypes = ['GAP_CREATE', 'GAP_UPDATE', 'GAP_OVERFLOW'];
  const changes = [
    ...contactTypes.map((changeType) => ({ entityName: 'Contact', changeType })),
    ...[...accountTypes, ...gapTypes].map((changeType) => ({ entityName: 'Account', changeType })),
  ];
  expect(changes).toHaveLength(FOREIGN_COUNT);
  for (const change of changes) org.stream.publish({ ...change, recordIds: ['003000000000001'] });
  const id = org.create();
  await installation.waitForEntries(1);
  expect(installation.listEntries()).toMatchObject([{ subscribeEventType: 'create', id }]);
});
