/** Vendors of documents send events to a path of each provider app. Projects may have documents of the same name. */
import { beforeAll, expect, test } from 'vitest';
import {
  exportDocument,
  formatProviderDocument,
} from '../../../src/providers/document/export-document.ts';
import { getSharedApp } from '../../support/app.ts';
import {
  createSender,
  createVendorProvider,
  installEventVendor,
  startEventVendor,
  waitForWebhook,
} from '../../support/fixtures/event-vendors.ts';
import { createProvider } from '../../support/inputs/custom-providers.ts';
import { startReceiver } from '../../support/receiver.ts';

const app = await getSharedApp({ env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' } });
const receiver = await startReceiver();
const close = await startEventVendor('close');
beforeAll(async () => {
  await app.app.start();
  return async () => {
    await receiver[Symbol.asyncDispose]();
    await close[Symbol.asyncDispose]();
  };
});

/** Creates a tenant whose document describes Close under another name, and subscribes to its events. */
async function subscribe() {
  const tenant = await app.createTenant();
  const { baseUrl, authSchemes, apiKey } = createVendorProvider(close);
  const document = exportDocument({
    ...close.declared,
    ...{ baseUrl, authSchemes, apiKey, oauth2: undefined, custom: undefined },
  });
  await createProvider(tenant, formatProviderDocument(document));
  const vendor = { ...close, declared: { ...close.declared, name: 'x-close' } };
  const installed = await installEventVendor(app, { tenant, vendor, receiver });
  return { installed, webhook: await waitForWebhook(vendor, installed) };
}

test("delivers events of a document's vendor to the project of the path only", async () => {
  const [first, second] = [await subscribe(), await subscribe()];
  const { webhookUrl } = first.installed.providerApp;
  expect(webhookUrl).toContain('/webhooks/x-close/');
  expect(second.installed.providerApp.webhookUrl).not.toBe(webhookUrl);
  const change = { kind: 'UPDATE', sequence: 1 } as const;
  expect(await createSender(close, first.webhook)(change)).toBe(200);
  const { secret } = first.webhook;
  expect(await createSender(close, { ...second.webhook, secret })(change)).toBe(401);
  const otherName = first.webhook.url.replace('x-close', 'x-other');
  expect(await createSender(close, { url: otherName, secret })(change)).toBe(401);
  await receiver.waitForMessages(first.installed.endpoint, 1);
  const bodies = receiver.listMessages(first.installed.endpoint).map(({ body }) => body);
  expect(bodies.join('\n')).toContain('From the account');
  expect(receiver.listMessages(second.installed.endpoint)).toEqual([]);
});
