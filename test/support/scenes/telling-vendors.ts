/** Declared providers that tell of changes, each with its vendor: installed as builders do it, and signing as the vendor does. */
import { expect } from 'vitest';
import {
  type DeclaredProvider,
  declarativeProvider,
} from '../../../src/providers/declarative/declarative-provider.ts';
import { DECLARATIONS } from '../../../src/providers/declared/all.ts';
import type { Tenant, TestApp } from '../app.ts';
import type { Receiver } from '../receiver.ts';
import { WIRE_EVENTS } from '../wire/events/all.ts';
import { VendorWebhooks, type Webhook } from '../wire/events/vendor-webhooks.ts';
import type { Change, WireEvents } from '../wire/events/wire-events.ts';
import { TOKEN, type WireVendor } from '../wire/terms.ts';
import { type VendorServer, vendorServer } from '../wire/vendor-server.ts';
import { WIRES } from '../wire/vendors/all.ts';
import { generate } from './connections.ts';
import { CREATE_INSTALLATION, integrate } from './integrations.ts';
import { POLLING } from './subscriptions.ts';

export interface TellingVendor extends AsyncDisposable {
  declared: DeclaredProvider;
  wire: WireVendor;
  events: WireEvents;
  server: VendorServer;
  /** Null where a person sets them up. */
  webhooks: VendorWebhooks | null;
}

/** An account with one record, by the id that its events have. */
export async function startTellingVendor(name: string): Promise<TellingVendor> {
  const declared = DECLARATIONS.find((one) => one.name === name);
  const [wire, events] = [WIRES[name], WIRE_EVENTS[name]];
  if (!declared || !wire || !events) throw new Error(`${name} tells of nothing`);
  const { fixture, needs, textField } = wire;
  const webhooks = events.webhooks ? new VendorWebhooks(events.webhooks) : null;
  const isNumber = typeof fixture.idOf(1) === 'number';
  const id = isNumber ? Number(events.recordId.split('#').at(-1)) : events.recordId;
  const server = await vendorServer({
    ...fixture,
    idOf: () => id,
    other: async (request, ...given) =>
      (await webhooks?.answer(request)) ??
      events.serves?.(request) ??
      fixture.other?.(request, ...given),
  });
  server.store.create({ ...needs, [textField]: 'From the account' }, new Date());
  const dispose = () => server[Symbol.asyncDispose]();
  return { declared, wire, events, server, webhooks, [Symbol.asyncDispose]: dispose };
}

/** The declaration, at the vendor's server and with a key in place of a token. */
export function providerOf({ declared, wire, server }: TellingVendor) {
  const [[name, value] = ['', '']] = Object.entries(wire.fixture.headers);
  return declarativeProvider({
    ...declared,
    baseUrl: server.url,
    authSchemes: ['API_KEY'],
    apiKey: { in: 'header', name, valuePrefix: value.slice(0, -TOKEN.length) },
    oauth2: undefined,
    custom: undefined,
    // Nobody waits for a rate that is kept elsewhere.
    limits: { requestsPerSecond: 1_000 },
  });
}

export const APP_SECRET = 'the secret of the app';

const CREATE_APP = `mutation ($input: CreateProviderAppInput!) {
  createProviderApp(input: $input) { providerApp { id webhookUrl } }
}`;
const CREATE_DESTINATION = `mutation ($input: CreateDestinationInput!) {
  createDestination(input: $input) { signingSecret destination { id } }
}`;

/** An account that is connected and installed for the group acme; its messages go to a place of the receiver. */
export async function installTelling(
  app: TestApp,
  { tenant, vendor, receiver }: { tenant: Tenant; vendor: TellingVendor; receiver: Receiver },
) {
  const projectIdOrName = tenant.projectId;
  const { name: provider } = vendor.declared;
  const client = { clientId: 'client', clientSecret: APP_SECRET };
  const input = { projectIdOrName, provider, ...client };
  const { providerApp } = (await tenant.query(CREATE_APP, { input })).createProviderApp;
  const box = `${provider}-${crypto.randomUUID()}`;
  const destination = { name: 'records', type: 'WEBHOOK', url: receiver.url(box) };
  const { signingSecret } = (
    await tenant.query(CREATE_DESTINATION, { input: { projectIdOrName, ...destination } })
  ).createDestination;
  await integrate(app, tenant, contentOf(vendor));
  const { providerWorkspaceRef = 'ws', facts = {} } = vendor.events.connection ?? {};
  const connection = await generate(tenant, {
    provider,
    apiKey: TOKEN,
    ...(providerWorkspaceRef !== null && { providerWorkspaceRef }),
    providerMetadata: metadataOf({ ...vendor.wire.facts, ...facts }),
  });
  const installing = { projectIdOrName, integrationIdOrName: 'subscribed', groupRef: 'acme' };
  const { id } = (await tenant.query(CREATE_INSTALLATION, { input: installing })).createInstallation
    .installation;
  const where = { projectId: tenant.projectId, installationId: id };
  const { prisma } = app.app.services.database;
  return {
    id: id as string,
    connectionId: connection.id as string,
    providerApp: providerApp as { id: string; webhookUrl: string },
    signingSecret: signingSecret as string,
    box,
    subscription: () => prisma.objectSubscription.findFirstOrThrow({ where }),
  };
}

export type Installed = Awaited<ReturnType<typeof installTelling>>;

function metadataOf(facts: Record<string, string>) {
  return Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, { value }]));
}

function contentOf({ declared: { name: provider }, wire: { textField }, events }: TellingVendor) {
  const { objectName, lacks } = events;
  const always = { enabled: 'ALWAYS' };
  const requiredFields = [{ fieldName: textField, mapToName: 'label' }];
  const destination = 'records';
  const changes = {
    createEvent: always,
    updateEvent: always,
    ...(!lacks?.includes('DELETE') && { deleteEvent: always }),
  };
  return {
    name: 'subscribed',
    provider,
    read: { objects: [{ objectName, mapToName: 'things', destination, requiredFields }] },
    subscribe: { objects: [{ objectName, inheritFieldsAndMapping: true, ...changes }] },
  };
}

/** Where the vendor sends to, and what it signs with: told by a person, or in a subscription that is ACTIVE. */
export async function toldTo(
  { webhooks }: TellingVendor,
  { providerApp, subscription }: Installed,
): Promise<Webhook> {
  if (!webhooks) {
    await expect.poll(async () => (await subscription()).account, POLLING).not.toBeNull();
    return { id: '', url: providerApp.webhookUrl, secret: APP_SECRET };
  }
  await expect.poll(async () => (await subscription()).status, POLLING).toBe('ACTIVE');
  const { providerRef } = await subscription();
  // Where one subscription is several at the vendor, any of them signs.
  const webhook = webhooks.kept.get(providerRef?.split(' ').at(-1) ?? '');
  if (!webhook) throw new Error('The vendor keeps no such webhook');
  return webhook;
}

/** Sends as the vendor does; the status of the answer. An event that is sent again is the same in all that it says. */
export function senderOf(
  { events }: TellingVendor,
  { url, secret }: { url: string; secret: string },
) {
  const at = new Date();
  return async (change: Pick<Change, 'kind' | 'n'>, signedBy = secret): Promise<number> => {
    const { headers, body } = events.send({ ...change, at, secret: signedBy });
    const sent = { 'content-type': 'application/json', ...headers };
    return (await fetch(url, { method: 'POST', headers: sent, body })).status;
  };
}
