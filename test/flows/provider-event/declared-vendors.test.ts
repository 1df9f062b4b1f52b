/** From a vendor's own signed request to a message at the destination, for every declared provider that tells of changes. */
import { beforeAll, expect, test } from 'vitest';
import {
  type DeclaredProvider,
  declarativeProvider,
} from '../../../src/providers/declarative/declarative-provider.ts';
import { DECLARATIONS } from '../../../src/providers/declared/all.ts';
import { sharedApp, type Tenant } from '../../support/app.ts';
import { startReceiver, verified } from '../../support/receiver.ts';
import { generate } from '../../support/scenes/connections.ts';
import { CREATE_INSTALLATION, integrate } from '../../support/scenes/integrations.ts';
import { POLLING } from '../../support/scenes/subscriptions.ts';
import { WIRE_EVENTS } from '../../support/wire/events/all.ts';
import { VendorWebhooks } from '../../support/wire/events/vendor-webhooks.ts';
import type { Change, WireEvents } from '../../support/wire/events/wire-events.ts';
import { TOKEN, type WireVendor } from '../../support/wire/terms.ts';
import { type VendorServer, vendorServer } from '../../support/wire/vendor-server.ts';
import { WIRES } from '../../support/wire/vendors/all.ts';

interface Vendor {
  declared: DeclaredProvider;
  wire: WireVendor;
  events: WireEvents;
  server: VendorServer;
  webhooks: VendorWebhooks | null;
}

const vendors = new Map<string, Vendor>();
for (const declared of DECLARATIONS) {
  const [wire, events] = [WIRES[declared.name], WIRE_EVENTS[declared.name]];
  if (wire && events) vendors.set(declared.name, await startVendor({ declared, wire, events }));
}
const names = [...vendors.keys()];

/** One record, by the id that its events have. */
async function startVendor(of: Pick<Vendor, 'declared' | 'wire' | 'events'>): Promise<Vendor> {
  const { fixture } = of.wire;
  const webhooks = of.events.webhooks ? new VendorWebhooks(of.events.webhooks) : null;
  const isNumber = typeof fixture.idOf(1) === 'number';
  const id = isNumber ? Number(of.events.recordId.split('#').at(-1)) : of.events.recordId;
  const server = await vendorServer({
    ...fixture,
    idOf: () => id,
    other: (request, store, now, url) =>
      webhooks?.answer(request) ?? fixture.other?.(request, store, now, url),
  });
  server.store.create({ ...of.wire.needs, [of.wire.textField]: 'From the account' }, new Date());
  return { ...of, server, webhooks };
}

/** The declaration, at our server and with a key in place of a token. */
function providerOf({ declared, wire, server }: Vendor) {
  const [[name, value] = ['', '']] = Object.entries(wire.fixture.headers);
  return declarativeProvider({
    ...declared,
    baseUrl: server.url,
    authSchemes: ['API_KEY'],
    apiKey: { in: 'header', name, valuePrefix: value.slice(0, -TOKEN.length) },
    oauth2: undefined,
    custom: undefined,
    limits: {},
  });
}

const app = await sharedApp({
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  providers: [...vendors.values()].map(providerOf),
});
const { prisma } = app.app.services.database;
const receiver = await startReceiver();
beforeAll(async () => {
  await app.app.start();
  return async () => {
    await receiver[Symbol.asyncDispose]();
    for (const { server } of vendors.values()) await server[Symbol.asyncDispose]();
  };
});

const CREATE_APP = `mutation ($input: CreateProviderAppInput!) {
  createProviderApp(input: $input) { providerApp { id webhookUrl } }
}`;
const CREATE_DESTINATION = `mutation ($input: CreateDestinationInput!) {
  createDestination(input: $input) { signingSecret destination { id } }
}`;
const APP_SECRET = 'the secret of the app';

/** An account of the vendor that is connected and installed, for the group acme. */
async function install(tenant: Tenant, { declared, wire, events }: Vendor) {
  const projectIdOrName = tenant.projectId;
  const { name: provider } = declared;
  const client = { clientId: 'client', clientSecret: APP_SECRET };
  const appInput = { projectIdOrName, provider, ...client };
  const { providerApp } = (await tenant.query(CREATE_APP, { input: appInput })).createProviderApp;
  const box = `${provider}-${crypto.randomUUID()}`;
  const destination = { name: 'records', type: 'WEBHOOK', url: receiver.url(box) };
  const { signingSecret } = (
    await tenant.query(CREATE_DESTINATION, { input: { projectIdOrName, ...destination } })
  ).createDestination;
  await integrate(app, tenant, contentOf(provider, wire, events));
  const { providerWorkspaceRef = 'ws', facts = {} } = events.connection ?? {};
  await generate(tenant, {
    provider,
    apiKey: TOKEN,
    ...(providerWorkspaceRef !== null && { providerWorkspaceRef }),
    providerMetadata: metadataOf({ ...wire.facts, ...facts }),
  });
  const installing = { projectIdOrName, integrationIdOrName: 'subscribed', groupRef: 'acme' };
  const { id } = (await tenant.query(CREATE_INSTALLATION, { input: installing })).createInstallation
    .installation;
  const subscription = () =>
    prisma.objectSubscription.findFirstOrThrow({
      where: { projectId: tenant.projectId, installationId: id },
    });
  return { providerApp, subscription, signingSecret, box };
}

function metadataOf(facts: Record<string, string>) {
  return Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, { value }]));
}

function contentOf(provider: string, { textField }: WireVendor, { objectName, lacks }: WireEvents) {
  const field = { fieldName: textField, mapToName: 'label' };
  const always = { enabled: 'always' };
  return {
    name: 'subscribed',
    provider,
    read: {
      objects: [
        { objectName, mapToName: 'things', destination: 'records', requiredFields: [field] },
      ],
    },
    subscribe: {
      objects: [
        {
          objectName,
          inheritFieldsAndMapping: true,
          createEvent: always,
          updateEvent: always,
          ...(!lacks?.includes('DELETE') && { deleteEvent: always }),
        },
      ],
    },
  };
}

/** Where the vendor sends to, and what it signs with: told by us, or by a person. */
async function told({ webhooks }: Vendor, { providerApp, subscription }: Installed) {
  if (!webhooks) {
    await expect.poll(async () => (await subscription()).account, POLLING).not.toBeNull();
    return { url: providerApp.webhookUrl as string, secret: APP_SECRET };
  }
  await expect.poll(async () => (await subscription()).status, POLLING).toBe('ACTIVE');
  const { providerRef } = await subscription();
  const webhook = webhooks.kept.get(providerRef ?? '');
  if (!webhook) throw new Error('The vendor keeps no such webhook');
  return webhook;
}
type Installed = Awaited<ReturnType<typeof install>>;

/** An event that is sent again is the same in all that it says. */
function senderOf({ events }: Vendor, { url, secret }: { url: string; secret: string }) {
  const at = new Date();
  return async (change: Pick<Change, 'kind' | 'n'>, signedBy = secret) => {
    const { headers, body } = events.send({ ...change, at, secret: signedBy });
    const sent = { 'content-type': 'application/json', ...headers };
    return (await fetch(url, { method: 'POST', headers: sent, body })).status;
  };
}

test('every vendor that tells of changes is tried', () => {
  expect(names.toSorted()).toEqual(Object.keys(WIRE_EVENTS).toSorted());
});

test.each(
  names,
)('%s: what it signs arrives mapped and signed, what is forged does not', async (name) => {
  const vendor = vendors.get(name) as Vendor;
  const tenant = await app.tenant();
  const installed = await install(tenant, vendor);
  const send = senderOf(vendor, await told(vendor, installed));
  const { objectName, recordId, recordText = 'From the account', lacks } = vendor.events;
  expect(await send({ kind: 'UPDATE', n: 1 }, 'another secret')).toBe(401);
  expect(await prisma.providerEvent.count({ where: { projectId: tenant.projectId } })).toBe(0);

  const accepted = expect.toSatisfy((status: number) => status === 200 || status === 204);
  expect(await send({ kind: 'CREATE', n: 2 })).toEqual(accepted);
  await receiver.arrived(installed.box, 1);
  const [first] = receiver.received(installed.box);
  expect(first && verified(first, installed.signingSecret)).toMatchObject({
    action: 'subscribe',
    projectId: tenant.projectId,
    provider: name,
    groupRef: 'acme',
    objectName: 'things',
    rawObjectName: objectName,
    result: [{ subscribeEventType: 'create', id: recordId, mappedFields: { label: recordText } }],
  });

  // What it sends again is not told again.
  expect(await send({ kind: 'CREATE', n: 2 })).toEqual(accepted);
  const last = lacks?.includes('DELETE') ? 'UPDATE' : 'DELETE';
  expect(await send({ kind: last, n: 3 })).toEqual(accepted);
  await receiver.arrived(installed.box, 2);
  const kinds = receiver
    .received(installed.box)
    .flatMap(({ body }) => JSON.parse(body).result)
    .map(({ subscribeEventType }) => subscribeEventType);
  expect(kinds).toEqual(['create', last.toLowerCase()]);
});
