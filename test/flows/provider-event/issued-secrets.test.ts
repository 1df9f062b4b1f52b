/** Secrets that a vendor issues for each subscription: sealed, replaced and deleted with it. */

import { beforeAll, expect, test } from 'vitest';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import {
  createSender,
  type EventVendor,
  installEventVendor,
  startEventVendor,
  toProvider,
  waitForWebhook,
} from '../../support/fixtures/event-vendors.ts';
import { deleteInstallation } from '../../support/fixtures/integrations.ts';
import { checkSubscriptionsNow, POLLING } from '../../support/fixtures/subscriptions.ts';
import { startReceiver } from '../../support/receiver.ts';

const [close, asana, zendesk] = await Promise.all(
  (['close', 'asana', 'zendeskSupport'] as const).map(startEventVendor),
);
const vendors = [close, asana, zendesk] as EventVendor[];
const app = await getSharedApp({
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  providers: vendors.map(toProvider),
});
const { database } = app.app.services;
const { prisma } = database;
const receiver = await startReceiver();
beforeAll(async () => {
  await app.app.start();
  return async () => {
    await receiver[Symbol.asyncDispose]();
    for (const vendor of vendors) await vendor[Symbol.asyncDispose]();
  };
});

async function subscribeVendor(vendor: EventVendor, tenant?: Tenant) {
  const owner = tenant ?? (await app.tenant());
  const installed = await installEventVendor(app, { tenant: owner, vendor, receiver });
  const webhook = await waitForWebhook(vendor, installed);
  const { projectId } = owner;
  const listSecrets = () =>
    prisma.subscriptionSecret.findMany({ where: { projectId }, orderBy: { id: 'asc' } });
  return { tenant: owner, projectId, installed, webhook, listSecrets };
}

const update = (sequence: number) => ({ kind: 'UPDATE', sequence }) as const;

test('seals an issued secret, and rejects it at the addresses of other subscriptions', async () => {
  const vendor = close as EventVendor;
  const [first, other] = [await subscribeVendor(vendor), await subscribeVendor(vendor)];
  const [row] = await first.listSecrets();
  expect(row?.secretsSealed).not.toContain(first.webhook.secret);
  expect(first.webhook.url).toBe(
    `${first.installed.providerApp.webhookUrl}?subscription=${row?.id}`,
  );
  expect(first.webhook.secret).not.toBe(other.webhook.secret);
  const fetchStatus = (url: string) =>
    createSender(vendor, { url, secret: first.webhook.secret })(update(1));
  expect(await fetchStatus(first.webhook.url)).toBe(200);
  // The app's address alone, the address of another subscription and an unknown one are refused.
  expect(await fetchStatus(first.installed.providerApp.webhookUrl)).toBe(401);
  expect(await fetchStatus(other.webhook.url)).toBe(401);
  const [, query = ''] = first.webhook.url.split('?');
  expect(await fetchStatus(`${other.installed.providerApp.webhookUrl}?${query}`)).toBe(401);
  expect(await fetchStatus(first.webhook.url.replace(/.{4}$/, '0000'))).toBe(401);
  expect(await fetchStatus(`${first.webhook.url}%00`)).toBe(401);
  // Another app of the project is refused, too.
  const client = { clientId: 'client', clientSecret: 'secret', provider: 'close' };
  const input = { projectIdOrName: first.projectId, ...client };
  const { providerApp } = (
    await first.tenant.query(
      'mutation CreateProviderApp($input: CreateProviderAppInput!) { createProviderApp(input: $input) { providerApp { webhookUrl } } }',
      { input },
    )
  ).createProviderApp;
  expect(await fetchStatus(`${providerApp.webhookUrl}?${query}`)).toBe(401);
  expect(await prisma.providerEvent.count({ where: { projectId: other.projectId } })).toBe(0);
});

test("rejects signatures with the app's own secret", async () => {
  const vendor = zendesk as EventVendor;
  const { webhook } = await subscribeVendor(vendor);
  const send = createSender(vendor, webhook);
  expect(await send(update(1), 'the secret of the app')).toBe(401);
  expect(await send(update(1))).toBe(200);
});

test('gives a recreated subscription a new secret, and accepts the old one for another day', async () => {
  const vendor = close as EventVendor;
  const { tenant, projectId, installed, webhook, listSecrets } = await subscribeVendor(vendor);
  const before = (await installed.subscription()).providerRef;
  const input = {
    projectIdOrName: projectId,
    providerAppId: installed.providerApp.id,
    updateMask: ['WEBHOOK_SECRET'],
    providerApp: { webhookSecret: 'another secret of the app' },
  };
  await tenant.query(
    'mutation UpdateProviderApp($input: UpdateProviderAppInput!) { updateProviderApp(input: $input) { providerApp { id } } }',
    { input },
  );
  const now = async () => (await installed.subscription()).providerRef;
  await expect.poll(now, POLLING).not.toBe(before);
  // The new webhook exists before the old one is deleted.
  await expect.poll(() => vendor.webhooks?.webhooks.has(before ?? ''), POLLING).toBe(false);
  const recreated = await waitForWebhook(vendor, installed);
  expect(recreated.secret).not.toBe(webhook.secret);
  expect(await createSender(vendor, recreated)(update(1))).toBe(200);
  expect(await createSender(vendor, webhook)(update(2))).toBe(200);
  expect((await listSecrets()).map(({ expireTime }) => expireTime === null)).toEqual([false, true]);

  const [old] = await listSecrets();
  const where = { projectId, id: old?.id ?? '' };
  await prisma.subscriptionSecret.updateMany({ where, data: { expireTime: new Date(0) } });
  expect(await createSender(vendor, webhook)(update(3))).toBe(401);
  // The next check of the subscription deletes the old secret.
  await prisma.objectSubscription.updateMany({
    where: { projectId },
    data: { dueTime: new Date(0) },
  });
  await checkSubscriptionsNow(app);
  await expect.poll(async () => (await listSecrets()).length, POLLING).toBe(1);
  expect(await now()).toBe(recreated.id);
});

test('recreates a subscription that the vendor has lost', async () => {
  const vendor = close as EventVendor;
  const { projectId, installed, webhook } = await subscribeVendor(vendor);
  vendor.webhooks?.webhooks.delete(webhook.id);
  await prisma.objectSubscription.updateMany({
    where: { projectId },
    data: { dueTime: new Date(0) },
  });
  await checkSubscriptionsNow(app);
  await expect
    .poll(async () => (await installed.subscription()).providerRef, POLLING)
    .not.toBe(webhook.id);
  const recreated = await waitForWebhook(vendor, installed);
  expect(await createSender(vendor, recreated)(update(1))).toBe(200);
});

test('accepts each secret if one subscription is several webhooks at the vendor', async () => {
  const vendor = asana as EventVendor;
  const { installed } = await subscribeVendor(vendor);
  const refs = (await installed.subscription()).providerRef?.split(' ') ?? [];
  expect(refs).toHaveLength(2);
  const webhooks = refs.flatMap((ref) => vendor.webhooks?.webhooks.get(ref) ?? []);
  expect(new Set(webhooks.map(({ secret }) => secret)).size).toBe(2);
  for (const [n, hook] of webhooks.entries()) {
    expect(await createSender(vendor, hook)(update(n))).toBe(200);
  }
});

test('echoes a handshake, which stores and proves nothing', async () => {
  const vendor = asana as EventVendor;
  const { webhook, projectId, listSecrets } = await subscribeVendor(vendor);
  const before = await listSecrets();
  const greet = (url: string, secret: string) =>
    fetch(url, { method: 'POST', headers: { 'x-hook-secret': secret }, body: '{}' });
  const response = await greet(webhook.url, 'a secret of another sender');
  expect(response.status).toBe(401);
  const forged = await greet(webhook.url, 'f'.repeat(64));
  expect([forged.status, forged.headers.get('x-hook-secret')]).toEqual([200, 'f'.repeat(64)]);
  // The response does not reveal which addresses exist.
  const nowhere = await greet(
    webhook.url.replace(/app_.{26}/, `app_${'0'.repeat(26)}`),
    'f'.repeat(64),
  );
  expect(nowhere.status).toBe(200);
  expect(await listSecrets()).toEqual(before);
  expect(await createSender(vendor, webhook)(update(1), 'f'.repeat(64))).toBe(401);
  expect(await prisma.providerEvent.count({ where: { projectId } })).toBe(0);
});

test('deletes the webhook at the vendor and its secret with the installation', async () => {
  const vendor = zendesk as EventVendor;
  const { tenant, installed, webhook, listSecrets } = await subscribeVendor(vendor);
  expect(await listSecrets()).toHaveLength(1);
  await deleteInstallation(tenant, installed.id);
  await expect.poll(() => vendor.webhooks?.webhooks.has(webhook.id), POLLING).toBe(false);
  await expect.poll(listSecrets, POLLING).toEqual([]);
  expect(await createSender(vendor, webhook)(update(1))).toBe(401);
});

test('deletes the webhook and its secret when the group is erased', async () => {
  const vendor = close as EventVendor;
  const { tenant, projectId, webhook, listSecrets } = await subscribeVendor(vendor);
  const input = { projectIdOrName: projectId, groupRef: 'acme' };
  await tenant.query(
    'mutation EraseGroup($input: EraseGroupInput!) { eraseGroup(input: $input) { deletedId } }',
    { input },
  );
  await expect.poll(() => vendor.webhooks?.webhooks.has(webhook.id), POLLING).toBe(false);
  await expect.poll(listSecrets, POLLING).toEqual([]);
});

test('deletes a webhook whose secret the vendor refuses to return', async () => {
  const vendor = zendesk as EventVendor;
  const webhookCount = vendor.webhooks?.webhooks.size;
  const tenant = await app.tenant();
  const refused = { status: 403, body: { error: { title: 'Forbidden', message: 'no scope' } } };
  const { webhooks } = vendor;
  const response = webhooks?.serve.bind(webhooks);
  if (!webhooks || !response) throw new Error('Zendesk takes webhooks');
  webhooks.serve = async (request) =>
    request.path.endsWith('/signing_secret') ? refused : response(request);
  try {
    const installed = await installEventVendor(app, { tenant, vendor, receiver });
    await expect.poll(async () => (await installed.subscription()).status, POLLING).toBe('FAILED');
    expect((await installed.subscription()).error).toContain(
      'Zendesk Support returned 403: no scope',
    );
    expect(webhooks.webhooks.size).toBe(webhookCount);
  } finally {
    webhooks.serve = response;
  }
});
