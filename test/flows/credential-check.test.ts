/** The gateway checks credentials with a request to the provider, and stores none that the provider rejects. */
import type { RequestListener } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { createSandboxProvider } from '../../src/providers/sandbox/sandbox-provider.ts';
import { createTestApp, getSharedApp, type Tenant, type TestApp } from '../support/app.ts';
import {
  createConnectionVariables,
  GENERATE_CONNECTION,
  GET_CREDENTIALS,
  generateConnection,
  recordEvents,
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

const UPDATE_CONNECTION = `mutation UpdateConnection($input: UpdateConnectionInput!) {
  updateConnection(input: $input) { connection { id status } }
}`;
const REJECTION_MESSAGE = /^Sandbox CRM rejected the credentials \(401\): [^;]+$/;

async function readStoredRows({ app: { services } }: TestApp, { projectId }: Tenant) {
  const { connection, group, consumer } = services.database.prisma;
  const where = { where: { projectId } };
  return [
    await connection.findMany(where),
    await group.findMany(where),
    await consumer.findMany(where),
  ];
}

test('returns UNPROCESSABLE for a rejected key or password, and stores and emits nothing', async () => {
  const tenant = await app.createTenant();
  const listEvents = await recordEvents(app, tenant);
  const wrongPassword = { username: 'ann', password: 'planted' };
  for (const credentials of [{ apiKey: 'planted' }, { basicAuth: wrongPassword }]) {
    const { code, problem } = await tenant.expectRefusal(
      GENERATE_CONNECTION,
      createConnectionVariables(tenant, credentials),
    );
    expect(code).toBe('UNPROCESSABLE');
    expect(problem).toMatchObject({
      status: 422,
      detail: expect.stringMatching(REJECTION_MESSAGE),
    });
    expect(JSON.stringify(problem)).not.toContain('planted');
  }
  expect(await readStoredRows(app, tenant)).toEqual([[], [], []]);
  expect(await listEvents()).toEqual([]);

  const rightPassword = { ...wrongPassword, password: 'sandbox-password' };
  expect(await generateConnection(tenant, { apiKey: 'sandbox-key' })).toMatchObject({
    status: 'CREATED',
  });
  expect(
    await generateConnection(tenant, { basicAuth: rightPassword, groupRef: 'b' }),
  ).toMatchObject({ status: 'CREATED' });
});

const { clientId } = CLIENT;
const TOKEN_ENDPOINT_RESPONSE = 'The token endpoint of Sandbox CRM responded with';
const WRONG_CLIENT = `${TOKEN_ENDPOINT_RESPONSE} 401: invalid_client: The client id or the client secret is wrong`;
const PASSWORD_CREDENTIALS = { username: 'ann', ...CLIENT };

test.each([
  [
    'OAUTH2_CLIENT_CREDENTIALS',
    { oauth2ClientCredentials: { clientId, clientSecret: 'planted' } },
    WRONG_CLIENT,
  ],
  [
    'OAUTH2_PASSWORD',
    { oauth2PasswordCredentials: { ...PASSWORD_CREDENTIALS, password: 'planted' } },
    `${TOKEN_ENDPOINT_RESPONSE} 400: invalid_grant: The user name or the password is wrong`,
  ],
  ['NONE', { customAuth: { accountKey: 'planted' } }, expect.stringMatching(REJECTION_MESSAGE)],
])('returns UNPROCESSABLE for rejected credentials of the scheme %s, and stores nothing', async (_authScheme, credentials, detail) => {
  const tenant = await app.createTenant();
  const listEvents = await recordEvents(app, tenant);
  const { code, problem } = await tenant.expectRefusal(
    GENERATE_CONNECTION,
    createConnectionVariables(tenant, credentials),
  );
  expect([code, problem.status, problem.detail]).toEqual(['UNPROCESSABLE', 422, detail]);
  expect(JSON.stringify(problem)).not.toContain('planted');
  expect(await readStoredRows(app, tenant)).toEqual([[], [], []]);
  expect(await listEvents()).toEqual([]);
  const unchecked = await generateConnection(tenant, { ...credentials, skipCheck: true });
  expect(unchecked).toMatchObject({ status: 'CREATED' });
});

test.each([
  ['OAUTH2_CLIENT_CREDENTIALS', { oauth2ClientCredentials: CLIENT }],
  [
    'OAUTH2_PASSWORD',
    { oauth2PasswordCredentials: { ...PASSWORD_CREDENTIALS, password: 'sandbox-password' } },
  ],
])('stores the token that a check of credentials of the scheme %s returned', async (authScheme, credentials) => {
  const tenant = await app.createTenant();
  const { counts } = app.app.sandbox.oauth;
  const issuedBefore = counts.issued;
  const { id } = await generateConnection(tenant, credentials);
  const connection = await getConnection(app, id);
  expect(connection).toMatchObject({ authScheme, status: 'CREATED' });
  expect(connection.tokenExpireTime).not.toBeNull();
  expect((await callSandbox(app, connection)).status).toBe(200);
  expect(counts.issued).toBe(issuedBefore + 1);
});

test('keeps the stored client secret if a new secret is rejected', async () => {
  const tenant = await app.createTenant();
  const { id } = await generateConnection(tenant, { oauth2ClientCredentials: CLIENT });
  const listEvents = await recordEvents(app, tenant);
  const rowsBefore = await readStoredRows(app, tenant);
  const connectionKey = { projectIdOrName: tenant.projectId, connectionId: id };
  const createChange = (clientSecret: string) => ({
    input: {
      ...connectionKey,
      credentials: { oauth2ClientCredentials: { clientId, clientSecret } },
    },
  });
  expect(await tenant.expectRefusal(UPDATE_CONNECTION, createChange('planted'))).toMatchObject({
    code: 'UNPROCESSABLE',
    problem: { detail: WRONG_CLIENT },
  });
  expect(await readStoredRows(app, tenant)).toEqual(rowsBefore);
  expect(await listEvents()).toEqual([]);
  await tenant.query(UPDATE_CONNECTION, createChange('sandbox-secret-2'));
  const storedCredentials = await readStoredCredentials(app, await getConnection(app, id));
  expect(storedCredentials).toMatchObject({
    clientSecret: 'sandbox-secret-2',
    token: { token: expect.any(String) },
  });
});

test('keeps the stored key and names if a new key is rejected', async () => {
  const tenant = await app.createTenant();
  const { id } = await generateConnection(tenant, { apiKey: 'sandbox-key' });
  const listEvents = await recordEvents(app, tenant);
  const rowsBefore = await readStoredRows(app, tenant);
  const names = { groupName: 'Renamed', consumerName: 'Renamed' };
  const repeatedVariables = createConnectionVariables(tenant, { apiKey: 'wrong', ...names });
  expect(await tenant.expectRefusal(GENERATE_CONNECTION, repeatedVariables)).toMatchObject({
    code: 'UNPROCESSABLE',
  });
  const input = {
    projectIdOrName: tenant.projectId,
    connectionId: id,
    credentials: { apiKey: 'wrong' },
    providerMetadata: { plan: 'gold' },
  };
  expect(await tenant.expectRefusal(UPDATE_CONNECTION, { input })).toMatchObject({
    code: 'UNPROCESSABLE',
    problem: { detail: expect.stringMatching(REJECTION_MESSAGE) },
  });
  expect(await readStoredRows(app, tenant)).toEqual(rowsBefore);
  expect(await listEvents()).toEqual([]);
});

test('returns 422 for rejected credentials over REST, and accepts valid credentials afterwards', async () => {
  const rest = await createRestTenant(app);
  const body = { provider: 'sandbox', groupRef: 'acme', consumerRef: 'ann' };
  const path = `${rest.base}/connections`;
  const wrongBody = { ...body, apiKey: 'wrong' };
  const rejection = { status: 422, detail: expect.stringMatching(REJECTION_MESSAGE) };
  expect(await rest.expectRefusal('POST', `${path}:generate`, wrongBody)).toMatchObject(rejection);
  const connection = await rest.post(`${path}:generate`, { ...body, apiKey: 'sandbox-key' });
  const createChange = (apiKey: string) => ({ updateMask: ['apiKey'], connection: { apiKey } });
  expect(
    await rest.expectRefusal('PATCH', `${path}/${connection.id}`, createChange('wrong')),
  ).toMatchObject(rejection);
  expect(await rest.get(`${path}/${connection.id}?includeCreds=true`)).toMatchObject({
    status: 'created',
    apiKey: 'sandbox-key',
  });
  expect(await rest.patch(`${path}/${connection.id}`, createChange('sandbox-key-2'))).toMatchObject(
    {
      status: 'created',
    },
  );
});

test('stores credentials without a request to the provider if skipCheck is set', async () => {
  const tenant = await app.createTenant();
  const skipCheck = true;
  const { id, status } = await generateConnection(tenant, { apiKey: 'wrong', skipCheck });
  expect(status).toBe('CREATED');
  const connectionKey = { projectIdOrName: tenant.projectId, connectionId: id };
  const readApiKey = async () =>
    (await tenant.query(GET_CREDENTIALS, { id })).node.credentials.apiKey;
  await tenant.query(UPDATE_CONNECTION, {
    input: { ...connectionKey, credentials: { apiKey: 'wrong-2' }, skipCheck },
  });
  expect(await readApiKey()).toBe('wrong-2');

  const rest = await createRestTenant(app);
  const body = { provider: 'sandbox', groupRef: 'acme', consumerRef: 'ann', apiKey: 'wrong' };
  const connection = await rest.post(`${rest.base}/connections:generate`, { ...body, skipCheck });
  const path = `${rest.base}/connections/${connection.id}`;
  const change = { updateMask: ['apiKey'], connection: { apiKey: 'wrong-2' } };
  expect(await rest.patch(`${path}?skipCheck=true`, change)).toMatchObject({ status: 'created' });
  expect(await rest.get(`${path}?includeCreds=true`)).toMatchObject({ apiKey: 'wrong-2' });
  const refusal = await rest.expectRefusal('PATCH', `${path}?skipCheck=maybe`, change);
  expect(refusal).toMatchObject({ status: 400, issues: [{ in: 'query', name: 'skipCheck' }] });
});

/** Starts a server with this listener, which stops after all tests. Returns its URL. */
async function startProvider(listener: RequestListener): Promise<string> {
  const { url, stop } = await serve(listener);
  afterAll(stop);
  return url;
}

/** Creates an app whose sandbox is the provider at this URL. */
function createAppWithProvider(url: string): Promise<TestApp> {
  return createTestApp({
    providers: [createSandboxProvider(() => url)],
    env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  });
}

test('stores credentials unchecked if the provider fails, is slow or is unreachable', async () => {
  const failingUrl = await startProvider(
    (_request, response) => void response.writeHead(500).end(),
  );
  const slowUrl = await startProvider(() => {});
  const unreachableUrl = 'http://sandbox.test';
  for (const url of [failingUrl, slowUrl, unreachableUrl]) {
    await using otherApp = await createAppWithProvider(url);
    const tenant = await otherApp.createTenant();
    const connections = await Promise.all([
      generateConnection(tenant, { apiKey: 'whatever' }),
      generateConnection(tenant, { oauth2ClientCredentials: CLIENT, groupRef: 'b' }),
    ]);
    expect(connections).toMatchObject([{ status: 'CREATED' }, { status: 'CREATED' }]);
  }
});

test('stores client credentials unchecked if a server that is not an OAuth server refuses the request', async () => {
  const url = await startProvider((_request, response) => {
    response.writeHead(403, { 'content-type': 'text/html' });
    response.end('<h1>Blocked by the firewall</h1>');
  });
  await using otherApp = await createAppWithProvider(url);
  const connection = await generateConnection(await otherApp.createTenant(), {
    oauth2ClientCredentials: CLIENT,
  });
  expect(connection).toMatchObject({ status: 'CREATED' });
});

test('keeps the words of a message that contain a client secret of one letter', async () => {
  const url = await startProvider((_request, response) => {
    response.writeHead(401, { 'content-type': 'application/json' });
    response.end('{"error": "invalid_client", "error_description": "This secret is not known."}');
  });
  await using otherApp = await createAppWithProvider(url);
  const tenant = await otherApp.createTenant();
  const client = { oauth2ClientCredentials: { ...CLIENT, clientSecret: 's' } };
  const { problem } = await tenant.expectRefusal(
    GENERATE_CONNECTION,
    createConnectionVariables(tenant, client),
  );
  expect(problem.detail).toBe(
    'The token endpoint of Sandbox CRM responded with 401: invalid_client: This secret is not known.',
  );
});

test("repeats the provider's message without the credentials in it", async () => {
  const errorBody = { error: { message: 'Unknown key planted-key: rotate it', code: 'bad_key' } };
  const url = await startProvider((_request, response) => {
    response.writeHead(401, { 'content-type': 'application/json' });
    response.end(JSON.stringify(errorBody));
  });
  await using otherApp = await createAppWithProvider(url);
  const tenant = await otherApp.createTenant();
  const { problem } = await tenant.expectRefusal(
    GENERATE_CONNECTION,
    createConnectionVariables(tenant, { apiKey: 'planted-key' }),
  );
  expect(problem.detail).toBe(
    'Sandbox CRM rejected the credentials (401): Unknown key ***: rotate it',
  );
});

test.each([
  [
    'masks a short key that is one of several messages',
    { apiKey: 'key' },
    { message: 'Not known: rotate it', detail: 'key' },
    'Not known: rotate it; ***',
  ],
  [
    'states that there is no reason, with an empty password',
    { basicAuth: { username: 'ann', password: '' } },
    {},
    'no reason given.',
  ],
])('%s', async (_name, credentials, errorBody, reason) => {
  const url = await startProvider((_request, response) => {
    response.writeHead(401, { 'content-type': 'application/json' });
    response.end(JSON.stringify(errorBody));
  });
  await using otherApp = await createAppWithProvider(url);
  const tenant = await otherApp.createTenant();
  const { problem } = await tenant.expectRefusal(
    GENERATE_CONNECTION,
    createConnectionVariables(tenant, credentials),
  );
  expect(problem.detail).toBe(`Sandbox CRM rejected the credentials (401): ${reason}`);
});

test('masks a short client secret that is the whole description of an error', async () => {
  const url = await startProvider((_request, response) => {
    response.writeHead(401, { 'content-type': 'application/json' });
    response.end('{"error": "invalid_client", "error_description": "short"}');
  });
  await using otherApp = await createAppWithProvider(url);
  const tenant = await otherApp.createTenant();
  const client = { oauth2ClientCredentials: { ...CLIENT, clientSecret: 'short' } };
  const { problem } = await tenant.expectRefusal(
    GENERATE_CONNECTION,
    createConnectionVariables(tenant, client),
  );
  expect(problem.detail).toBe(
    'The token endpoint of Sandbox CRM responded with 401: invalid_client: ***',
  );
});
