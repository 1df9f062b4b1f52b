import { pino } from 'pino';
import { expect, test } from 'vitest';
import { inTransaction } from '../../../src/database/transactions/transaction.ts';
import { replaceListWebhook } from '../../../src/domain/data/provider-event/stream/list-webhook.ts';
import { replaceSecrets } from '../../../src/domain/data/provider-event/subscription-secret.ts';
import { listSealedColumns } from '../../../src/domain/tenants/keys/re-encryption.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import { toQuery } from '../../support/database/query.ts';
import {
  createConnectionVariables,
  GENERATE_CONNECTION,
  generateConnection,
  PROVIDERS,
} from '../../support/fixtures/connections.ts';
import { createWebhook } from '../../support/fixtures/webhooks.ts';
import { CREATE_PROVIDER_APP } from '../../support/providers/oauth.ts';
import { dumpTables, expectNoSecret } from './planted-secrets.ts';

const lines: string[] = [];
const log = pino({ level: 'trace' }, { write: (line) => lines.push(line) });
const app = await getSharedApp({ providers: PROVIDERS, log });
const { services } = app.app;
const query = toQuery(services.database);

const CREATE_KEY = `mutation CreateApiKey($input: CreateApiKeyInput!) {
  createApiKey(input: $input) { key apiKey { id } }
}`;
const DELETE_KEY = `mutation DeleteApiKey($input: DeleteApiKeyInput!) {
  deleteApiKey(input: $input) { deletedId }
}`;
const UPDATE_APP = `mutation UpdateProviderApp($input: UpdateProviderAppInput!) {
  updateProviderApp(input: $input) { providerApp { id } }
}`;
const UPDATE_CONNECTION = `mutation UpdateConnection($input: UpdateConnectionInput!) {
  updateConnection(input: $input) { connection { id } }
}`;
const ROTATE_SECRET = `mutation RotateDestinationSecret($input: RotateDestinationSecretInput!) {
  rotateDestinationSecret(input: $input) { signingSecret }
}`;

/** Returns a unique secret, to search rows and logs for. */
function createSecret(): string {
  return `planted-${crypto.randomUUID()}`;
}

/** Stores a secret in every sealed column, and returns all of them. */
async function storeSecrets(tenant: Tenant): Promise<string[]> {
  const { projectId: projectIdOrName } = tenant;
  const secrets = [tenant.apiKey];
  const addSecret = () => {
    const secret = createSecret();
    secrets.push(secret);
    return secret;
  };
  const keyData = await tenant.query(CREATE_KEY, {
    input: { projectIdOrName, label: 'server', scopes: ['FULL'] },
  });
  secrets.push(keyData.createApiKey.key);

  const app = { provider: 'hubspot', clientId: 'c' };
  const appInput = {
    projectIdOrName,
    ...app,
    clientSecret: addSecret(),
    webhookSecret: addSecret(),
  };
  const { id } = (await tenant.query(CREATE_PROVIDER_APP, { input: appInput })).createProviderApp
    .providerApp;
  const providerApp = { clientSecret: addSecret(), webhookSecret: addSecret() };
  const updateMask = ['CLIENT_SECRET', 'WEBHOOK_SECRET'];
  const masked = { projectIdOrName, providerAppId: id, updateMask, providerApp };
  await tenant.query(UPDATE_APP, { input: masked });

  const client = { clientId: 'c', clientSecret: addSecret() };
  for (const [index, credentials] of [
    { apiKey: addSecret() },
    { basicAuth: { username: 'u', password: addSecret() } },
    { oauth2ClientCredentials: client },
    { oauth2PasswordCredentials: { username: 'u', password: addSecret(), ...client } },
    {
      oauth2AuthorizationCode: {
        accessToken: { token: addSecret() },
        refreshToken: { token: addSecret() },
      },
    },
    { customAuth: { accountKey: [addSecret()] } },
  ].entries()) {
    await generateConnection(tenant, { groupRef: `group ${index}`, ...credentials });
  }
  const changed = await generateConnection(tenant, {
    groupRef: 'changed',
    apiKey: addSecret(),
  });
  const input = {
    projectIdOrName,
    connectionId: changed.id,
    credentials: { apiKey: addSecret() },
  };
  await tenant.query(UPDATE_CONNECTION, { input });

  const { destinationId, signingSecret } = await createWebhook(tenant, {
    name: 'hook',
    url: `https://example.com/hook?token=${addSecret()}`,
    headers: { authorization: `Bearer ${addSecret()}`, 'x-key': addSecret() },
  });
  secrets.push(signingSecret);
  const rotationInput = { projectIdOrName, destinationId };
  const response = await tenant.query(ROTATE_SECRET, { input: rotationInput });
  secrets.push(response.rotateDestinationSecret.signingSecret);
  await keepSubscriptionSecret(tenant, { providerAppId: id, secret: addSecret() });
  await keepPingSecret(tenant, { connectionId: changed.id, secret: addSecret() });
  return secrets;
}

/** Stores the secret of a subscription, as a provider returns it. */
async function keepSubscriptionSecret(
  { projectId }: Tenant,
  { providerAppId, secret }: { providerAppId: string; secret: string },
): Promise<void> {
  const subscription = { projectId, installationId: newId('ins'), objectName: 'contacts' };
  await inTransaction(services.database, async (tx) => {
    const account = { provider: 'hubspot', connectionId: newId('con') };
    await tx.objectSubscription.create({ data: { ...subscription, ...account } });
    const identity = { id: newId('sec'), providerAppId, account: 'acme' };
    await replaceSecrets(services, tx, subscription, { ...identity, secrets: [secret] });
  });
}

/** Stores the secret that signs pings, as a provider returns it for a list of changes. */
async function keepPingSecret(
  { projectId }: Tenant,
  { connectionId, secret }: { connectionId: string; secret: string },
): Promise<void> {
  const key = { projectId, connectionId };
  await inTransaction(services.database, async (tx) => {
    await tx.providerStream.create({ data: { ...key, provider: 'airtable' } });
    const account = { providerRef: 'ach1', address: 'https://example.com/', checkTime: new Date() };
    await replaceListWebhook(services, tx, key, { ...account, secret });
  });
}

test('stores and logs no secret in plain, in hex or in base64', async () => {
  const tenant = await app.createTenant();
  const plainText = createSecret();
  const secrets = await storeSecrets(tenant);
  await generateConnection(tenant, { apiKey: 'sandbox-key', groupRef: plainText });

  const text = await dumpTables(services.database);
  expect(() => expectNoSecret([plainText], text)).toThrow();
  expectNoSecret(secrets, text);
  expectNoSecret(secrets, lines.join('\n'));
  expect(lines.length).toBeGreaterThan(0);
  // The API never returns a code verifier, so the test cannot search for one.
  for (const { table, column } of listSealedColumns().filter(
    (sealed) => sealed.table !== 'OAuthConnect',
  )) {
    const [row] = await query(`select 1 from "${table}" where "${column}" is not null`, []);
    expect(row, `a value of ${table}.${column}`).toBeDefined();
  }
});

test('repeats no secret in a refusal', async () => {
  const tenant = await app.createTenant();
  const { projectId: projectIdOrName } = tenant;
  const secret = createSecret();
  const tokens = { accessToken: { token: secret }, refreshToken: { token: secret } };
  const basicAuth = { username: 'u', password: secret };
  const { id: connectionId } = await generateConnection(tenant);
  const appFields = { provider: 'hubspot', clientId: 'c', clientSecret: secret };
  const requests: [string, Record<string, unknown>][] = [
    [DELETE_KEY, { input: { projectIdOrName, apiKey: secret } }],
    [DELETE_KEY, { input: { projectIdOrName, apiKey: secret.repeat(4) } }],
    [CREATE_PROVIDER_APP, { input: { projectIdOrName, ...appFields, provider: 'unknown' } }],
    [
      CREATE_PROVIDER_APP,
      { input: { projectIdOrName, ...appFields, clientSecret: `${secret}\n` } },
    ],
    [CREATE_PROVIDER_APP, { input: { projectIdOrName, ...appFields, clientSecret: [secret] } }],
    [
      UPDATE_APP,
      {
        input: {
          projectIdOrName,
          providerAppId: newId('app'),
          updateMask: ['CLIENT_SECRET'],
          providerApp: { clientSecret: secret },
        },
      },
    ],
    [GENERATE_CONNECTION, createConnectionVariables(tenant, { apiKey: `${secret}\0` })],
    [GENERATE_CONNECTION, createConnectionVariables(tenant, { apiKey: { secret } })],
    [GENERATE_CONNECTION, createConnectionVariables(tenant, { apiKey: [`; ${secret}`] })],
    [
      GENERATE_CONNECTION,
      createConnectionVariables(tenant, { apiKey: 'sandbox-key', authScheme: secret }),
    ],
    [`{ viewer(${JSON.stringify(secret)}) { kind } }`, {}],
    [`{ node(id: [${JSON.stringify(secret)}]) { id } }`, {}],
    [`{ project(idOrName: [${JSON.stringify(secret)}]) { id } }`, {}],
    [GENERATE_CONNECTION, createConnectionVariables(tenant, { apiKey: secret, basicAuth })],
    [
      GENERATE_CONNECTION,
      createConnectionVariables(tenant, { provider: 'salesforce', apiKey: secret }),
    ],
    [
      GENERATE_CONNECTION,
      createConnectionVariables(tenant, { basicAuth: { username: secret, passphrase: secret } }),
    ],
    [
      GENERATE_CONNECTION,
      createConnectionVariables(tenant, { oauth2AuthorizationCode: tokens, authScheme: 'BASIC' }),
    ],
    [
      GENERATE_CONNECTION,
      createConnectionVariables(tenant, { oauth2AuthorizationCode: { accessToken: secret } }),
    ],
    [GENERATE_CONNECTION, createConnectionVariables(tenant, { customAuth: { other: secret } })],
    [GENERATE_CONNECTION, createConnectionVariables(tenant, { customAuth: secret })],
    [UPDATE_CONNECTION, { input: { projectIdOrName, connectionId, credentials: { basicAuth } } }],
    [
      UPDATE_CONNECTION,
      { input: { projectIdOrName, connectionId: newId('con'), credentials: { apiKey: secret } } },
    ],
  ];
  for (const [query, variables] of requests) {
    const response = await tenant.request(query, variables);
    expect(response.errors, JSON.stringify(variables)).toBeDefined();
    expectNoSecret([secret], JSON.stringify(response));
  }
  const wrongKey = await app
    .createClient({ 'x-api-key': secret })
    .request('query Viewer { viewer { kind } }');
  expect(wrongKey.status).toBe(401);
  expectNoSecret([secret], JSON.stringify(wrongKey));
  expectNoSecret([secret], lines.join('\n'));
});

test('repeats no secret in the response or the log if the database fails', async () => {
  const tenant = await app.createTenant();
  const secret = createSecret();
  await query('alter table "Connection" rename to "Elsewhere"', []);
  try {
    const response = await tenant.request(
      GENERATE_CONNECTION,
      createConnectionVariables(tenant, { apiKey: secret }),
    );
    expect(response.errors?.[0]?.extensions.code).toBe('INTERNAL_ERROR');
    expectNoSecret([secret], JSON.stringify(response));
    expect(lines.join('\n')).toContain('error.internal');
    expectNoSecret([secret], lines.join('\n'));
  } finally {
    await query('alter table "Elsewhere" rename to "Connection"', []);
  }
});
