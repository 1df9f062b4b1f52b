/**
 * A consent without a refresh token keeps the stored one for the same app, account and person. Otherwise the connection has
 * none, and the project's attention items say so.
 */
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { openProviderSessionOf } from '../../../src/domain/connections/connection/connection-session.ts';
import { tokenRefreshes } from '../../../src/domain/connections/connection/token/refresh-due-token.ts';
import { getSubscriptionParties } from '../../../src/domain/data/provider-event/subscription-parties.ts';
import { createCatalogProvider } from '../../../src/providers/catalog/catalog-entry.ts';
import type { Provider } from '../../../src/providers/contract.ts';
import { isSuccess } from '../../../src/providers/read-responses.ts';
import { HOUR_MS } from '../../../src/work/durations.ts';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import { createAheadClock } from '../../support/process/ahead-clock.ts';
import {
  createProviderApp,
  getConnection,
  readStoredCredentials,
} from '../../support/providers/oauth.ts';
import { startProviderServer } from '../../support/providers/provider-server.ts';
import { consent } from '../../support/wire/oauth-entries.ts';
import { runDueRows } from '../../support/work/due-work.ts';

const clock = createAheadClock();
/** The account and the person whose access token the endpoint issues next, and the refresh token if it issues one. */
let grant: { workspace?: string; person?: string; refreshToken?: string } = {};
let isAccountKnown = true;
let isExpiryKnown = true;
/** True if the account request rejects the token of the latest consent. */
let isLatestRejected = false;
let issued = 0;
/** Runs before the response to a token request. */
let onTokenRequest = async (_grantType: string): Promise<void> => {};
/** Runs before the response to an account request. */
let onAccountRequest = async (): Promise<void> => {};
const server = await startProviderServer(async ({ path, headers, body: form }) => {
  if (path === '/account') {
    const [, workspace, person, number] = (headers.authorization ?? '').split(' ');
    await onAccountRequest();
    if (isLatestRejected && number === String(issued)) return { status: 401 };
    return isAccountKnown ? { status: 200, body: { workspace, person } } : { status: 500 };
  }
  if (path !== '/token') return { status: 200, body: {} };
  const { workspace, person, refreshToken } = grant;
  await onTokenRequest((form as { grant_type: string }).grant_type);
  issued += 1;
  const access_token = `${workspace} ${person} ${issued}`;
  const expires_in = isExpiryKnown ? 3_600 : undefined;
  const tokens = { access_token, expires_in, refresh_token: refreshToken };
  return { status: 200, body: { ...tokens, workspace, person } };
});
afterAll(() => server[Symbol.asyncDispose]());

const oauth2 = { authorizeUrl: `${server.url}/authorize`, tokenUrl: `${server.url}/token` };
const entry = { baseUrl: server.url, authSchemes: ['OAUTH2_AUTHORIZATION_CODE' as const] };
/** The token response names the account and the person. */
const named = createCatalogProvider({
  ...entry,
  name: 'named',
  displayName: 'Named CRM',
  oauth2: {
    ...oauth2,
    reauthorizeParams: { prompt: 'consent' },
    tokenFields: { workspaceRef: 'workspace', consumerRef: 'person' },
  },
});
/** A request with the token names the account and the person. */
const requesting: Provider = {
  ...createCatalogProvider({ ...entry, name: 'requesting', displayName: 'Requesting CRM', oauth2 }),
  capabilities: {
    proxy: true,
    async identify(session) {
      const query = { site: session.findMetadata('site') ?? '' };
      const response = await session.send({ method: 'GET', path: '/account', query });
      const body = isSuccess(response) ? (response.body as Record<string, string>) : {};
      return { workspaceRef: body.workspace ?? null, consumerRef: body.person ?? null };
    },
  },
};
const app = await getSharedApp({
  providers: [named, requesting],
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  now: clock.now,
});
const { prisma } = app.app.services.database;

beforeEach(() => {
  clock.aheadMs = 0;
  isAccountKnown = true;
  isExpiryKnown = true;
  isLatestRejected = false;
  onTokenRequest = async () => {};
  onAccountRequest = async () => {};
  server.reset();
});

const ANN = { workspace: 'acme', person: 'ann' };
const LIST_ATTENTION_ITEMS = `query ListAttentionItems($project: String) {
  project(idOrName: $project) { attentionItems { kind subject { id } } }
}`;
const UPDATE_CONNECTION = `mutation UpdateConnection($input: UpdateConnectionInput!) {
  updateConnection(input: $input) { connection { id providerConsumerRef } }
}`;

async function consentAs(tenant: Tenant, provider: string, newGrant: typeof grant) {
  grant = newGrant;
  await consent(app, tenant, { provider });
  const where = { projectId: tenant.projectId };
  return getConnection(app, (await prisma.connection.findFirstOrThrow({ where })).id);
}

async function readRefreshToken(tenant: Tenant): Promise<string | undefined> {
  const where = { projectId: tenant.projectId };
  const connection = await prisma.connection.findFirstOrThrow({ where });
  const credentials = await readStoredCredentials(app, connection);
  return 'refreshToken' in credentials ? credentials.refreshToken?.token : undefined;
}

async function listItems({ query, projectId }: Tenant) {
  return (await query(LIST_ATTENTION_ITEMS, { project: projectId })).project.attentionItems;
}

async function createConnectedTenant(provider: string) {
  const tenant = await app.createTenant();
  await createProviderApp(tenant, { provider });
  const connection = await consentAs(tenant, provider, { ...ANN, refreshToken: 'stored' });
  return { tenant, connection };
}

test.each([
  'named',
  'requesting',
])('keeps the refresh token of the same account and person (%s)', async (provider) => {
  const { tenant, connection } = await createConnectedTenant(provider);
  expect(await consentAs(tenant, provider, ANN)).toMatchObject({ unrefreshableSince: null });
  expect(await readRefreshToken(tenant)).toBe('stored');
  expect(await listItems(tenant)).toEqual([]);
  clock.aheadMs += 2 * HOUR_MS;
  await (await openProviderSessionOf(app.app.services, connection)).send({
    method: 'GET',
    path: '/records',
  });
  expect(server.requests.at(-2)?.body).toMatchObject({ refresh_token: 'stored' });
});

test.each<[string, string, typeof grant]>([
  ['named', 'another person', { ...ANN, person: 'bob' }],
  ['named', 'another account', { ...ANN, workspace: 'other' }],
  ['named', 'an unknown person', { workspace: 'acme' }],
  ['named', 'an unknown account', { person: 'ann' }],
  ['requesting', 'another person', { ...ANN, person: 'bob' }],
  ['requesting', 'another account', { ...ANN, workspace: 'other' }],
])('drops the refresh token for a consent of %s from %s, and reports it', async (provider, _name, other) => {
  const { tenant, connection } = await createConnectedTenant(provider);
  await consentAs(tenant, provider, other);
  expect(await readRefreshToken(tenant)).toBeUndefined();
  const item = { kind: 'CONNECTION_UNREFRESHABLE', subject: { id: connection.id } };
  expect(await listItems(tenant)).toEqual([item]);
  await consentAs(tenant, provider, { ...other, refreshToken: 'new' });
  expect(await readRefreshToken(tenant)).toBe('new');
  expect(await listItems(tenant)).toEqual([]);
});

test('drops the refresh token if the account request fails', async () => {
  const { tenant } = await createConnectedTenant('requesting');
  isAccountKnown = false;
  await consentAs(tenant, 'requesting', ANN);
  expect(await readRefreshToken(tenant)).toBeUndefined();
});

test('names no account by the stored token if the account request rejects the new one', async () => {
  const { tenant } = await createConnectedTenant('requesting');
  isLatestRejected = true;
  await consentAs(tenant, 'requesting', { ...ANN, person: 'bob' });
  expect(await readRefreshToken(tenant)).toBeUndefined();
});

test('stores no refs of an account whose credentials were replaced during its request', async () => {
  isAccountKnown = false;
  const { tenant, connection } = await createConnectedTenant('requesting');
  isAccountKnown = true;
  onAccountRequest = async () => {
    onAccountRequest = async () => {};
    await consentAs(tenant, 'requesting', { workspace: 'other', person: 'bob' });
  };
  const { services } = app.app;
  const subscription = { ...connection, connectionId: connection.id };
  const { account } = await getSubscriptionParties(services, subscription, {
    findAccount: ({ providerWorkspaceRef }) => providerWorkspaceRef,
  });
  expect(account).toBe('acme');
  expect(await getConnection(app, connection.id)).toMatchObject({
    providerWorkspaceRef: 'other',
    providerConsumerRef: 'bob',
  });
});

test('drops the refresh token of another app', async () => {
  const { tenant } = await createConnectedTenant('named');
  await createProviderApp(tenant, { provider: 'named', clientId: 'newer app' });
  await consentAs(tenant, 'named', ANN);
  expect(await readRefreshToken(tenant)).toBeUndefined();
});

test('drops an imported refresh token, whose person is unknown', async () => {
  const { tenant, connection } = await createConnectedTenant('named');
  const credentials = { oauth2AuthorizationCode: { refreshToken: { token: 'of bob' } } };
  const key = { projectIdOrName: tenant.projectId, connectionId: connection.id };
  const { updateConnection } = await tenant.query(UPDATE_CONNECTION, {
    input: { ...key, credentials },
  });
  expect(updateConnection.connection.providerConsumerRef).toBeNull();
  await consentAs(tenant, 'named', ANN);
  expect(await readRefreshToken(tenant)).toBeUndefined();
});

test('reports an imported token that has no refresh token once it expires', async () => {
  const tenant = await app.createTenant();
  await createProviderApp(tenant, { provider: 'named' });
  const expireTime = new Date(app.app.services.now().getTime() + HOUR_MS);
  await generateConnection(tenant, {
    provider: 'named',
    oauth2AuthorizationCode: { accessToken: { token: 'access', expireTime } },
  });
  await runDueRows(app.app.services, tokenRefreshes);
  expect(await listItems(tenant)).toEqual([]);
  clock.aheadMs += HOUR_MS;
  await runDueRows(app.app.services, tokenRefreshes);
  expect(await listItems(tenant)).toMatchObject([{ kind: 'CONNECTION_UNREFRESHABLE' }]);
});

test('reports a dropped refresh token if the expiry of the access token is unknown', async () => {
  const { tenant } = await createConnectedTenant('named');
  isExpiryKnown = false;
  await consentAs(tenant, 'named', { ...ANN, person: 'bob' });
  expect(await listItems(tenant)).toMatchObject([{ kind: 'CONNECTION_UNREFRESHABLE' }]);
  await consentAs(tenant, 'named', { ...ANN, person: 'bob' });
  expect(await listItems(tenant)).toEqual([]);
});

test('keeps the expiry of the refresh token', async () => {
  const { tenant, connection } = await createConnectedTenant('named');
  const expireTime = new Date('2030-01-01T00:00:00.000Z');
  await tenant.query(UPDATE_CONNECTION, {
    input: {
      projectIdOrName: tenant.projectId,
      connectionId: connection.id,
      credentials: { oauth2AuthorizationCode: { refreshToken: { token: 'own', expireTime } } },
    },
  });
  const where = { projectId: tenant.projectId };
  await prisma.connection.updateMany({ where, data: { providerConsumerRef: 'ann' } });
  const row = await consentAs(tenant, 'named', ANN);
  expect(await readStoredCredentials(app, row)).toMatchObject({
    refreshToken: { token: 'own', expiresAt: expireTime.toISOString() },
  });
});

test('requests the account with the metadata of the consent', async () => {
  const { tenant } = await createConnectedTenant('requesting');
  server.reset();
  grant = ANN;
  await consent(app, tenant, { provider: 'requesting', providerMetadata: { site: 'new' } });
  const request = server.requests.find(({ path }) => path === '/account');
  expect(request?.query.get('site')).toBe('new');
});

test('replaces credentials that cannot be opened', async () => {
  const { tenant, connection } = await createConnectedTenant('named');
  const where = { projectId: tenant.projectId, id: connection.id };
  const data = { credentialsSealed: 'v1.unknown.value' };
  await prisma.connection.updateMany({ where, data });
  await consentAs(tenant, 'named', ANN);
  expect(await readRefreshToken(tenant)).toBeUndefined();
});

test('stores a consent without the refresh token while another process keeps the lease', async () => {
  const { tenant, connection } = await createConnectedTenant('named');
  await prisma.connection.updateMany({
    where: { projectId: tenant.projectId, id: connection.id },
    data: {
      refreshLeaseToken: 'another process',
      refreshLeaseExpireTime: new Date(Date.now() + HOUR_MS),
    },
  });
  let elapsedMs = 0;
  const clockSpy = vi.spyOn(performance, 'now').mockImplementation(() => {
    elapsedMs += 30_000;
    return elapsedMs;
  });
  try {
    await consentAs(tenant, 'named', ANN);
  } finally {
    clockSpy.mockRestore();
  }
  expect(await readRefreshToken(tenant)).toBeUndefined();
  expect(await listItems(tenant)).toMatchObject([{ kind: 'CONNECTION_UNREFRESHABLE' }]);
});

test('drops the refresh token of a connection that was created during the consent', async () => {
  const { tenant, connection } = await createConnectedTenant('requesting');
  onAccountRequest = async () => {
    onAccountRequest = async () => {};
    await prisma.connection.deleteMany({ where: { id: connection.id } });
    await consentAs(tenant, 'requesting', { ...ANN, refreshToken: 'newer' });
  };
  await consentAs(tenant, 'requesting', ANN);
  expect(await readRefreshToken(tenant)).toBeUndefined();
});

test('keeps the successor of the refresh token if a refresh is running', async () => {
  const { tenant, connection } = await createConnectedTenant('named');
  clock.aheadMs += 2 * HOUR_MS;
  grant = { ...ANN, refreshToken: 'successor' };
  const { promise: requested, resolve: onRequested } = Promise.withResolvers<void>();
  const { promise: exchanged, resolve: onExchanged } = Promise.withResolvers<void>();
  onTokenRequest = async (grantType) => {
    if (grantType !== 'refresh_token') return onExchanged();
    onRequested();
    await exchanged;
  };
  const session = await openProviderSessionOf(app.app.services, connection);
  const refreshing = session.send({ method: 'GET', path: '/records' });
  await requested;
  await consentAs(tenant, 'named', ANN);
  await refreshing;
  expect(await readRefreshToken(tenant)).toBe('successor');
});
