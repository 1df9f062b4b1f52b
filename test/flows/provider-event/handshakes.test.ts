/** Vendors verify a webhook's URL before they send events to it, each in its documented way. */
import { createHmac, randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import { postSigned } from '../../support/fixtures/event-vendors.ts';
import { CREATE_PROVIDER_APP } from '../../support/providers/oauth.ts';
import { WIRE_EVENTS } from '../../support/wire/events/all.ts';
import type { Signer } from '../../support/wire/events/wire-events.ts';

const app = await getSharedApp();
let serverUrl = '';
beforeAll(async () => {
  ({ url: serverUrl } = await app.app.start());
});

const SECRET = 'the secret of the webhook';

/** Creates a provider app, and returns the URL of its webhook. */
async function createWebhookUrl(tenant: Tenant, provider: string): Promise<string> {
  const app = { provider, clientId: 'client', clientSecret: 'secret', webhookSecret: SECRET };
  const input = { projectIdOrName: tenant.projectId, ...app };
  return (await tenant.query(CREATE_PROVIDER_APP, { input })).createProviderApp.providerApp
    .webhookUrl;
}

function sign(provider: string, body: string, signer: Partial<Signer> = {}) {
  const headers = WIRE_EVENTS[provider]?.sign(body, {
    secret: SECRET,
    sentAt: new Date(),
    ...signer,
  });
  return { body, headers: headers ?? {} };
}

test('responds to HEAD with 200 at each path of webhooks, known or not', async () => {
  const url = await createWebhookUrl(await app.createTenant(), 'intercom');
  const unknownApp = `app_${'0'.repeat(26)}`;
  const paths = [
    new URL(url).pathname,
    `/webhooks/intercom/${unknownApp}`,
    `/webhooks/intercom/${unknownApp}?subscription=sec_1`,
    `/webhooks/unknown/${unknownApp}`,
    '/webhooks/intercom',
    '/webhooks/a/path/of/no/app',
    '/webhooks/',
  ];
  for (const path of paths) {
    const response = await fetch(serverUrl + path, { method: 'HEAD' });
    expect(response.status, path).toBe(200);
    expect(await response.text()).toBe('');
  }
  const { status, headers } = await fetch(url);
  expect([status, headers.get('allow')]).toEqual([405, 'POST, HEAD']);
});

test("responds to Xero's intent to receive without a body or cookies", async () => {
  const url = await createWebhookUrl(await app.createTenant(), 'xero');
  const entropy = randomUUID();
  const body = JSON.stringify({ events: [], firstEventSequence: 0, lastEventSequence: 0, entropy });
  const requests = [
    [200, url, sign('xero', body)],
    [401, url, sign('xero', body, { secret: 'another secret' })],
    [401, url, { body, headers: {} }],
    [401, url.replace(/.{4}$/, '0000'), sign('xero', body)],
    [400, url, sign('xero', '[]')],
    [415, url, { body, headers: { ...sign('xero', body).headers, 'content-encoding': 'gzip' } }],
    [413, url, sign('xero', 'x'.repeat(1024 * 1024 + 1))],
  ] as const;
  for (const [status, requestUrl, request] of requests) {
    const response = await postSigned(requestUrl, request);
    expect(response.status).toBe(status);
    expect(await response.text()).toBe('');
    expect(response.headers.get('content-length')).toBe('0');
    expect(response.headers.get('content-type')).toBeNull();
    expect(response.headers.getSetCookie()).toEqual([]);
  }
});

test("responds to Zoom's validation with the signed token, and refuses it without a signature", async () => {
  const url = await createWebhookUrl(await app.createTenant(), 'zoom');
  const payload = { plainToken: 'qgg8vlvZRS6UYooatFL8Aw' };
  const body = JSON.stringify({ event: 'endpoint.url_validation', event_ts: 1, payload });
  const response = await postSigned(url, sign('zoom', body));
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({
    plainToken: payload.plainToken,
    encryptedToken: createHmac('sha256', SECRET).update(payload.plainToken).digest('hex'),
  });
  expect((await postSigned(url, { body, headers: {} })).status).toBe(401);
});

test("responds to Asana's handshake with its secret", async () => {
  const url = await createWebhookUrl(await app.createTenant(), 'asana');
  const headers = { 'X-Hook-Secret': 'f0'.repeat(32) };
  const response = await postSigned(url, { body: '{}', headers });
  expect(response.status).toBe(200);
  expect(response.headers.get('x-hook-secret')).toBe(headers['X-Hook-Secret']);
});
