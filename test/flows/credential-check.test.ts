/** Credentials that the provider refuses are not stored, if checking them is inexpensive. */
import type { RequestListener } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { createSandboxProvider } from '../../src/providers/sandbox/sandbox-provider.ts';
import { createTestApp, getSharedApp, type Tenant, type TestApp } from '../support/app.ts';
import {
  CREDENTIALS,
  connectionVariables,
  GENERATE,
  generateConnection,
  keepEvents,
} from '../support/fixtures/connections.ts';
import {
  CLIENT,
  callSandbox,
  getConnection,
  readStoredCredentials,
} from '../support/providers/oauth.ts';
import { createRestTenant } from '../support/rest/rest-client.ts';
import { serve } from '../support/wire/serve.ts';

const app = await getSharedApp();

const UPDATE = `mutation ($input: UpdateConnectionInput!) {
  updateConnection(input: $input) { connection { id status } }
}`;
const REFUSED = /^Sandbox CRM rejected the credentials \(401\): \S/;

async function readStored({ app: { services } }: TestApp, { projectId }: Tenant) {
  const { connection, group, consumer } = services.database.prisma;
  const where = { where: { projectId } };
  return [
    await connection.findMany(where),
    await group.findMany(where),
    await consumer.findMany(where),
  ];
}

test('returns UNPROCESSABLE for a rejected key or password, and stores and emits nothing', async () => {
  const tenant = await app.tenant();
  const events = await keepEvents(app, tenant);
  const wrongPassword = { username: 'ann', password: 'planted' };
  for (const credentials of [{ apiKey: 'planted' }, { basicAuth: wrongPassword }]) {
    const { code, problem } = await tenant.refusal(
      GENERATE,
      connectionVariables(tenant, credentials),
    );
    expect(code).toBe('UNPROCESSABLE');
    expect(problem).toMatchObject({ status: 422, detail: expect.stringMatching(REFUSED) });
    expect(JSON.stringify(problem)).not.toContain('planted');
  }
  expect(await readStored(app, tenant)).toEqual([[], [], []]);
  expect(await events()).toEqual([]);

  const rightPassword = { ...wrongPassword, password: 'sandbox-password' };
  expect(await generateConnection(tenant, { apiKey: 'sandbox-key' })).toMatchObject({
    status: 'CREATED',
  });
  expect(
    await generateConnection(tenant, { basicAuth: rightPassword, groupRef: 'b' }),
  ).toMatchObject({
    status: 'CREATED',
  });
});

const { clientId } = CLIENT;
const TOKEN_REFUSED = 'The token endpoint of Sandbox CRM responded with';
const WRONG_CLIENT = `${TOKEN_REFUSED} 401: invalid_client: The client id or the client secret is wrong`;
const password = { username: 'ann', ...CLIENT };

test.each([
  [
    'OAUTH2_CLIENT_CREDENTIALS',
    { oauth2ClientCredentials: { clientId, clientSecret: 'planted' } },
    WRONG_CLIENT,
  ],
  [
    'OAUTH2_PASSWORD',
    { oauth2PasswordCredentials: { ...password, password: 'planted' } },
    `${TOKEN_REFUSED} 400: invalid_grant: The user name or the password is wrong`,
  ],
  ['NONE', { customAuth: { accountKey: 'planted' } }, expect.stringMatching(REFUSED)],
])('returns UNPROCESSABLE for rejected credentials of the scheme %s, and stores nothing', async (...row) => {
  const [, credentials, detail] = row;
  const tenant = await app.tenant();
  const events = await keepEvents(app, tenant);
  const { code, problem } = await tenant.refusal(
    GENERATE,
    connectionVariables(tenant, credentials),
  );
  expect([code, problem.status, problem.detail]).toEqual(['UNPROCESSABLE', 422, detail]);
  expect(JSON.stringify(problem)).not.toContain('planted');
  expect(await readStored(app, tenant)).toEqual([[], [], []]);
  expect(await events()).toEqual([]);
  const skipped = await generateConnection(tenant, { ...credentials, skipCheck: true });
  expect(skipped).toMatchObject({ status: 'CREATED' });
});

test.each([
  ['OAUTH2_CLIENT_CREDENTIALS', { oauth2ClientCredentials: CLIENT }],
  ['OAUTH2_PASSWORD', { oauth2PasswordCredentials: { ...password, password: 'sandbox-password' } }],
])('stores the token that a check of credentials of the scheme %s returned', async (...row) => {
  const [authScheme, credentials] = row;
  const tenant = await app.tenant();
  const { counts } = app.app.sandbox.oauth;
  const before = counts.issued;
  const { id } = await generateConnection(tenant, credentials);
  const connection = await getConnection(app, id);
  expect(connection).toMatchObject({ authScheme, status: 'CREATED' });
  expect(connection.tokenExpireTime).not.toBeNull();
  expect((await callSandbox(app, connection)).status).toBe(200);
  expect(counts.issued).toBe(before + 1);
});

test('keeps the old client credentials if the new ones are rejected', async () => {
  const tenant = await app.tenant();
  const { id } = await generateConnection(tenant, { oauth2ClientCredentials: CLIENT });
  const events = await keepEvents(app, tenant);
  const before = await readStored(app, tenant);
  const connectionKey = { projectIdOrName: tenant.projectId, connectionId: id };
  const change = (clientSecret: string) => ({
    input: {
      ...connectionKey,
      credentials: { oauth2ClientCredentials: { clientId, clientSecret } },
    },
  });
  expect(await tenant.refusal(UPDATE, change('planted'))).toMatchObject({
    code: 'UNPROCESSABLE',
    problem: { detail: WRONG_CLIENT },
  });
  expect(await readStored(app, tenant)).toEqual(before);
  expect(await events()).toEqual([]);
  await tenant.query(UPDATE, change('sandbox-secret-2'));
  const stored = await readStoredCredentials(app, await getConnection(app, id));
  expect(stored).toMatchObject({
    clientSecret: 'sandbox-secret-2',
    token: { token: expect.any(String) },
  });
});

test('keeps the old credentials if the new ones are rejected', async () => {
  const tenant = await app.tenant();
  const { id } = await generateConnection(tenant, { apiKey: 'sandbox-key' });
  const events = await keepEvents(app, tenant);
  const before = await readStored(app, tenant);
  const names = { groupName: 'Renamed', consumerName: 'Renamed' };
  const repeatedVariables = connectionVariables(tenant, { apiKey: 'wrong', ...names });
  expect(await tenant.refusal(GENERATE, repeatedVariables)).toMatchObject({
    code: 'UNPROCESSABLE',
  });
  const input = {
    projectIdOrName: tenant.projectId,
    connectionId: id,
    credentials: { apiKey: 'wrong' },
    providerMetadata: { plan: 'gold' },
  };
  expect(await tenant.refusal(UPDATE, { input })).toMatchObject({
    code: 'UNPROCESSABLE',
    problem: { detail: expect.stringMatching(REFUSED) },
  });
  expect(await readStored(app, tenant)).toEqual(before);
  expect(await events()).toEqual([]);
});

test('returns 422 for rejected credentials over REST, and accepts valid ones afterwards', async () => {
  const rest = await createRestTenant(app);
  const body = { provider: 'sandbox', groupRef: 'acme', consumerRef: 'ann' };
  const path = `${rest.base}/connections`;
  const wrongBody = { ...body, apiKey: 'wrong' };
  const refused = { status: 422, detail: expect.stringMatching(REFUSED) };
  expect(await rest.refusal('POST', `${path}:generate`, wrongBody)).toMatchObject(refused);
  const created = await rest.post(`${path}:generate`, { ...body, apiKey: 'sandbox-key' });
  const change = (apiKey: string) => ({ updateMask: ['apiKey'], connection: { apiKey } });
  expect(await rest.refusal('PATCH', `${path}/${created.id}`, change('wrong'))).toMatchObject(
    refused,
  );
  expect(await rest.get(`${path}/${created.id}?includeCreds=true`)).toMatchObject({
    status: 'created',
    apiKey: 'sandbox-key',
  });
  expect(await rest.patch(`${path}/${created.id}`, change('sandbox-key-2'))).toMatchObject({
    status: 'created',
  });
});

test('stores credentials without a request to the provider if skipCheck is set', async () => {
  const tenant = await app.tenant();
  const skipCheck = true;
  const { id, status } = await generateConnection(tenant, { apiKey: 'wrong', skipCheck });
  expect(status).toBe('CREATED');
  const connectionKey = { projectIdOrName: tenant.projectId, connectionId: id };
  const apiKey = async () => (await tenant.query(CREDENTIALS, { id })).node.credentials.apiKey;
  await tenant.query(UPDATE, {
    input: { ...connectionKey, credentials: { apiKey: 'wrong-2' }, skipCheck },
  });
  expect(await apiKey()).toBe('wrong-2');

  const rest = await createRestTenant(app);
  const body = { provider: 'sandbox', groupRef: 'acme', consumerRef: 'ann', apiKey: 'wrong' };
  const created = await rest.post(`${rest.base}/connections:generate`, { ...body, skipCheck });
  const path = `${rest.base}/connections/${created.id}`;
  const change = { updateMask: ['apiKey'], connection: { apiKey: 'wrong-2' } };
  expect(await rest.patch(`${path}?skipCheck=true`, change)).toMatchObject({ status: 'created' });
  expect(await rest.get(`${path}?includeCreds=true`)).toMatchObject({ apiKey: 'wrong-2' });
  const unread = await rest.refusal('PATCH', `${path}?skipCheck=maybe`, change);
  expect(unread).toMatchObject({ status: 400, issues: [{ in: 'query', name: 'skipCheck' }] });
});

/** Starts a server that replaces the provider. Returns its address. */
async function startProvider(response: RequestListener): Promise<string> {
  const { url, stop } = await serve(response);
  afterAll(stop);
  return url;
}

test('stores credentials unchecked if the provider fails, is slow or is unreachable', async () => {
  const failingProvider = await startProvider(
    (_request, response) => void response.writeHead(500).end(),
  );
  const slow = await startProvider(() => {});
  const addresses = [failingProvider, slow, 'http://sandbox.test'];
  const others = addresses.map((url) =>
    createTestApp({
      providers: [createSandboxProvider(() => url)],
      env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
    }),
  );
  for (const opening of others) {
    await using other = await opening;
    const tenant = await other.tenant();
    const created = await Promise.all([
      generateConnection(tenant, { apiKey: 'whatever' }),
      generateConnection(tenant, { oauth2ClientCredentials: CLIENT, groupRef: 'b' }),
    ]);
    expect(created).toMatchObject([{ status: 'CREATED' }, { status: 'CREATED' }]);
  }
});

test('stores client credentials unchecked if a server that is not an OAuth server refuses the request', async () => {
  const url = await startProvider((_request, response) => {
    response.writeHead(403, { 'content-type': 'text/html' });
    response.end('<h1>Blocked by the firewall</h1>');
  });
  await using other = await createTestApp({
    providers: [createSandboxProvider(() => url)],
    env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  });
  const connection = await generateConnection(await other.tenant(), {
    oauth2ClientCredentials: CLIENT,
  });
  expect(connection).toMatchObject({ status: 'CREATED' });
});

test("repeats the provider's message without the credentials in it", async () => {
  const words = { error: { message: 'Unknown key planted-key: rotate it', code: 'bad_key' } };
  const url = await startProvider((_request, response) => {
    response.writeHead(401, { 'content-type': 'application/json' });
    response.end(JSON.stringify(words));
  });
  await using other = await createTestApp({
    providers: [createSandboxProvider(() => url)],
    env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  });
  const tenant = await other.tenant();
  const { problem } = await tenant.refusal(
    GENERATE,
    connectionVariables(tenant, { apiKey: 'planted-key' }),
  );
  expect(problem.detail).toBe(
    'Sandbox CRM rejected the credentials (401): Unknown key ***: rotate it',
  );
});
