/** The key of a service account signs an assertion, which the gateway exchanges for a token. */
import { generateKeyPairSync } from 'node:crypto';
import { importSPKI, jwtVerify } from 'jose';
import { afterAll, expect, test } from 'vitest';
import { openProviderSessionOf } from '../../src/domain/connections/connection/connection-session.ts';
import { CATALOG } from '../../src/providers/catalog/all-entries.ts';
import type { Provider } from '../../src/providers/contract.ts';
import type { InputGrant } from '../../src/providers/input-grants.ts';
import { getSharedApp, type Tenant } from '../support/app.ts';
import {
  createConnectionVariables,
  GENERATE_CONNECTION,
  generateConnection,
  recordEvents,
} from '../support/fixtures/connections.ts';
import { getConnection, readStoredCredentials } from '../support/providers/oauth.ts';
import { type ServedRequest, startProviderServer } from '../support/providers/provider-server.ts';
import { expectEqualIssues } from '../support/rest/equal-refusals.ts';
import { createRestTenant } from '../support/rest/rest-client.ts';

const { publicKey, privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2_048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const CLIENT_EMAIL = 'robot@acme.iam.gserviceaccount.com';
const KEY_FILE = {
  type: 'service_account',
  client_email: CLIENT_EMAIL,
  private_key: privateKey,
  private_key_id: 'k1',
  token_uri: 'http://169.254.169.254/never-asked',
};
const toBase64 = (file: object) => Buffer.from(JSON.stringify(file)).toString('base64');
const customAuth = { serviceAccountKey: toBase64(KEY_FILE), scopes: ['calendar', 'drive'] };

/** The requests for tokens, in order. */
const tokenRequests: { form: Record<string, string> }[] = [];
const rejectedTokens = new Set<string>();
let isKeyKnown = true;

const server = await startProviderServer((request) =>
  request.path === '/token' ? respondWithToken(request) : respondAsApi(request),
);
afterAll(() => server[Symbol.asyncDispose]());

function respondWithToken({ body }: ServedRequest) {
  if (!isKeyKnown) return { status: 400, body: { error: 'invalid_grant' } };
  tokenRequests.push({ form: body as Record<string, string> });
  return {
    status: 200,
    body: { access_token: `token ${tokenRequests.length}`, expires_in: 3_599 },
  };
}

function respondAsApi({ headers }: ServedRequest) {
  const token = (headers.authorization ?? '').replace('Bearer ', '');
  const isAccepted = /^token \d+$/.test(token) && !rejectedTokens.has(token);
  return { status: isAccepted ? 200 : 401, body: {} };
}

const google = CATALOG.find(({ name }) => name === 'googleServiceAccount') as Provider;
const bigquery = CATALOG.find(({ name }) => name === 'bigquery') as Provider;
/** Returns the provider with its addresses on the test server. */
function redirectGrant({ custom, ...provider }: Provider): Provider {
  const grant = { ...custom?.grant, tokenUrl: `${server.url}/token` } as InputGrant;
  return { ...provider, baseUrl: server.url, custom: { inputs: custom?.inputs ?? [], grant } };
}

const clock = { aheadMs: 0 };
const app = await getSharedApp({
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  now: () => new Date(Date.now() + clock.aheadMs),
  providers: [redirectGrant(google), redirectGrant(bigquery)],
});

async function connect(tenant: Tenant, overrides: object = {}) {
  const credentials = { ...customAuth, ...overrides };
  const account = { provider: google.name, customAuth: credentials, skipCheck: true };
  const { id } = await generateConnection(tenant, account);
  const sendRequest = async () => {
    const session = await openProviderSessionOf(app.app.services, await getConnection(app, id));
    return (await session.send({ method: 'GET', path: '/calendar/v3/events' })).status;
  };
  return { id, sendRequest, readConnection: () => getConnection(app, id) };
}

async function verifyAssertion(assertion = '') {
  const key = await importSPKI(publicKey, 'RS256');
  const audience = `${server.url}/token`;
  const currentDate = app.app.services.now();
  return jwtVerify(assertion, key, { audience, issuer: CLIENT_EMAIL, currentDate });
}

test('signs an assertion with the key, and exchanges it for a token on the first call', async () => {
  const { sendRequest, readConnection } = await connect(await app.createTenant());
  expect(await readConnection()).toMatchObject({ authScheme: 'NONE', status: 'CREATED' });
  const countBefore = tokenRequests.length;
  expect(await Promise.all([sendRequest(), sendRequest(), sendRequest()])).toEqual([200, 200, 200]);
  expect(tokenRequests.length).toBe(countBefore + 1);
  const { form } = tokenRequests.at(-1) ?? {};
  expect(form?.grant_type).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
  const { payload, protectedHeader } = await verifyAssertion(form?.assertion);
  expect(protectedHeader).toMatchObject({ alg: 'RS256', kid: 'k1' });
  expect(payload).toMatchObject({ iss: CLIENT_EMAIL, scope: 'calendar drive' });
  expect(payload).not.toHaveProperty('sub');
  expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(3_600);
  expect((await readConnection()).status).toBe('WORKING');
});

test('requests the scopes that the provider declares if the customer does not enter them', async () => {
  const { id } = await generateConnection(await app.createTenant(), {
    provider: 'bigquery',
    providerMetadata: { projectId: 'acme', dataset: 'sales', timestampColumn: 'updated_at' },
    customAuth: { serviceAccountKey: toBase64(KEY_FILE) },
    skipCheck: true,
  });
  const session = await openProviderSessionOf(app.app.services, await getConnection(app, id));
  expect((await session.send({ method: 'GET', path: '/bigquery/v2/projects' })).status).toBe(200);
  const { payload } = await verifyAssertion(tokenRequests.at(-1)?.form.assertion);
  expect(payload.scope).toBe('https://www.googleapis.com/auth/bigquery');
});

test('replaces a token before it expires, and when the provider rejects it', async () => {
  const tenant = await app.createTenant();
  const { id, sendRequest, readConnection } = await connect(tenant, { subject: 'ann@acme.test' });
  const listEvents = await recordEvents(app, tenant);
  await sendRequest();
  expect((await verifyAssertion(tokenRequests.at(-1)?.form.assertion)).payload.sub).toBe(
    'ann@acme.test',
  );
  const countBefore = tokenRequests.length;
  clock.aheadMs += 58 * 60_000;
  await sendRequest();
  expect(tokenRequests.length).toBe(countBefore);
  clock.aheadMs += 2 * 60_000;
  await sendRequest();
  expect(tokenRequests.length).toBe(countBefore + 1);
  clock.aheadMs += 2 * 60_000;
  rejectedTokens.add(`token ${tokenRequests.length}`);
  expect(await sendRequest()).toBe(200);
  expect(tokenRequests.length).toBe(countBefore + 2);
  const refreshMutation = `mutation RefreshConnection($input: RefreshConnectionInput!) {
    refreshConnection(input: $input) { connection { status } }
  }`;
  const input = { projectIdOrName: tenant.projectId, connectionId: id };
  await tenant.query(refreshMutation, { input });
  expect(tokenRequests.length).toBe(countBefore + 3);
  const storedCredentials = await readStoredCredentials(app, await readConnection());
  expect(storedCredentials).toMatchObject({ token: { token: `token ${tokenRequests.length}` } });
  expect((await listEvents()).map(({ eventType }) => eventType)).toEqual([
    'CONNECTION_REFRESHED',
    'CONNECTION_REFRESHED',
    'CONNECTION_REFRESHED',
  ]);
});

test('returns UNPROCESSABLE for a rejected key, and stores an accepted key with its token', async () => {
  const tenant = await app.createTenant();
  const input = createConnectionVariables(tenant, { provider: google.name, customAuth });
  isKeyKnown = false;
  const { code, problem } = await tenant.expectRefusal(GENERATE_CONNECTION, input);
  isKeyKnown = true;
  const endpoint = `The token endpoint of ${google.displayName}`;
  expect([code, problem.detail]).toEqual([
    'UNPROCESSABLE',
    `${endpoint} responded with 400: invalid_grant`,
  ]);
  const { connection } = app.app.services.database.prisma;
  expect(await connection.count({ where: { projectId: tenant.projectId } })).toBe(0);
  const { id } = await generateConnection(tenant, { provider: google.name, customAuth });
  expect(await readStoredCredentials(app, await getConnection(app, id))).toMatchObject({
    token: { token: `token ${tokenRequests.length}` },
  });
});

test('sets the connection to BAD_CREDENTIALS if the provider no longer accepts the key', async () => {
  const { sendRequest, readConnection } = await connect(await app.createTenant());
  isKeyKnown = false;
  await expect(sendRequest()).rejects.toThrow('invalid_grant');
  isKeyKnown = true;
  expect((await readConnection()).status).toBe('BAD_CREDENTIALS');
});

test('reports every missing, unknown or malformed input, without its value', async () => {
  const rest = await createRestTenant(app);
  const listIssues = (inputs: object) => {
    const consumer = { groupRef: 'acme', consumerRef: 'ann', provider: google.name };
    return expectEqualIssues(rest, 'generateConnection', { ...consumer, customAuth: inputs });
  };
  const detail = 'must be non-empty text or JSON.';
  const keyDetail = 'must be the JSON key file of a service account with an RSA key, in base64.';
  expect(await listIssues({ key: 'x' })).toEqual([
    'customAuth.key: is not an input of googleServiceAccount, which has serviceAccountKey, scopes, subject.',
    `customAuth.scopes: ${detail}`,
    `customAuth.serviceAccountKey: ${detail}`,
  ]);
  const { private_key: _key, ...withoutKey } = KEY_FILE;
  for (const serviceAccountKey of [
    'no base64 {',
    JSON.stringify(KEY_FILE),
    toBase64(withoutKey),
    toBase64({ ...KEY_FILE, private_key: publicKey }),
  ]) {
    const inputs = { ...customAuth, serviceAccountKey };
    expect(await listIssues(inputs)).toEqual([`customAuth.serviceAccountKey: ${keyDetail}`]);
  }
  expect(await listIssues({ ...customAuth, scopes: [], subject: 1 })).toEqual([
    'customAuth.scopes: must be a list of at least one scope.',
    'customAuth.subject: must be text.',
  ]);
});

test('lists the inputs of the provider in GraphQL and REST', async () => {
  const { tenant, get } = await createRestTenant(app);
  const inputs = google.custom?.inputs ?? [];
  const { provider } = await tenant.query(
    `query Provider { provider(name: "${google.name}") { customInputs { name displayName optional isSecret } } }`,
  );
  const expectedInputs = inputs.map(({ visible, optional = false, ...input }) => ({
    ...input,
    optional,
    isSecret: !visible,
  }));
  expect(provider.customInputs).toEqual(expectedInputs);
  const response = await get(`/providers/${google.name}`);
  const shownInputs = inputs.map(({ visible, ...input }) => ({
    ...input,
    fieldType: visible ? 'fieldTypeText' : 'fieldTypePassword',
  }));
  expect(response).toMatchObject({ authType: 'custom', customOpts: { inputs: shownInputs } });
  expect(JSON.stringify(response)).not.toContain('tokenUrl');
});
