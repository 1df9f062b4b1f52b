/**
 * Providers and receivers repeat secrets in their responses. Errors, results, logs, events and the database have none of
 * them. Records and forwarded responses stay unchanged.
 */
import { pino } from 'pino';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { openProviderSessionOf } from '../../../src/domain/connections/connection/connection-session.ts';
import { createSandboxProvider } from '../../../src/providers/sandbox/sandbox-provider.ts';
import { getSharedApp, type TestApp } from '../../support/app.ts';
import { createAgent } from '../../support/fixtures/agents.ts';
import {
  createConnectionVariables,
  GENERATE_CONNECTION,
  generateConnection,
} from '../../support/fixtures/connections.ts';
import { createConnectionWebhook } from '../../support/fixtures/webhooks.ts';
import { createContact, createWriter, type Writer } from '../../support/fixtures/writes.ts';
import { connectMcp } from '../../support/mcp/mcp-client.ts';
import { createProviderApp, getConnection } from '../../support/providers/oauth.ts';
import {
  type ServedRequest,
  type ServedResponse,
  startProviderServer,
} from '../../support/providers/provider-server.ts';
import { startSandbox } from '../../support/providers/sandbox.ts';
import { startReceiver } from '../../support/receiver.ts';
import { createPlantedSecret, dumpTables, expectNoSecret, listForms } from './planted-secrets.ts';

const POLLING = { timeout: 20_000, interval: 50 };
const EXPIRED_TIME = '2020-01-01T00:00:00.000Z';

const sandbox = await startSandbox();
const receiver = await startReceiver();
/** The secrets that the provider repeats in every response. Null: it responds as the sandbox does. */
let repeated: string[] | null = null;
/** The tokens that the token endpoint grants. Null: it repeats the secrets. */
let granted: { accessToken: string; refreshToken: string } | null = null;
const server = await startProviderServer((request) => {
  if (request.path === '/oauth/token' && granted) return { status: 200, body: toTokens(granted) };
  return repeated ? repeatSecrets(request, repeated) : forwardToSandbox(request);
});
const lines: string[] = [];
const log = pino({ level: 'trace' }, { write: (line) => lines.push(line) });
const app = await getSharedApp({
  providers: [createSandboxProvider(() => server.url)],
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  log,
});
const { services } = app.app;

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});
beforeEach(() => {
  repeated = null;
  granted = null;
});

function toTokens({ accessToken, refreshToken }: NonNullable<typeof granted>) {
  return { access_token: accessToken, refresh_token: refreshToken, expires_in: 3_600 };
}

async function forwardToSandbox({ method, path, query, body }: ServedRequest) {
  const response = await fetch(`${sandbox.url}${path}?${query}`, {
    method,
    headers: { 'x-api-key': 'sandbox-key', 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

/** Returns an error with the secrets in all forms, before and across the length at which texts are cut. */
function repeatSecrets({ path }: ServedRequest, secrets: string[]): ServedResponse {
  const forms = secrets.flatMap(listForms);
  const messages = forms.flatMap((form) => [`Invalid: ${form}`, `${'x '.repeat(245)}${form}`]);
  const problems = messages.map((message) => ({ code: 'invalid_record', message }));
  const names = Object.fromEntries(forms.map((form) => [form, 'is invalid']));
  return {
    status: 400,
    headers: { 'x-request-id': encodeURIComponent(secrets.join(' ')) },
    body:
      path === '/oauth/token'
        ? { error: 'invalid_request', error_description: forms.join(' ') }
        : { error: { ...problems[0], message: forms.join(' '), ...names }, errors: problems },
  };
}

const OPERATION = `query OperationWithRequests($id: ID!) {
  node(id: $id) { ... on Operation {
    result metadata { objects } logs { nodes { message details } }
    requests { nodes { path requestHeaders responseHeaders responseBody error } }
  } }
}`;
const OPERATIONS = `query Operations($id: ID!) {
  node(id: $id) { ... on Installation { operations { nodes { id } } } }
}`;
const DELIVERIES = `query Deliveries($id: String!) {
  project(idOrName: $id) { deliveries { nodes {
    status failureReason attempts { responseStatus responseBody error }
  } } }
}`;

/** Returns the operations of the installation with their logs and requests, over GraphQL and to an agent. */
async function showOperations(writer: Writer): Promise<string> {
  await services.requestRecorder?.flush();
  const { operations } = (await writer.query(OPERATIONS, { id: writer.installationId })).node;
  const details = await Promise.all(
    operations.nodes.map(({ id }: { id: string }) => writer.query(OPERATION, { id })),
  );
  expect(JSON.stringify(details)).toContain('***');
  return JSON.stringify(details);
}

async function callAsAgent(testApp: TestApp, writer: Writer): Promise<string> {
  const agent = await createAgent(testApp, writer);
  const { call } = await connectMcp(testApp, agent);
  const records = await call('read_records', { objectName: 'contacts' });
  return JSON.stringify(records);
}

interface PlantedCredentials {
  /** The input of `generateConnection`. */
  credentials: object;
  secrets: string[];
  /** The tokens of the first refresh. */
  granted?: { accessToken: string; refreshToken: string };
}

function plantKey(): PlantedCredentials {
  const apiKey = createPlantedSecret();
  return { credentials: { apiKey }, secrets: [apiKey] };
}

function plantPassword(): PlantedCredentials {
  const password = createPlantedSecret();
  return { credentials: { basicAuth: { username: 'user', password } }, secrets: [password] };
}

function plantCustomInput(): PlantedCredentials {
  const accountKey = createPlantedSecret();
  return { credentials: { customAuth: { accountKey } }, secrets: [accountKey] };
}

function plantExpiredTokens(): PlantedCredentials {
  const [accessToken, refreshToken, newAccessToken, newRefreshToken] = [1, 2, 3, 4].map(() =>
    createPlantedSecret(),
  ) as [string, string, string, string];
  return {
    credentials: {
      oauth2AuthorizationCode: {
        accessToken: { token: accessToken, expireTime: EXPIRED_TIME },
        refreshToken: { token: refreshToken },
      },
    },
    secrets: [newAccessToken, newRefreshToken],
    granted: { accessToken: newAccessToken, refreshToken: newRefreshToken },
  };
}

describe('a provider that repeats secrets', () => {
  test.each([
    ['an API key', plantKey],
    ['a password', plantPassword],
    ['a custom input', plantCustomInput],
    ['tokens that were just refreshed', plantExpiredTokens],
  ])('shows and stores no secret: %s', async (_name, plant) => {
    const writer = await createWriter(app);
    const planted = plant();
    const clientSecret = createPlantedSecret();
    await createProviderApp(writer, { clientSecret });
    await generateConnection(writer, planted.credentials);
    granted = planted.granted ?? null;
    repeated = planted.secrets;

    const texts = [
      JSON.stringify(await writer.write({ record: createContact() })),
      JSON.stringify(await writer.write({ batch: [{ record: createContact() }] })),
      await callAsAgent(app, writer),
      await showOperations(writer),
      await dumpTables(services.database),
      lines.join('\n'),
    ];
    expectNoSecret(planted.secrets, texts.join('\n'));
  });

  test('shows and stores no secret if the token endpoint repeats them', async () => {
    const writer = await createWriter(app);
    const { credentials } = plantExpiredTokens();
    const clientSecret = createPlantedSecret();
    await createProviderApp(writer, { clientSecret });
    await generateConnection(writer, credentials);
    const tokens = Object.values(
      (credentials as { oauth2AuthorizationCode: Record<string, { token: string }> })
        .oauth2AuthorizationCode,
    ).map(({ token }) => token);
    repeated = [clientSecret, ...tokens];

    const texts = [
      JSON.stringify(await writer.write({ record: createContact() })),
      await showOperations(writer),
      await dumpTables(services.database),
      lines.join('\n'),
    ];
    expectNoSecret(repeated, texts.join('\n'));
  });

  test('shows no secret in a refusal of new credentials', async () => {
    const { credentials, secrets } = plantKey();
    const tenant = await app.createTenant();
    server.failNext({
      status: 401,
      body: { error: { code: 'unauthorized', message: secrets.flatMap(listForms).join(' ') } },
    });
    const response = await tenant.request(
      GENERATE_CONNECTION,
      createConnectionVariables(tenant, credentials),
    );
    expect(JSON.stringify(response.errors)).toContain('***');
    expectNoSecret(secrets, JSON.stringify(response));
  });

  test('changes neither records nor successful responses', async () => {
    const writer = await createWriter(app);
    const { credentials, secrets } = plantKey();
    const { id } = await generateConnection(writer, credentials);
    const [secret] = secrets;
    const { result } = await writer.write({ record: createContact({ lastname: secret }) });
    expect(result.data.lastname).toBe(secret);
    const connection = await getConnection(app, id);
    const { body } = await (await openProviderSessionOf(services, connection)).send({
      method: 'GET',
      path: `/objects/contacts/records/${result.recordId}`,
    });
    expect(JSON.stringify(body)).toContain(JSON.stringify(secret).slice(1, -1));
  });
});

test('shows and stores no secret that a receiver repeats, and sends it unmasked', async () => {
  const tenant = await app.createTenant();
  const [parameter, key, password] = [1, 2, 3].map(() => createPlantedSecret());
  const name = `hook?token=${encodeURIComponent(parameter ?? '')}`;
  const pair = Buffer.from(`user:${password}`).toString('base64');
  const { signingSecret } = await createConnectionWebhook(tenant, {
    name: 'hook',
    url: receiver.getUrl(name),
    headers: { authorization: `Basic ${pair}`, 'x-key': key },
  } as { name: string; url: string });
  const secrets = [parameter, key, password, signingSecret].filter((text) => text !== undefined);
  const forms = secrets.flatMap(listForms).join('\n');
  const body = `${forms}\n${'x '.repeat(2_030)}${forms}\n${forms}`;
  receiver.setBehavior(name, { status: 400, body });
  await app.app.start();
  await generateConnection(tenant, { apiKey: 'sandbox-key' });
  const list = async () => JSON.stringify(await tenant.query(DELIVERIES, { id: tenant.projectId }));
  await expect.poll(list, POLLING).toContain('***');

  expectNoSecret(secrets, `${await list()}\n${await dumpTables(services.database)}\n${lines}`);
  const [message] = receiver.listMessages(name);
  expect(message?.headers).toMatchObject({ authorization: `Basic ${pair}`, 'x-key': key });
});
