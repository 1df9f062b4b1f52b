/**
 * Some vendors issue a secret for each subscription. The gateway seals the secret, and replaces and deletes it with
 * the subscription.
 */

import { beforeAll, expect, test } from 'vitest';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import {
  createSender,
  createVendorProvider,
  type EventVendor,
  installEventVendor,
  startEventVendor,
  waitForWebhook,
} from '../../support/fixtures/event-vendors.ts';
import { deleteInstallation } from '../../support/fixtures/integrations.ts';
import {
  checkSubscriptionsNow,
  SUBSCRIPTION_POLLING,
} from '../../support/fixtures/subscriptions.ts';
import { startReceiver } from '../../support/receiver.ts';

const [close, asana, zendesk] = await Promise.all(
  (['close', 'asana', 'zendeskSupport'] as const).map(startEventVendor),
);
const vendors = [close, asana, zendesk] as EventVendor[];
const app = await getSharedApp({
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  providers: vendors.map(createVendorProvider),
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
  const owner = tenant ?? (await app.createTenant());
  const installed = await installEventVendor(app, { tenant: owner, vendor, receiver });
  const webhook = await waitForWebhook(vendor, installed);
  const { projectId } = owner;
  const listSecrets = () =>
    prisma.subscriptionSecret.findMany({ where: { projectId }, orderBy: { id: 'asc' } });
  return { tenant: owner, projectId, installed, webhook, listSecrets };
}

const createUpdate = (sequence: number) => ({ kind: 'UPDATE', sequence }) as const;

test('seals an issued secret, and rejects it at the URLs of other subscriptions', async () => {
  const vendor = close as EventVendor;
  const [subscription, otherSubscription] = [
    await subscribeVendor(vendor),
    await subscribeVendor(vendor),
  ];
  const [row] = await subscription.listSecrets();
  expect(row?.secretsSealed).not.toContain(subscription.webhook.secret);
  expect(subscription.webhook.url).toBe(
    `${subscription.installed.providerApp.webhookUrl}?subscription=${row?.id}`,
  );
  expect(subscription.webhook.secret).not.toBe(otherSubscription.webhook.secret);
  const fetchStatus = (url: string) =>
    createSender(vendor, { url, secret: subscription.webhook.secret })(createUpdate(1));
  expect(await fetchStatus(subscription.webhook.url)).toBe(200);
  // Requests to the app's URL, to another subscription and to an unknown subscription are refused.
  expect(await fetchStatus(subscription.installed.providerApp.webhookUrl)).toBe(401);
  expect(await fetchStatus(otherSubscription.webhook.url)).toBe(401);
  const [, query = ''] = subscription.webhook.url.split('?');
  expect(await fetchStatus(`${otherSubscription.installed.providerApp.webhookUrl}?${query}`)).toBe(
    401,
  );
  expect(await fetchStatus(subscription.webhook.url.replace(/.{4}$/, '0000'))).toBe(401);
  expect(await fetchStatus(`${subscription.webhook.url}%00`)).toBe(401);
  // Another app of the project is refused, too.
  const client = { clientId: 'client', clientSecret: 'secret', provider: 'close' };
  const input = { projectIdOrName: subscription.projectId, ...client };
  const { providerApp } = (
    await subscription.tenant.query(
      'mutation CreateProviderApp($input: CreateProviderAppInput!) { createProviderApp(input: $input) { providerApp { webhookUrl } } }',
      { input },
    )
  ).createProviderApp;
  expect(await fetchStatus(`${providerApp.webhookUrl}?${query}`)).toBe(401);
  expect(
    await prisma.providerEvent.count({ where: { projectId: otherSubscription.projectId } }),
  ).toBe(0);
});

test("rejects signatures with the app's own secret", async () => {
  const vendor = zendesk as EventVendor;
  const { webhook } = await subscribeVendor(vendor);
  const send = createSender(vendor, webhook);
  expect(await send(createUpdate(1), 'the secret of the app')).toBe(401);
  expect(await send(createUpdate(1))).toBe(200);
});

test('gives a recreated subscription a new secret, and accepts the old one for another day', async () => {
  const vendor = close as EventVendor;
  const { tenant, projectId, installed, webhook, listSecrets } = await subscribeVendor(vendor);
  const refBefore = (await installed.getSubscription()).providerRef;
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
  const readRef = async () => (await installed.getSubscription()).providerRef;
  await expect.poll(readRef, SUBSCRIPTION_POLLING).not.toBe(refBefore);
  // The new webhook exists before the old one is deleted.
  await expect
    .poll(() => vendor.webhooks?.webhooks.has(refBefore ?? ''), SUBSCRIPTION_POLLING)
    .toBe(false);
  const recreated = await waitForWebhook(vendor, installed);
  expect(recreated.secret).not.toBe(webhook.secret);
  expect(await createSender(vendor, recreated)(createUpdate(1))).toBe(200);
  expect(await createSender(vendor, webhook)(createUpdate(2))).toBe(200);
  expect((await listSecrets()).map(({ expireTime }) => expireTime === null)).toEqual([false, true]);

  const [oldSecret] = await listSecrets();
  const where = { projectId, id: oldSecret?.id ?? '' };
  await prisma.subscriptionSecret.updateMany({ where, data: { expireTime: new Date(0) } });
  expect(await createSender(vendor, webhook)(createUpdate(3))).toBe(401);
  // The next check of the subscription deletes the old secret.
  await prisma.objectSubscription.updateMany({
    where: { projectId },
    data: { dueTime: new Date(0) },
  });
  await checkSubscriptionsNow(app);
  await expect.poll(async () => (await listSecrets()).length, SUBSCRIPTION_POLLING).toBe(1);
  expect(await readRef()).toBe(recreated.id);
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
    .poll(async () => (await installed.getSubscription()).providerRef, SUBSCRIPTION_POLLING)
    .not.toBe(webhook.id);
  const recreated = await waitForWebhook(vendor, installed);
  expect(await createSender(vendor, recreated)(createUpdate(1))).toBe(200);
});

test('accepts the secret of each webhook if a subscription has several webhooks at the vendor', async () => {
  const vendor = asana as EventVendor;
  const { installed } = await subscribeVendor(vendor);
  const refs = (await installed.getSubscription()).providerRef?.split(' ') ?? [];
  expect(refs).toHaveLength(2);
  const webhooks = refs.flatMap((ref) => vendor.webhooks?.webhooks.get(ref) ?? []);
  expect(new Set(webhooks.map(({ secret }) => secret)).size).toBe(2);
  for (const [index, webhook] of webhooks.entries()) {
    expect(await createSender(vendor, webhook)(createUpdate(index))).toBe(200);
  }
});

test('echoes a handshake, but stores no secret from it', async () => {
  const vendor = asana as EventVendor;
  const { webhook, projectId, listSecrets } = await subscribeVendor(vendor);
  const secretsBefore = await listSecrets();
  const sendHandshake = (url: string, secret: string) =>
    fetch(url, { method: 'POST', headers: { 'x-hook-secret': secret }, body: '{}' });
  const response = await sendHandshake(webhook.url, 'a secret of another sender');
  expect(response.status).toBe(401);
  const forged = await sendHandshake(webhook.url, 'f'.repeat(64));
  expect([forged.status, forged.headers.get('x-hook-secret')]).toEqual([200, 'f'.repeat(64)]);
  // The response does not reveal which provider apps exist.
  const unknownApp = await sendHandshake(
    webhook.url.replace(/app_.{26}/, `app_${'0'.repeat(26)}`),
    'f'.repeat(64),
  );
  expect(unknownApp.status).toBe(200);
  expect(await listSecrets()).toEqual(secretsBefore);
  expect(await createSender(vendor, webhook)(createUpdate(1), 'f'.repeat(64))).toBe(401);
  expect(await prisma.providerEvent.count({ where: { projectId } })).toBe(0);
});

test('deletes the webhook at the vendor and its secret with the installation', async () => {
  const vendor = zendesk as EventVendor;
  const { tenant, installed, webhook, listSecrets } = await subscribeVendor(vendor);
  expect(await listSecrets()).toHaveLength(1);
  await deleteInstallation(tenant, installed.id);
  await expect
    .poll(() => vendor.webhooks?.webhooks.has(webhook.id), SUBSCRIPTION_POLLING)
    .toBe(false);
  await expect.poll(listSecrets, SUBSCRIPTION_POLLING).toEqual([]);
  expect(await createSender(vendor, webhook)(createUpdate(1))).toBe(401);
});

test('deletes the webhook and its secret when the group is erased', async () => {
  const vendor = close as EventVendor;
  const { tenant, projectId, webhook, listSecrets } = await subscribeVendor(vendor);
  const input = { projectIdOrName: projectId, groupRef: 'acme' };
  await tenant.query(
    'mutation EraseGroup($input: EraseGroupInput!) { eraseGroup(input: $input) { deletedId } }',
    { input },
  );
  await expect
    .poll(() => vendor.webhooks?.webhooks.has(webhook.id), SUBSCRIPTION_POLLING)
    .toBe(false);
  await expect.poll(listSecrets, SUBSCRIPTION_POLLING).toEqual([]);
});

test('deletes a webhook whose secret the vendor refuses to return', async () => {
  const vendor = zendesk as EventVendor;
  const webhookCount = vendor.webhooks?.webhooks.size;
  const tenant = await app.createTenant();
  const refusal = { status: 403, body: { error: { title: 'Forbidden', message: 'no scope' } } };
  const { webhooks } = vendor;
  const serve = webhooks?.serve.bind(webhooks);
  if (!webhooks || !serve) throw new Error('Zendesk has webhooks.');
  webhooks.serve = async (request) =>
    request.path.endsWith('/signing_secret') ? refusal : serve(request);
  try {
    const installation = await installEventVendor(app, { tenant, vendor, receiver });
    await expect
      .poll(async () => (await installation.getSubscription()).status, SUBSCRIPTION_POLLING)
      .toBe('FAILED');
    expect((await installation.getSubscription()).error).toContain(
      'Zendesk Support returned 403: no scope',
    );
    expect(webhooks.webhooks.size).toBe(webhookCount);
  } finally {
    webhooks.serve = serve;
  }
});
