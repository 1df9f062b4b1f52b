/** An installation that wants what a test sends in the sandbox's name, signed as the sandbox signs it. */
import { createHmac } from 'node:crypto';
import { newSigningSecret, sealSigningSecret } from '../../../src/deliveries/signing-secret.ts';
import type { Tenant, TestApp } from '../app.ts';
import { generate } from './connections.ts';
import { CREATE_INSTALLATION, contentFor, integrate } from './integrations.ts';
import { ALL_EVENTS, createSandboxApp } from './subscriptions.ts';

export const SECRET = 'secret of the provider';

export interface SentRequest {
  method: string;
  body: Buffer<ArrayBuffer>;
  headers: Record<string, string>;
}

/** As if it had been set up at the sandbox: it sends nothing of its own. */
export async function subscribeToSent(app: TestApp, tenant: Tenant) {
  const { projectId } = tenant;
  const { sandbox, services } = app.app;
  const { prisma } = services.database;
  const { id: providerAppId } = await createSandboxApp(tenant, { webhookSecret: SECRET });
  await integrate(app, tenant, contentFor('crm', { subscribe: { objects: [ALL_EVENTS] } }));
  const place = await prisma.destination.findFirstOrThrow({ where: { projectId } });
  const sealed = sealSigningSecret(services.vault, place, newSigningSecret());
  const box = `box-${crypto.randomUUID()}`;
  const url = `${sandbox.url}/inbox/${box}`;
  await prisma.destination.updateMany({ where: { id: place.id }, data: { url, ...sealed } });
  const { id: account } = await generate(tenant, { apiKey: 'sandbox-key' });
  const input = { projectIdOrName: projectId, integrationIdOrName: 'crm', groupRef: 'acme' };
  await tenant.query(CREATE_INSTALLATION, { input });
  await prisma.objectSubscription.updateMany({
    where: { projectId },
    data: { providerAppId, account, status: 'ACTIVE', dueTime: null },
  });
  /** Ids of the events in the messages that have come. */
  const arrived = () =>
    sandbox.inbox
      .list(box)
      .map(({ body }) => body as { action: string; result: { rawEvent: { id: string } }[] })
      .flatMap(({ action, result }) => (action === 'subscribe' ? result : []))
      .map(({ rawEvent }) => rawEvent.id);
  return { providerAppId, account, arrived };
}

/** A deletion, which needs no fetch. No two are the same. */
export function sentEvent(account: string, more: object = {}) {
  return {
    ...{ id: crypto.randomUUID(), type: 'contacts.deleted', account, objectName: 'contacts' },
    ...{ recordId: '1', occurredAt: new Date().toISOString(), ...more },
  };
}

export function bodyOf(...events: unknown[]): Buffer<ArrayBuffer> {
  return Buffer.from(JSON.stringify({ events }));
}

export function signed(
  body: Buffer<ArrayBuffer>,
  { secret = SECRET, late = 0 }: { secret?: string; late?: number } = {},
): SentRequest {
  const seconds = Math.floor(Date.now() / 1_000) - late;
  const digest = createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex');
  return { method: 'POST', body, headers: { 'x-sandbox-signature': `t=${seconds},v1=${digest}` } };
}
