/**
 * A built-in and a custom provider and a receiver repeat all secrets that they get from a project. No field of GraphQL,
 * endpoint, log line, tool of an agent or row of the database has any of them.
 *
 * @module-tag all/walk
 */
import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import { createSandboxProvider } from '../../../src/providers/sandbox/sandbox-provider.ts';
import { getSharedApp, HIGH_RATE_LIMITS } from '../../support/app.ts';
import { createAgent } from '../../support/fixtures/agents.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import { createInstallation, createIntegration } from '../../support/fixtures/integrations.ts';
import { LIST_RECORDS } from '../../support/fixtures/reads.ts';
import { createConnectionWebhook } from '../../support/fixtures/webhooks.ts';
import { createContact, createWriter, type Writer } from '../../support/fixtures/writes.ts';
import type { GraphqlClient } from '../../support/graphql-client.ts';
import { createDocument, createProvider } from '../../support/inputs/custom-providers.ts';
import { connectMcp } from '../../support/mcp/mcp-client.ts';
import { createProviderApp } from '../../support/providers/oauth.ts';
import {
  type ServedRequest,
  startProviderServer,
} from '../../support/providers/provider-server.ts';
import { startSandbox } from '../../support/providers/sandbox.ts';
import { startReceiver } from '../../support/receiver.ts';
import { listOperations } from '../../support/rest/minimal-request.ts';
import { createForeignRequest } from '../../support/tenancy/foreign-request.ts';
import { createForeignArgument, type Foreign } from '../../support/tenancy/foreign-values.ts';
import { buildQueries, findReachableFields } from '../../support/tenancy/reachable-fields.ts';
import { listStoredIds } from '../../support/tenancy/stored-rows.ts';
import { createPlantedSecret, dumpTables, expectNoSecret, listForms } from './planted-secrets.ts';

const EXPIRED_TIME = '2020-01-01T00:00:00.000Z';
const REFRESH = `mutation Refresh($input: RefreshConnectionInput!) {
  refreshConnection(input: $input) { connection { id } }
}`;

const CREATE_KEY = `mutation CreateApiKey($input: CreateApiKeyInput!) {
  createApiKey(input: $input) { key }
}`;

interface TestedProvider {
  provider: string;
  integrationIdOrName: string;
  objectName: string;
  createRecord(): object;
}

const SANDBOX: TestedProvider = {
  provider: 'sandbox',
  integrationIdOrName: 'crm',
  objectName: 'contacts',
  createRecord: createContact,
};
const CUSTOM: TestedProvider = {
  provider: 'x-acme',
  integrationIdOrName: 'own',
  objectName: 'notes',
  createRecord: () => ({ title: 'Call' }),
};

const secrets: string[] = [];
const repeatedSecrets = new Set<string>();
function plant(): string {
  const secret = createPlantedSecret();
  secrets.push(secret);
  return secret;
}

const sandbox = await startSandbox();
const receiver = await startReceiver();
let isRepeating = false;
const server = await startProviderServer((request) => {
  if (isRepeating) return { status: 400, body: createError(request) };
  if (request.path !== '/oauth/token') return forwardToSandbox(request);
  const tokens = { access_token: plant(), refresh_token: plant(), expires_in: 3_600 };
  return { status: 200, body: tokens };
});
const lines: string[] = [];
const log = pino({ level: 'trace' }, { write: (line) => lines.push(line) });
const app = await getSharedApp({
  providers: [createSandboxProvider(() => server.url)],
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8', LIMIT_COST: '1000000', ...HIGH_RATE_LIMITS },
  log,
});
const { services } = app.app;
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

async function forwardToSandbox({ method, path, query, body }: ServedRequest) {
  const response = await fetch(`${sandbox.url}${path}?${query}`, {
    method,
    headers: { 'x-api-key': 'sandbox-key', 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

/** Returns an error with each secret of the request in each form, as a message and as a name. */
function createError({ path, query, headers, body }: ServedRequest) {
  const text = toUrlSafe(JSON.stringify([`${query}`, headers, body]));
  const sentSecrets = secrets.filter((secret) =>
    listForms(secret).some((form) => text.includes(toUrlSafe(form))),
  );
  for (const secret of sentSecrets) repeatedSecrets.add(secret);
  const forms = sentSecrets.flatMap(listForms);
  if (path === '/oauth/token') {
    return { error: 'invalid_request', error_description: forms.join(' ') };
  }
  const errors = forms.map((message) => ({ code: 'invalid_record', message }));
  const names = Object.fromEntries(forms.map((form) => [form, 'is invalid']));
  return { error: { ...errors[0], ...names }, errors };
}

function toUrlSafe(text: string): string {
  return text.replaceAll('+', '-').replaceAll('/', '_');
}

/** Creates a provider from a document, which connects with credentials of each kind, and its integration. */
async function createCustomProvider(writer: Writer): Promise<void> {
  const document = createDocument(server.url, {
    authSchemes: [
      'API_KEY',
      'BASIC',
      'OAUTH2_AUTHORIZATION_CODE',
      'OAUTH2_CLIENT_CREDENTIALS',
      'OAUTH2_PASSWORD',
      'NONE',
    ],
    custom: {
      inputs: [{ name: 'accountKey', displayName: 'Account key' }],
      headers: [{ name: 'X-Account-Key', valueTemplate: '{{accountKey}}' }],
    },
    oauth2: {
      authorizeUrl: `${server.url}/oauth/authorize`,
      tokenUrl: `${server.url}/oauth/token`,
    },
    healthCheck: undefined,
  });
  await createProvider(writer, document);
  const { provider, integrationIdOrName: name, objectName } = CUSTOM;
  const read = { objects: [{ objectName, destination: 'records' }] };
  await createIntegration(app, writer, {
    ...{ name, provider, read, write: { objects: [{ objectName }] } },
  });
}

/** Connects and installs with credentials of each kind, for a group each. */
async function installEach(writer: Writer, tested: TestedProvider) {
  const { provider, integrationIdOrName } = tested;
  await createProviderApp(writer, { provider, clientSecret: plant(), webhookSecret: plant() });
  return Promise.all(
    listCredentials().map(async (credentials, index) => {
      const groupRef = `${provider} ${index}`;
      const { id } = await generateConnection(writer, { provider, groupRef, ...credentials });
      const installation = await createInstallation(writer, { integrationIdOrName, groupRef });
      return { tested, groupRef, connectionId: id, installationId: installation.id };
    }),
  );
}

/** Returns the credentials of each kind that both providers accept. */
function listCredentials(): object[] {
  const client = { clientId: 'client', clientSecret: plant() };
  return [
    { apiKey: plant() },
    { basicAuth: { username: 'user', password: plant() } },
    { customAuth: { accountKey: plant() } },
    { oauth2ClientCredentials: client },
    { oauth2PasswordCredentials: { username: 'user', password: plant(), ...client } },
    {
      oauth2AuthorizationCode: {
        accessToken: { token: plant(), expireTime: EXPIRED_TIME },
        refreshToken: { token: plant() },
      },
    },
  ];
}

/** Writes, reads and refreshes with each connection while the provider and the receiver repeat the secrets. */
async function repeatSecrets(writer: Writer): Promise<string[]> {
  await createCustomProvider(writer);
  const groups = [...(await installEach(writer, SANDBOX)), ...(await installEach(writer, CUSTOM))];
  const [parameter, password, key] = [plant(), plant(), plant()];
  const name = `hook?token=${encodeURIComponent(parameter)}`;
  const pair = Buffer.from(`user:${password}`).toString('base64');
  const headers = { authorization: `Basic ${pair}`, 'x-key': key };
  const url = receiver.getUrl(name);
  const { signingSecret } = await createConnectionWebhook(writer, {
    ...{ name: 'hook', url, headers },
  });
  secrets.push(signingSecret, writer.apiKey);
  const forms = [parameter, password, key, signingSecret].flatMap(listForms);
  receiver.setBehavior(name, { status: 400, body: forms.join('\n') });
  await generateConnection(writer, { groupRef: 'reported', apiKey: plant() });
  isRepeating = true;
  const responses = await Promise.all(
    groups.map(async ({ tested, groupRef, connectionId, installationId }) => {
      const { integrationIdOrName, objectName, createRecord } = tested;
      const target = { groupRef, integrationIdOrName, objectName };
      return [
        await writer.write({ ...target, record: createRecord() }),
        await writer.write({ ...target, batch: [{ record: createRecord() }] }),
        await writer.request(LIST_RECORDS, { id: installationId, objectName }),
        await writer.request(REFRESH, { input: { connectionId } }),
      ];
    }),
  );
  await receiver.waitForMessages(name, 1);
  await services.requestRecorder?.flush();
  return responses.flat().map((response) => JSON.stringify(response));
}

async function callTools(writer: Writer, tested: TestedProvider): Promise<string[]> {
  const { provider, objectName, createRecord } = tested;
  const agent = await createAgent(app, writer, { groupRef: `${provider} 0` });
  const { client, call } = await connectMcp(app, agent);
  const { tools } = await client.listTools();
  const values = { objectName, recordId: '1', type: 'CREATE', values: createRecord() };
  const results = await Promise.all(
    tools.map(({ name }) => call(name, values).catch((error: unknown) => String(error))),
  );
  const records = await call('read_records', { objectName });
  return [JSON.stringify(tools), JSON.stringify(results), JSON.stringify(records)];
}

/** Returns the responses of each field that the caller reaches. */
async function readFields(caller: GraphqlClient, own: Foreign): Promise<Map<string, string>> {
  const fields = await findReachableFields(caller, own);
  const responses = new Map<string, string>();
  for (const { description, field, query, args } of await buildQueries(fields, [caller])) {
    const values = args.map((arg) => [arg.name, createForeignArgument(field, arg, own)]);
    const response = await caller.request(query, Object.fromEntries(values));
    responses.set(description, JSON.stringify(response));
  }
  return responses;
}

/** Returns the responses of each endpoint that only reads. */
async function readEndpoints(apiKey: string, own: Foreign): Promise<Map<string, string>> {
  const responses = new Map<string, string>();
  for (const endpoint of listOperations(app.app.rest.swagger())) {
    if (endpoint.method !== 'GET') continue;
    const { path } = createForeignRequest(endpoint, own);
    const response = await app.fetch(path, { headers: { 'x-api-key': apiKey } });
    responses.set(endpoint.operationId, await response.text());
  }
  return responses;
}

test('returns, logs and stores no secret that a provider or a receiver repeats', async () => {
  const writer = await createWriter(app);
  await app.app.start();
  const texts = [
    ...(await repeatSecrets(writer)),
    ...(await callTools(writer, SANDBOX)),
    ...(await callTools(writer, CUSTOM)),
  ];
  // The scope FULL does not include the scope that shows credentials.
  const input = { projectIdOrName: writer.projectId, label: 'reader', scopes: ['FULL'] };
  const { key: apiKey } = (await writer.query(CREATE_KEY, { input })).createApiKey;
  const ids = await listStoredIds(app);
  const own: Foreign = {
    project: writer.projectId,
    findId: (prefix) => ids.findLast((id) => id.startsWith(`${prefix}_`)),
    texts: {},
  };
  const responses: string[] = [];
  const readNames: string[] = [];
  for (const { provider, objectName } of [SANDBOX, CUSTOM]) {
    const texts = { groupRef: `${provider} 0`, consumerRef: 'ann', provider, objectName };
    const fields = await readFields(app.createClient({ 'x-api-key': apiKey }), { ...own, texts });
    const endpoints = await readEndpoints(apiKey, { ...own, texts });
    responses.push(...fields.values(), ...endpoints.values());
    readNames.push(...fields.keys());
  }

  expect(repeatedSecrets.size).toBeGreaterThan(16);
  const all = [...texts, ...responses];
  expect(all.filter((text) => text.includes('***')).length).toBeGreaterThan(20);
  const types = new Set(readNames.map((description) => description.split('.')[0]));
  expect([...types]).toEqual(
    expect.arrayContaining(['Operation', 'OperationLog', 'RecordedRequest', 'Delivery']),
  );
  expectNoSecret(secrets, all.join('\n'));
  expectNoSecret(secrets, lines.join('\n'));
  expectNoSecret(secrets, await dumpTables(services.database));
});
