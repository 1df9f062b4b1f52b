/**
 * Creates installations that subscribe to events of the sandbox, and returns the messages that reach their
 * destination.
 */
import { expect } from 'vitest';
import { inTransaction } from '../../../src/database/transaction.ts';
import { createSigningSecret, sealSigningSecret } from '../../../src/deliveries/signing-secret.ts';
import { notifySubscriptions } from '../../../src/events/channel.ts';
import type { Tenant, TestApp } from '../app.ts';
import { generateConnection } from './connections.ts';
import { CREATE_INSTALLATION, contentFor, integrate } from './integrations.ts';

export const POLLING = { timeout: 30_000, interval: 50 };

const CREATE_APP = `mutation ($input: CreateProviderAppInput!) {
  createProviderApp(input: $input) { providerApp { id webhookUrl webhookInstructions } }
}`;

export const SUBSCRIPTIONS = `query ($id: ID!) { node(id: $id) { ... on Installation {
  healthStatus
  subscriptions {
    objectName mappedObjectName kinds status error lastEventTime eventCount destination { name }
  }
} } }`;

export const ALL_EVENTS = {
  objectName: 'contacts',
  inheritFieldsAndMapping: true,
  createEvent: { enabled: 'ALWAYS' },
  updateEvent: { enabled: 'ALWAYS' },
  deleteEvent: { enabled: 'ALWAYS' },
};

export interface Entry {
  subscribeEventType: string;
  providerEventType: string;
  id: string;
  fields: Record<string, unknown>;
  mappedFields: Record<string, unknown>;
  raw: Record<string, unknown>;
  fieldsUpdated?: string[];
  rawEvent: Record<string, unknown>;
  fromRecord?: { id: string; objectName: string; raw: object };
  toRecord?: { id: string; objectName: string; raw: object };
}

/**
 * Makes the worker check for due subscriptions now. Otherwise, rows that a test made due wait for the next
 * round, some seconds later.
 */
export async function checkSubscriptionsNow({ app }: TestApp): Promise<void> {
  await inTransaction(app.services.database, async (tx) => notifySubscriptions(tx));
}

/** Installs a subscribing integration for the group `acme`. The app must be started. */
export async function installSubscription(
  app: TestApp,
  tenant: Tenant,
  options: { subscribe?: object; groupRef?: string; app?: boolean } = {},
) {
  const { sandbox, services } = app.app;
  const { projectId } = tenant;
  if (options.app !== false) await createSandboxApp(tenant);
  const subscribe = { objects: [{ ...ALL_EVENTS, ...options.subscribe }] };
  await integrate(app, tenant, contentFor('crm', { subscribe }));
  const box = `box-${crypto.randomUUID()}`;
  const { prisma } = services.database;
  const destination = await prisma.destination.findFirstOrThrow({ where: { projectId } });
  const sealed = sealSigningSecret(services.vault, destination, createSigningSecret());
  await prisma.destination.updateMany({
    where: { id: destination.id },
    data: { url: `${sandbox.url}/inbox/${box}`, ...sealed },
  });
  await generateConnection(tenant, { apiKey: 'sandbox-key-of-acme' });
  const input = { projectIdOrName: projectId, integrationIdOrName: 'crm', groupRef: 'acme' };
  const { id } = (await tenant.query(CREATE_INSTALLATION, { input })).createInstallation
    .installation;
  const subscriptions = async () => (await tenant.query(SUBSCRIPTIONS, { id })).node.subscriptions;
  const entries = (): Entry[] =>
    sandbox.inbox
      .list(box)
      .map(({ body }) => body as { action: string; result: Entry[] })
      .filter(({ action }) => action === 'subscribe')
      .flatMap(({ result }) => result);
  return {
    id,
    box,
    subscriptions,
    status: async () => (await subscriptions())[0]?.status,
    waitUntilActive: () =>
      expect.poll(async () => (await subscriptions())[0]?.status, POLLING).toBe('ACTIVE'),
    messages: () => sandbox.inbox.list(box).map(({ body }) => body as Record<string, unknown>),
    entries,
    /** Waits for at least `count` entries and returns them. */
    async waitForEntries(count: number) {
      await expect.poll(() => entries().length, POLLING).toBeGreaterThanOrEqual(count);
      return entries();
    },
  };
}

export async function createSandboxApp(tenant: Tenant, members: object = {}) {
  const client = { clientId: 'client', clientSecret: 'secret of the client' };
  const input = { projectIdOrName: tenant.projectId, provider: 'sandbox', ...client, ...members };
  return (await tenant.query(CREATE_APP, { input })).createProviderApp.providerApp;
}

/** Calls the sandbox as a client other than the gateway. */
export function createSandboxClient(url: string) {
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { 'x-api-key': 'sandbox-key', 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return response.status === 204 ? null : response.json();
  };
  const records = '/objects/contacts/records';
  return {
    call,
    async create(record: object): Promise<string> {
      return (await call('POST', records, { record })).record.id;
    },
    update: (id: string, record: object) => call('PATCH', `${records}/${id}`, { record }),
    delete: (id: string) => call('DELETE', `${records}/${id}`),
    subscriptions: async () =>
      (await call('GET', '/webhook-subscriptions')).subscriptions as Record<string, unknown>[],
  };
}
