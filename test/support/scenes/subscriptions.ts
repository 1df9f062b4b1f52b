/** Provider-side events in tests: an installation that subscribes to the sandbox, and what reaches its destination. */
import { expect } from 'vitest';
import { inTransaction } from '../../../src/database/transaction.ts';
import { newSigningSecret, sealSigningSecret } from '../../../src/deliveries/signing-secret.ts';
import { announceSubscriptions } from '../../../src/events/channel.ts';
import type { Tenant, TestApp } from '../app.ts';
import { generate } from './connections.ts';
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

/** Rows that a test has made due by hand are looked at now, as what the product makes due: a round comes after seconds. */
export async function maintainNow({ app }: TestApp): Promise<void> {
  await inTransaction(app.services.database, async (tx) => announceSubscriptions(tx));
}

/** Needs an app that has started. The installation is for the group acme. */
export async function installSubscribing(
  app: TestApp,
  tenant: Tenant,
  given: { subscribe?: object; groupRef?: string; app?: boolean } = {},
) {
  const { sandbox, services } = app.app;
  const { projectId } = tenant;
  if (given.app !== false) await createSandboxApp(tenant);
  const subscribe = { objects: [{ ...ALL_EVENTS, ...given.subscribe }] };
  await integrate(app, tenant, contentFor('crm', { subscribe }));
  const box = `box-${crypto.randomUUID()}`;
  const { prisma } = services.database;
  const place = await prisma.destination.findFirstOrThrow({ where: { projectId } });
  const sealed = sealSigningSecret(services.vault, place, newSigningSecret());
  await prisma.destination.updateMany({
    where: { id: place.id },
    data: { url: `${sandbox.url}/inbox/${box}`, ...sealed },
  });
  await generate(tenant, { apiKey: 'sandbox-key-of-acme' });
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
    isActive: () =>
      expect.poll(async () => (await subscriptions())[0]?.status, POLLING).toBe('ACTIVE'),
    messages: () => sandbox.inbox.list(box).map(({ body }) => body as Record<string, unknown>),
    entries,
    /** What has come, once there is so much. */
    async arrived(count: number) {
      await expect.poll(() => entries().length, POLLING).toBeGreaterThanOrEqual(count);
      return entries();
    },
  };
}

export async function createSandboxApp(tenant: Tenant, given: object = {}) {
  const client = { clientId: 'client', clientSecret: 'secret of the client' };
  const input = { projectIdOrName: tenant.projectId, provider: 'sandbox', ...client, ...given };
  return (await tenant.query(CREATE_APP, { input })).createProviderApp.providerApp;
}

/** Calls of the sandbox as somebody else makes them. */
export function sandboxClient(url: string) {
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
