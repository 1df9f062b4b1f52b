/** Installs declared providers that send events, and sends signed events as their vendors do. */
import { expect } from 'vitest';
import {
  createDeclarativeProvider,
  type DeclaredProvider,
} from '../../../src/providers/declarative/declarative-provider.ts';
import { DECLARATIONS } from '../../../src/providers/declared/all.ts';
import type { Tenant, TestApp } from '../app.ts';
import type { Receiver } from '../receiver.ts';
import { WIRE_EVENTS } from '../wire/events/all.ts';
import { VendorWebhooks, type Webhook } from '../wire/events/vendor-webhooks.ts';
import type { Change, WireEvents } from '../wire/events/wire-events.ts';
import { startVendorServer, type VendorServer } from '../wire/vendor-server.ts';
import { WIRES } from '../wire/vendors/all.ts';
import { TOKEN, type WireVendor } from '../wire/wire-format.ts';
import { generateConnection } from './connections.ts';
import { CREATE_INSTALLATION, integrate } from './integrations.ts';
import { POLLING } from './subscriptions.ts';

export interface EventVendor extends AsyncDisposable {
  declared: DeclaredProvider;
  wire: WireVendor;
  events: WireEvents;
  server: VendorServer;
  /** Webhooks that the gateway creates at the vendor. Null if a person sets them up there. */
  webhooks: VendorWebhooks | null;
}

/** Starts the vendor's server with one record, whose ID is that of the events. */
export async function startEventVendor(name: string): Promise<EventVendor> {
  const declared = DECLARATIONS.find((candidate) => candidate.name === name);
  const [wire, events] = [WIRES[name], WIRE_EVENTS[name]];
  if (!declared || !wire || !events) throw new Error(`${name} declares no events.`);
  const { fixture, requiredValues, textField } = wire;
  const webhooks = events.webhooks ? new VendorWebhooks(events.webhooks) : null;
  const isNumber = typeof fixture.createId(1) === 'number';
  const id = isNumber ? Number(events.recordId.split('#').at(-1)) : events.recordId;
  const server = await startVendorServer({
    ...fixture,
    createId: () => id,
    override: async (request, ...args) =>
      (await webhooks?.serve(request)) ??
      events.serve?.(request) ??
      fixture.override?.(request, ...args),
  });
  server.store.create({ ...requiredValues, [textField]: 'From the account' }, new Date());
  const dispose = () => server[Symbol.asyncDispose]();
  return { declared, wire, events, server, webhooks, [Symbol.asyncDispose]: dispose };
}

/** Returns the declared provider, with the test server's URL, and an API key in place of OAuth. */
export function toProvider({ declared, wire, server }: EventVendor) {
  const [[name, value] = ['', '']] = Object.entries(wire.fixture.headers);
  return createDeclarativeProvider({
    ...declared,
    baseUrl: server.url,
    authSchemes: ['API_KEY'],
    apiKey: { in: 'header', name, valuePrefix: value.slice(0, -TOKEN.length) },
    oauth2: undefined,
    custom: undefined,
    // Tests of the rate limit are elsewhere. These should not wait for it.
    limits: { requestsPerSecond: 1_000 },
  });
}

const APP_SECRET = 'the secret of the app';

const CREATE_APP = `mutation ($input: CreateProviderAppInput!) {
  createProviderApp(input: $input) { providerApp { id webhookUrl } }
}`;
const CREATE_DESTINATION = `mutation ($input: CreateDestinationInput!) {
  createDestination(input: $input) { signingSecret destination { id } }
}`;

/**
 * Connects an account and installs the integration for the group `acme`. Its messages go to a separate URL of
 * the receiver.
 */
export async function installEventVendor(
  app: TestApp,
  { tenant, vendor, receiver }: { tenant: Tenant; vendor: EventVendor; receiver: Receiver },
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
  await integrate(app, tenant, createContent(vendor));
  const { providerWorkspaceRef = 'ws', metadata = {} } = vendor.events.connection ?? {};
  const connection = await generateConnection(tenant, {
    provider,
    apiKey: TOKEN,
    ...(providerWorkspaceRef !== null && { providerWorkspaceRef }),
    providerMetadata: toMetadata({ ...vendor.wire.metadata, ...metadata }),
  });
  const installationInput = {
    projectIdOrName,
    integrationIdOrName: 'subscribed',
    groupRef: 'acme',
  };
  const { id } = (await tenant.query(CREATE_INSTALLATION, { input: installationInput }))
    .createInstallation.installation;
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

type InstalledVendor = Awaited<ReturnType<typeof installEventVendor>>;

function toMetadata(metadata: Record<string, string>) {
  return Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, { value }]));
}

function createContent({ declared: { name: provider }, wire: { textField }, events }: EventVendor) {
  const { objectName, missingKinds } = events;
  const always = { enabled: 'ALWAYS' };
  const requiredFields = [{ fieldName: textField, mapToName: 'label' }];
  const destination = 'records';
  const changes = {
    createEvent: always,
    updateEvent: always,
    ...(!missingKinds?.includes('DELETE') && { deleteEvent: always }),
  };
  return {
    name: 'subscribed',
    provider,
    read: { objects: [{ objectName, mapToName: 'things', destination, requiredFields }] },
    subscribe: { objects: [{ objectName, inheritFieldsAndMapping: true, ...changes }] },
  };
}

/**
 * Waits until the subscription is active. Returns the URL that the vendor sends to, and the secret that it
 * signs with.
 */
export async function waitForWebhook(
  { webhooks }: EventVendor,
  { providerApp, subscription }: InstalledVendor,
): Promise<Webhook> {
  if (!webhooks) {
    await expect.poll(async () => (await subscription()).account, POLLING).not.toBeNull();
    return { id: '', url: providerApp.webhookUrl, secret: APP_SECRET };
  }
  await expect.poll(async () => (await subscription()).status, POLLING).toBe('ACTIVE');
  const { providerRef } = await subscription();
  // If one subscription is several webhooks at the vendor, each of them is valid.
  const webhook = webhooks.webhooks.get(providerRef?.split(' ').at(-1) ?? '');
  if (!webhook) throw new Error('The vendor has no webhook with the ID of the subscription.');
  return webhook;
}

/**
 * Returns a function that sends an event as the vendor does, and returns the status of the response. Repeated
 * events are identical.
 */
export function createSender(
  { events }: EventVendor,
  { url, secret }: { url: string; secret: string },
) {
  const sendTime = new Date();
  return async (change: Pick<Change, 'kind' | 'sequence'>, signedBy = secret): Promise<number> => {
    const { headers, body } = events.send({ ...change, sentAt: sendTime, secret: signedBy });
    const requestHeaders = { 'content-type': 'application/json', ...headers };
    return (await fetch(url, { method: 'POST', headers: requestHeaders, body })).status;
  };
}
