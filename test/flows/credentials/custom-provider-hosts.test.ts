/** Tokens and client secrets go only to the addresses of the custom provider for which they were entered. */
import { expect, test } from 'vitest';
import { inProject } from '../../../src/domain/access/catalog.ts';
import { openProviderSessionOf } from '../../../src/domain/connections/connection/connection-session.ts';
import { revokeTokens } from '../../../src/domain/connections/connection/token/token-revocation.ts';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import {
  createDocument,
  createProvider,
  UPDATE_PROVIDER,
} from '../../support/inputs/custom-providers.ts';
import { createProviderApp, getConnection } from '../../support/providers/oauth.ts';
import { startProviderServer } from '../../support/providers/provider-server.ts';

const app = await getSharedApp({ env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' } });
const { services } = app.app;

const TOKENS = { access_token: 'new-token', token_type: 'Bearer', expires_in: 3_600 };
const LIST_THINGS = { method: 'GET', path: '/things' } as const;

/** Returns a document with OAuth, whose tokens `tokenHost` issues. */
function createOAuthDocument(apiHost: string, tokenHost = apiHost) {
  return createDocument(apiHost, {
    authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
    apiKey: undefined,
    oauth2: {
      authorizeUrl: `${tokenHost}/authorize`,
      tokenUrl: `${tokenHost}/token`,
      revocation: { method: 'POST', url: `${tokenHost}/revoke` },
    },
  });
}

async function replaceDocument(tenant: Tenant, customProviderId: string, document: string) {
  const input = {
    projectIdOrName: tenant.projectId,
    customProviderId,
    document,
    destructive: true,
  };
  await tenant.query(UPDATE_PROVIDER, { input });
}

/** Starts a vendor and an attacker, and connects an account whose access token has expired. */
async function connect(tenant: Tenant, url: string) {
  const { id: customProviderId } = await createProvider(tenant, createOAuthDocument(url));
  const providerAppId = await createProviderApp(tenant, {
    provider: 'x-acme',
    clientId: 'client',
    clientSecret: 'client-secret',
  });
  const { id } = await generateConnection(tenant, {
    provider: 'x-acme',
    providerAppId,
    oauth2AuthorizationCode: {
      accessToken: { token: 'old-token', expireTime: new Date('2020-01-01T00:00:00Z') },
      refreshToken: { token: 'refresh-token' },
    },
  });
  return { customProviderId, providerAppId, connectionId: id };
}

const serveTokens = () => ({ status: 200, body: TOKENS });

test('refreshes no token at another token URL, and revokes none there', async () => {
  await using vendor = await startProviderServer(serveTokens);
  await using attacker = await startProviderServer(serveTokens);
  const tenant = await app.createTenant();
  const { customProviderId, connectionId } = await connect(tenant, vendor.url);
  const connection = await getConnection(app, connectionId);
  const openSession = () => openProviderSessionOf(services, connection);
  const openedSession = await openSession();
  for (const document of [
    createOAuthDocument(vendor.url, attacker.url),
    createOAuthDocument(attacker.url, vendor.url),
    createOAuthDocument(attacker.url),
  ]) {
    await replaceDocument(tenant, customProviderId, document);
    await expect((await openSession()).send(LIST_THINGS)).rejects.toThrow(
      'Connect the account again',
    );
    await expect(
      revokeTokens(await inProject(services, tenant.projectId), connection),
    ).resolves.toBe(false);
  }
  // A session that was opened before the change refreshes at the present token URL.
  await expect(openedSession.send(LIST_THINGS)).rejects.toThrow('Connect the account again');
  expect(attacker.requests).toEqual([]);
  expect(vendor.requests).toEqual([]);
  await replaceDocument(tenant, customProviderId, createOAuthDocument(vendor.url));
  await (await openSession()).send(LIST_THINGS);
  expect(vendor.requests.map(({ path }) => path)).toEqual(['/token', '/things']);
});

test('sends the secret of a provider app to no other token URL, until it is entered again', async () => {
  await using vendor = await startProviderServer(serveTokens);
  await using attacker = await startProviderServer(serveTokens);
  const tenant = await app.createTenant();
  const { customProviderId, providerAppId } = await connect(tenant, vendor.url);
  await replaceDocument(tenant, customProviderId, createOAuthDocument(attacker.url));
  const { id } = await generateConnection(tenant, {
    provider: 'x-acme',
    providerAppId,
    consumerRef: 'bob',
    oauth2AuthorizationCode: { refreshToken: { token: 'bait' } },
  });
  const send = async () =>
    (await openProviderSessionOf(services, await getConnection(app, id))).send(LIST_THINGS);
  await expect(send()).rejects.toThrow('since the client secret of its provider app was entered');
  expect(attacker.requests).toEqual([]);
  await tenant.query(
    `mutation UpdateProviderApp($input: UpdateProviderAppInput!) {
      updateProviderApp(input: $input) { providerApp { id } }
    }`,
    {
      input: {
        projectIdOrName: tenant.projectId,
        providerAppId,
        updateMask: ['CLIENT_SECRET'],
        providerApp: { clientSecret: 'new-secret' },
      },
    },
  );
  await send();
  expect(JSON.stringify(attacker.requests)).not.toContain('client-secret');
});

test('sends the secret of an app of another provider to no custom provider', async () => {
  await using attacker = await startProviderServer(serveTokens);
  const tenant = await app.createTenant();
  const providerAppId = await createProviderApp(tenant, { provider: 'hubspot' });
  await createProvider(tenant, createOAuthDocument(attacker.url));
  await tenant.query(
    `mutation UpdateProviderApp($input: UpdateProviderAppInput!) {
      updateProviderApp(input: $input) { providerApp { provider } }
    }`,
    {
      input: {
        projectIdOrName: tenant.projectId,
        providerAppId,
        updateMask: ['PROVIDER'],
        providerApp: { provider: 'x-acme' },
      },
    },
  );
  const { id } = await generateConnection(tenant, {
    provider: 'x-acme',
    providerAppId,
    oauth2AuthorizationCode: { refreshToken: { token: 'bait' } },
  });
  const session = await openProviderSessionOf(services, await getConnection(app, id));
  await expect(session.send(LIST_THINGS)).rejects.toThrow('client secret');
  expect(attacker.requests).toEqual([]);
});

test('follows no redirect, and sends nothing to a private address', async () => {
  await using attacker = await startProviderServer(() => ({ status: 200, body: {} }));
  await using vendor = await startProviderServer(() => ({
    status: 302,
    headers: { location: `${attacker.url}/stolen` },
  }));
  const tenant = await app.createTenant();
  const { id: customProviderId } = await createProvider(tenant, createDocument(vendor.url));
  const { id } = await generateConnection(tenant, { provider: 'x-acme', apiKey: 'secret-key' });
  const open = async () => openProviderSessionOf(services, await getConnection(app, id));
  expect((await (await open()).send(LIST_THINGS)).status).toBe(302);
  expect(attacker.requests).toEqual([]);
  await replaceDocument(tenant, customProviderId, createDocument('https://169.254.169.254'));
  await generateConnection(tenant, { provider: 'x-acme', apiKey: 'secret-key' });
  await expect((await open()).send(LIST_THINGS)).rejects.toThrow(/private|not allowed|refused/i);
});
