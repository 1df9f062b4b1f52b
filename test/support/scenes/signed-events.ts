/**
 * Creates an installation that receives events which the test itself signs and sends, as the sandbox would.
 */
import { createHmac } from 'node:crypto';
import { createSigningSecret, sealSigningSecret } from '../../../src/deliveries/signing-secret.ts';
import type { Tenant, TestApp } from '../app.ts';
import { generateConnection } from './connections.ts';
import { CREATE_INSTALLATION, contentFor, integrate } from './integrations.ts';
import { ALL_EVENTS, createSandboxApp } from './subscriptions.ts';

export const SECRET = 'secret of the provider';

export interface SentRequest {
  method: string;
  body: Buffer<ArrayBuffer>;
  headers: Record<string, string>;
}

/**
 * Marks the subscription as active without creating it at the sandbox, so that the sandbox sends no events
 * itself.
 */
export async function installForSentEvents(app: TestApp, tenant: Tenant) {
  const { projectId } = tenant;
  const { sandbox, services } = app.app;
  const { prisma } = services.database;
  const { id: providerAppId } = await createSandboxApp(tenant, { webhookSecret: SECRET });
  await integrate(app, tenant, contentFor('crm', { subscribe: { objects: [ALL_EVENTS] } }));
  const destination = await prisma.destination.findFirstOrThrow({ where: { projectId } });
  const sealed = sealSigningSecret(services.vault, destination, createSigningSecret());
  const box = `box-${crypto.randomUUID()}`;
  const url = `${sandbox.url}/inbox/${box}`;
  await prisma.destination.updateMany({ where: { id: destination.id }, data: { url, ...sealed } });
  const { id: account } = await generateConnection(tenant, { apiKey: 'sandbox-key' });
  const input = { projectIdOrName: projectId, integrationIdOrName: 'crm', groupRef: 'acme' };
  await tenant.query(CREATE_INSTALLATION, { input });
  await prisma.objectSubscription.updateMany({
    where: { projectId },
    data: { providerAppId, account, status: 'ACTIVE', dueTime: null },
  });
  /** Returns the IDs of the events in the messages that have arrived. */
  const listArrivedIds = () =>
    sandbox.inbox
      .list(box)
      .map(({ body }) => body as { action: string; result: { rawEvent: { id: string } }[] })
      .flatMap(({ action, result }) => (action === 'subscribe' ? result : []))
      .map(({ rawEvent }) => rawEvent.id);
  return { providerAppId, account, listArrivedIds };
}

/** Returns a deletion, for which the gateway fetches no record. Each has a new ID. */
export function createSentEvent(account: string, overrides: object = {}) {
  return {
    ...{ id: crypto.randomUUID(), type: 'contacts.deleted', account, objectName: 'contacts' },
    ...{ recordId: '1', occurredAt: new Date().toISOString(), ...overrides },
  };
}

export function eventsBody(...events: unknown[]): Buffer<ArrayBuffer> {
  return Buffer.from(JSON.stringify({ events }));
}

export function signRequest(
  body: Buffer<ArrayBuffer>,
  { secret = SECRET, late: ageSeconds = 0 }: { secret?: string; late?: number } = {},
): SentRequest {
  const seconds = Math.floor(Date.now() / 1_000) - ageSeconds;
  const digest = createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex');
  return { method: 'POST', body, headers: { 'x-sandbox-signature': `t=${seconds},v1=${digest}` } };
}
