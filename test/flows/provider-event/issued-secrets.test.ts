/** Secrets that a vendor makes itself for each subscription: kept sealed, replaced with it, and gone with it. */
import { beforeAll, expect, test } from 'vitest';
import { sharedApp, type Tenant } from '../../support/app.ts';
import { startReceiver } from '../../support/receiver.ts';
import { maintainNow, POLLING } from '../../support/scenes/subscriptions.ts';
import {
  installTelling,
  providerOf,
  senderOf,
  startTellingVendor,
  type TellingVendor,
  toldTo,
} from '../../support/scenes/telling-vendors.ts';

const [close, asana, zendesk] = await Promise.all(
  (['close', 'asana', 'zendeskSupport'] as const).map(startTellingVendor),
);
const vendors = [close, asana, zendesk] as TellingVendor[];
const app = await sharedApp({
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  providers: vendors.map(providerOf),
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

async function subscribed(vendor: TellingVendor, tenant?: Tenant) {
  const by = tenant ?? (await app.tenant());
  const installed = await installTelling(app, { tenant: by, vendor, receiver });
  const told = await toldTo(vendor, installed);
  const { projectId } = by;
  const secrets = () =>
    prisma.subscriptionSecret.findMany({ where: { projectId }, orderBy: { id: 'asc' } });
  return { tenant: by, projectId, installed, told, secrets };
}

const update = (n: number) => ({ kind: 'UPDATE', n }) as const;

test('a secret is kept sealed, and an address of another subscription has another', async () => {
  const vendor = close as TellingVendor;
  const [one, other] = [await subscribed(vendor), await subscribed(vendor)];
  const [row] = await one.secrets();
  expect(row?.secretsSealed).not.toContain(one.told.secret);
  expect(one.told.url).toBe(`${one.installed.providerApp.webhookUrl}?subscription=${row?.id}`);
  expect(one.told.secret).not.toBe(other.told.secret);
  const status = (url: string) => senderOf(vendor, { url, secret: one.told.secret })(update(1));
  expect(await status(one.told.url)).toBe(200);
  // Neither the app's address alone, nor another's, nor one that names nothing.
  expect(await status(one.installed.providerApp.webhookUrl)).toBe(401);
  expect(await status(other.told.url)).toBe(401);
  const [, query = ''] = one.told.url.split('?');
  expect(await status(`${other.installed.providerApp.webhookUrl}?${query}`)).toBe(401);
  expect(await status(one.told.url.replace(/.{4}$/, '0000'))).toBe(401);
  expect(await status(`${one.told.url}%00`)).toBe(401);
  // Nor by another app of the project.
  const client = { clientId: 'client', clientSecret: 'secret', provider: 'close' };
  const input = { projectIdOrName: one.projectId, ...client };
  const { providerApp } = (
    await one.tenant.query(
      'mutation ($input: CreateProviderAppInput!) { createProviderApp(input: $input) { providerApp { webhookUrl } } }',
      { input },
    )
  ).createProviderApp;
  expect(await status(`${providerApp.webhookUrl}?${query}`)).toBe(401);
  expect(await prisma.providerEvent.count({ where: { projectId: other.projectId } })).toBe(0);
});

test("the app's own secrets sign nothing", async () => {
  const vendor = zendesk as TellingVendor;
  const { told } = await subscribed(vendor);
  const send = senderOf(vendor, told);
  expect(await send(update(1), 'the secret of the app')).toBe(401);
  expect(await send(update(1))).toBe(200);
});

test('a subscription that is made anew has a new secret, and the one before counts for another day', async () => {
  const vendor = close as TellingVendor;
  const { tenant, projectId, installed, told, secrets } = await subscribed(vendor);
  const before = (await installed.subscription()).providerRef;
  const input = {
    projectIdOrName: projectId,
    providerAppId: installed.providerApp.id,
    updateMask: ['WEBHOOK_SECRET'],
    providerApp: { webhookSecret: 'another secret of the app' },
  };
  await tenant.query(
    'mutation ($input: UpdateProviderAppInput!) { updateProviderApp(input: $input) { providerApp { id } } }',
    { input },
  );
  const now = async () => (await installed.subscription()).providerRef;
  await expect.poll(now, POLLING).not.toBe(before);
  // The new one was there before the old one went.
  await expect.poll(() => vendor.webhooks?.kept.has(before ?? ''), POLLING).toBe(false);
  const anew = await toldTo(vendor, installed);
  expect(anew.secret).not.toBe(told.secret);
  expect(await senderOf(vendor, anew)(update(1))).toBe(200);
  expect(await senderOf(vendor, told)(update(2))).toBe(200);
  expect((await secrets()).map(({ expireTime }) => expireTime === null)).toEqual([false, true]);

  const [old] = await secrets();
  const where = { projectId, id: old?.id ?? '' };
  await prisma.subscriptionSecret.updateMany({ where, data: { expireTime: new Date(0) } });
  expect(await senderOf(vendor, told)(update(3))).toBe(401);
  // The next look at the subscription removes it.
  await prisma.objectSubscription.updateMany({
    where: { projectId },
    data: { dueTime: new Date(0) },
  });
  await maintainNow(app);
  await expect.poll(async () => (await secrets()).length, POLLING).toBe(1);
  expect(await now()).toBe(anew.id);
});

test('one that the vendor has lost is found by the next look, and made anew', async () => {
  const vendor = close as TellingVendor;
  const { projectId, installed, told } = await subscribed(vendor);
  vendor.webhooks?.kept.delete(told.id);
  await prisma.objectSubscription.updateMany({
    where: { projectId },
    data: { dueTime: new Date(0) },
  });
  await maintainNow(app);
  await expect
    .poll(async () => (await installed.subscription()).providerRef, POLLING)
    .not.toBe(told.id);
  const anew = await toldTo(vendor, installed);
  expect(await senderOf(vendor, anew)(update(1))).toBe(200);
});

test('where one subscription is several at the vendor, each of their secrets signs', async () => {
  const vendor = asana as TellingVendor;
  const { installed } = await subscribed(vendor);
  const refs = (await installed.subscription()).providerRef?.split(' ') ?? [];
  expect(refs).toHaveLength(2);
  const webhooks = refs.flatMap((ref) => vendor.webhooks?.kept.get(ref) ?? []);
  expect(new Set(webhooks.map(({ secret }) => secret)).size).toBe(2);
  for (const [n, webhook] of webhooks.entries()) {
    expect(await senderOf(vendor, webhook)(update(n))).toBe(200);
  }
});

test('a greeting is echoed and proves nothing', async () => {
  const vendor = asana as TellingVendor;
  const { told, projectId, secrets } = await subscribed(vendor);
  const before = await secrets();
  const greet = (url: string, secret: string) =>
    fetch(url, { method: 'POST', headers: { 'x-hook-secret': secret }, body: '{}' });
  const answer = await greet(told.url, 'a secret of somebody else');
  expect(answer.status).toBe(401);
  const forged = await greet(told.url, 'f'.repeat(64));
  expect([forged.status, forged.headers.get('x-hook-secret')]).toEqual([200, 'f'.repeat(64)]);
  // Nobody learns by it which addresses there are.
  const nowhere = await greet(
    told.url.replace(/app_.{26}/, `app_${'0'.repeat(26)}`),
    'f'.repeat(64),
  );
  expect(nowhere.status).toBe(200);
  expect(await secrets()).toEqual(before);
  expect(await senderOf(vendor, told)(update(1), 'f'.repeat(64))).toBe(401);
  expect(await prisma.providerEvent.count({ where: { projectId } })).toBe(0);
});

test('what goes is taken down at the vendor, and its secret goes with it', async () => {
  const vendor = zendesk as TellingVendor;
  const { tenant, projectId, installed, told, secrets } = await subscribed(vendor);
  expect(await secrets()).toHaveLength(1);
  const input = { projectIdOrName: projectId, installationId: installed.id };
  await tenant.query(
    'mutation ($input: DeleteInstallationInput!) { deleteInstallation(input: $input) { deletedId } }',
    { input },
  );
  await expect.poll(() => vendor.webhooks?.kept.has(told.id), POLLING).toBe(false);
  await expect.poll(secrets, POLLING).toEqual([]);
  expect(await senderOf(vendor, told)(update(1))).toBe(401);
});

test('an erasure takes it down and leaves no secret', async () => {
  const vendor = close as TellingVendor;
  const { tenant, projectId, told, secrets } = await subscribed(vendor);
  const input = { projectIdOrName: projectId, groupRef: 'acme' };
  await tenant.query(
    'mutation ($input: EraseGroupInput!) { eraseGroup(input: $input) { deletedId } }',
    { input },
  );
  await expect.poll(() => vendor.webhooks?.kept.has(told.id), POLLING).toBe(false);
  await expect.poll(secrets, POLLING).toEqual([]);
});

test('one whose secret the vendor does not tell is not left there', async () => {
  const vendor = zendesk as TellingVendor;
  const kept = vendor.webhooks?.kept.size;
  const tenant = await app.tenant();
  const refused = { status: 403, body: { error: { title: 'Forbidden', message: 'no scope' } } };
  const { webhooks } = vendor;
  const answer = webhooks?.answer.bind(webhooks);
  if (!webhooks || !answer) throw new Error('Zendesk takes webhooks');
  webhooks.answer = async (request) =>
    request.path.endsWith('/signing_secret') ? refused : answer(request);
  try {
    const installed = await installTelling(app, { tenant, vendor, receiver });
    await expect.poll(async () => (await installed.subscription()).status, POLLING).toBe('FAILED');
    expect((await installed.subscription()).error).toContain(
      'Zendesk Support answered 403: no scope',
    );
    expect(webhooks.kept.size).toBe(kept);
  } finally {
    webhooks.answer = answer;
  }
});
