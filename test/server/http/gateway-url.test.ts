/** Tests that a gateway which listens on all addresses without PUBLIC_URL uses the host of the request in links. */
import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { createGatewayUrlFinder } from '../../../src/server/http/gateway-url.ts';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import { createSessionToken } from '../../support/fixtures/end-users.ts';
import {
  CREATE_PROVIDER_APP,
  createProviderApp,
  START_CONNECT,
} from '../../support/providers/oauth.ts';
import { createOAuthBrowser, submitConsent } from '../../support/providers/oauth-browser.ts';
import { openSocket } from '../../support/socket.ts';

const app = await getSharedApp({ env: { HOST: '0.0.0.0' } });
const GATEWAY_ORIGIN = new URL((await app.fetch('/livez')).url).origin;
/** This server by another host name. */
const OTHER_ORIGIN = GATEWAY_ORIGIN.replace('127.0.0.1', 'localhost');

const json = { 'content-type': 'application/json' };

function createConnectInput({ projectId }: Tenant) {
  const names = { provider: 'sandbox', groupRef: 'acme', consumerRef: 'ann' };
  return { projectIdOrName: projectId, ...names };
}

test('begins an OAuth flow on the host of the request, and exchanges its code with that redirect_uri', async () => {
  const tenant = await app.createTenant();
  await createProviderApp(tenant);
  const { startOAuthConnect } = await tenant.query(START_CONNECT, {
    input: createConnectInput(tenant),
  });
  const link: string = startOAuthConnect.authorizeUrl;
  expect(link.startsWith(`${GATEWAY_ORIGIN}/oauth/connect?`)).toBe(true);
  const browser = createOAuthBrowser({
    fetch: (path, init) => fetch(OTHER_ORIGIN + path, { redirect: 'manual', ...init }),
  });
  // The browser opens the link by another host name, but the redirect_uri keeps the host of the caller.
  const consentUrl = await browser.open(link);
  expect(consentUrl.searchParams.get('redirect_uri')).toBe(`${GATEWAY_ORIGIN}/oauth/callback`);
  expect((await browser.send(await submitConsent(consentUrl))).status).toBe(200);
});

test('begins an OAuth flow over REST on the host of the request', async () => {
  const tenant = await app.createTenant();
  await createProviderApp(tenant);
  const response = await fetch(`${OTHER_ORIGIN}/v1/oauth-connect`, {
    method: 'POST',
    headers: { 'x-api-key': tenant.apiKey, ...json },
    body: JSON.stringify(createConnectInput(tenant)),
  });
  expect((await response.text()).startsWith(`${OTHER_ORIGIN}/oauth/connect?`)).toBe(true);
});

test('links to the connect page on the host of the request', async () => {
  const { connectUrl } = await createSessionToken(await app.createTenant());
  expect(connectUrl.startsWith(`${GATEWAY_ORIGIN}/connect#`)).toBe(true);
});

test('begins an OAuth flow over a WebSocket on the host of its upgrade', async () => {
  const tenant = await app.createTenant();
  await createProviderApp(tenant);
  const started = new URL((await app.app.start()).url);
  const url = `http://127.0.0.1:${started.port}`;
  const socket = await openSocket(url);
  socket.send({ type: 'connection_init', payload: { 'x-api-key': tenant.apiKey } });
  expect(await socket.next()).toEqual({ type: 'connection_ack' });
  const payload = { query: START_CONNECT, variables: { input: createConnectInput(tenant) } };
  socket.send({ id: '1', type: 'subscribe', payload });
  expect(JSON.stringify(await socket.next())).toContain(`${url}/oauth/connect?`);
  socket.socket.terminate();
});

test('returns a webhook URL on the host of the request, and accepts signatures for this URL', async () => {
  const tenant = await app.createTenant();
  const client = { provider: 'hubspot', clientId: 'client', clientSecret: 'secret of the app' };
  const input = { projectIdOrName: tenant.projectId, ...client };
  const { providerApp } = (await tenant.query(CREATE_PROVIDER_APP, { input })).createProviderApp;
  const { webhookUrl } = providerApp;
  expect(webhookUrl.startsWith(`${GATEWAY_ORIGIN}/webhooks/hubspot/app_`)).toBe(true);
  const timestamp = `${Date.now()}`;
  const body = '[]';
  const postEvents = (url: string, signedUrl = url) =>
    fetch(url, {
      method: 'POST',
      body,
      headers: {
        ...json,
        'x-hubspot-request-timestamp': timestamp,
        'x-hubspot-signature-v3': createHmac('sha256', client.clientSecret)
          .update(`POST${signedUrl}${body}${timestamp}`)
          .digest('base64'),
      },
    });
  expect((await postEvents(webhookUrl)).status).toBe(204);
  expect(
    (await postEvents(webhookUrl, webhookUrl.replace(GATEWAY_ORIGIN, 'https://other.test'))).status,
  ).toBe(401);
});

test.each([
  {
    config: { HOST: '0.0.0.0', PUBLIC_URL: undefined },
    host: 'gateway.test:1',
    url: 'http://gateway.test:1',
  },
  { config: { HOST: '::', PUBLIC_URL: undefined }, host: '[::1]:4000', url: 'http://[::1]:4000' },
  { config: { HOST: '0.0.0.0', PUBLIC_URL: undefined }, host: 'not a host', url: null },
  { config: { HOST: '0.0.0.0', PUBLIC_URL: undefined }, host: undefined, url: null },
  { config: { HOST: '0.0.0.0', PUBLIC_URL: 'https://gateway.test' }, host: 'evil.test', url: null },
  { config: { HOST: '127.0.0.1', PUBLIC_URL: undefined }, host: 'evil.test', url: null },
])('returns $url for the Host header $host if HOST is $config.HOST', ({ config, host, url }) => {
  expect(createGatewayUrlFinder(config)({ host })).toBe(url);
});
