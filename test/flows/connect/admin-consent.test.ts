/** An administrator consents for an organization, and signs in. The client of the provider app then obtains tokens. */
import { UnsecuredJWT } from 'jose';
import { beforeEach, expect, test, vi } from 'vitest';
import { openProviderSessionOf } from '../../../src/domain/connections/connection/connection-session.ts';
import type { OutboundRequest } from '../../../src/outbound/client.ts';
import { CATALOG } from '../../../src/providers/catalog/all-entries.ts';
import { HOUR_MS } from '../../../src/work/durations.ts';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import { createAheadClock } from '../../support/process/ahead-clock.ts';
import {
  CLIENT,
  createProviderApp,
  getConnection,
  START_CONNECT,
} from '../../support/providers/oauth.ts';
import { createOAuthBrowser } from '../../support/providers/oauth-browser.ts';

const PROVIDER = 'microsoftAdminConsent';
const LOGIN_URL = 'https://login.microsoftonline.com';
/** The tenant of the person who signs in. */
const TENANT = '11111111-aaaa-bbbb-cccc-000000000000';
/** A tenant of another customer, which has consented to the same provider app. */
const OTHER_TENANT = '22222222-aaaa-bbbb-cccc-000000000000';

const clock = createAheadClock();
const app = await getSharedApp({ providers: [...CATALOG], now: clock.now });
const { services } = app.app;

const requests: { url: string; form: Record<string, string>; headers: object }[] = [];
let idToken: string | undefined;
let rejectedTenant: string | undefined;

function respond({ url, headers, body }: OutboundRequest) {
  const form = Object.fromEntries(new URLSearchParams(String(body ?? '')));
  requests.push({ url, form, headers });
  if (rejectedTenant && url.includes(rejectedTenant)) {
    const description = 'AADSTS700016: The application was not found in the directory.';
    return { status: 400, body: { error: 'unauthorized_client', error_description: description } };
  }
  return {
    status: 200,
    body: {
      access_token: `token-${requests.length}`,
      expires_in: 3_599,
      ...(form.code && { id_token: idToken }),
    },
  };
}

beforeEach(() => {
  clock.aheadMs = 0;
  requests.length = 0;
  rejectedTenant = undefined;
  idToken = new UnsecuredJWT({ sub: 'ann', tid: TENANT }).encode();
  vi.spyOn(services.providerAccess.outbound, 'send').mockImplementation(async (request) => {
    const { status, body } = respond(request);
    return { status, headers: {}, body: Buffer.from(JSON.stringify(body)), truncated: false };
  });
});

/** Opens the link of an OAuth flow. Returns the page of the administrator's consent, and a function that returns from a page. */
async function start(tenant: Tenant) {
  await createProviderApp(tenant, { provider: PROVIDER });
  const input = {
    projectIdOrName: tenant.projectId,
    provider: PROVIDER,
    groupRef: 'acme',
    consumerRef: 'ann',
  };
  const { startOAuthConnect } = await tenant.query(START_CONNECT, { input });
  const browser = createOAuthBrowser(app);
  const consentUrl = await browser.open(startOAuthConnect.authorizeUrl);
  const callback = (params: Record<string, string>) => {
    const url = new URL(consentUrl.searchParams.get('redirect_uri') as string);
    const state = consentUrl.searchParams.get('state') as string;
    url.search = new URLSearchParams({ ...params, state }).toString();
    return browser.send(url);
  };
  return { consentUrl, callback };
}

async function connect(tenant: Tenant) {
  const { callback } = await start(tenant);
  await callback({ admin_consent: 'True', tenant: OTHER_TENANT });
  const response = await callback({ code: 'given' });
  expect(response.status).toBe(200);
  const { id } = await services.database.prisma.connection.findFirstOrThrow({
    where: { projectId: tenant.projectId },
  });
  const sendRequest = async () => {
    const session = await openProviderSessionOf(services, await getConnection(app, id));
    return (await session.send({ method: 'GET', path: '/v1.0/users' })).status;
  };
  return { id, sendRequest };
}

test("connects the tenant of the sign-in, and not the one in the consent's redirect", async () => {
  const tenant = await app.createTenant();
  const { consentUrl, callback } = await start(tenant);
  expect(consentUrl.origin + consentUrl.pathname).toBe(
    `${LOGIN_URL}/organizations/v2.0/adminconsent`,
  );
  expect(Object.fromEntries(consentUrl.searchParams)).toEqual({
    client_id: CLIENT.clientId,
    redirect_uri: expect.any(String),
    scope: 'https://graph.microsoft.com/.default',
    state: expect.any(String),
  });

  const redirect = await callback({ admin_consent: 'True', tenant: OTHER_TENANT });
  expect(redirect.status).toBe(302);
  const signInUrl = new URL(redirect.headers.get('location') as string);
  expect(signInUrl.origin + signInUrl.pathname).toBe(
    `${LOGIN_URL}/organizations/oauth2/v2.0/authorize`,
  );
  expect(Object.fromEntries(signInUrl.searchParams)).toMatchObject({
    response_type: 'code',
    scope: 'openid',
    state: consentUrl.searchParams.get('state'),
    code_challenge_method: 'S256',
  });

  expect((await callback({ code: 'given' })).status).toBe(200);
  expect(requests).toMatchObject([
    {
      url: `${LOGIN_URL}/organizations/oauth2/v2.0/token`,
      form: { grant_type: 'authorization_code', code: 'given' },
    },
    {
      url: `${LOGIN_URL}/${TENANT}/oauth2/v2.0/token`,
      form: {
        grant_type: 'client_credentials',
        scope: 'https://graph.microsoft.com/.default',
        client_id: CLIENT.clientId,
        client_secret: CLIENT.clientSecret,
      },
    },
  ]);
  const connection = await services.database.prisma.connection.findFirstOrThrow({
    where: { projectId: tenant.projectId },
  });
  expect(connection).toMatchObject({ providerWorkspaceRef: TENANT, providerConsumerRef: 'ann' });
});

test('requests new tokens of the same tenant, even if the workspace of the connection was changed', async () => {
  const tenant = await app.createTenant();
  const { id, sendRequest } = await connect(tenant);
  expect(await sendRequest()).toBe(200);
  expect(requests.at(-1)?.headers).toMatchObject({ authorization: 'Bearer token-2' });
  await services.database.prisma.connection.updateMany({
    where: { id, projectId: tenant.projectId },
    data: { providerWorkspaceRef: OTHER_TENANT },
  });
  clock.aheadMs = HOUR_MS;
  expect(await sendRequest()).toBe(200);
  expect(requests.at(-2)?.url).toBe(`${LOGIN_URL}/${TENANT}/oauth2/v2.0/token`);
});

test('sets BAD_CREDENTIALS if the tenant has removed the app', async () => {
  const { id, sendRequest } = await connect(await app.createTenant());
  clock.aheadMs = HOUR_MS;
  rejectedTenant = TENANT;
  await expect(sendRequest()).rejects.toThrow('AADSTS700016');
  expect((await getConnection(app, id)).status).toBe('BAD_CREDENTIALS');
});

test('connects nothing if the sign-in names no tenant, or if no administrator has consented', async () => {
  for (const prepare of [
    () => {
      idToken = 'no token';
    },
    () => {
      rejectedTenant = TENANT;
    },
  ]) {
    const tenant = await app.createTenant();
    const { callback } = await start(tenant);
    prepare();
    expect((await callback({ code: 'given' })).status).toBe(400);
    const where = { projectId: tenant.projectId };
    expect(await services.database.prisma.connection.count({ where })).toBe(0);
  }
});

test('shows a failure if the administrator declines', async () => {
  const { callback } = await start(await app.createTenant());
  const response = await callback({ error: 'access_denied', error_description: 'Declined.' });
  expect(response.status).toBe(400);
});
