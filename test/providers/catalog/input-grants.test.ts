/** Named grants of entries, by the vendors' rules: the claims of assertions, logins, and rejected inputs. */
import { generateKeyPairSync, hash, type KeyObject } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { openProviderSessionOf } from '../../../src/domain/connections/connection/connection-session.ts';
import type { OutboundRequest } from '../../../src/outbound/client.ts';
import { CATALOG } from '../../../src/providers/catalog/all-entries.ts';
import { createSalesforceJwtProvider } from '../../../src/providers/salesforce/salesforce-provider.ts';
import { HOUR_MS, MINUTE_MS } from '../../../src/work/durations.ts';
import { getSharedApp } from '../../support/app.ts';
import {
  createConnectionVariables,
  GENERATE_CONNECTION,
  generateConnection,
} from '../../support/fixtures/connections.ts';
import { createAheadClock } from '../../support/process/ahead-clock.ts';
import { getConnection } from '../../support/providers/oauth.ts';

const clock = createAheadClock();
const app = await getSharedApp({
  providers: [createSalesforceJwtProvider(), ...CATALOG],
  now: clock.now,
});
const { services } = app.app;
const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });

const toBase64 = (value: string) => Buffer.from(value).toString('base64');
const toPem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString();

interface Answer {
  status: number;
  body: unknown;
}
let respond: (request: OutboundRequest) => Answer;
const requests: OutboundRequest[] = [];

beforeEach(() => {
  clock.aheadMs = 0;
  requests.length = 0;
  let count = 0;
  respond = ({ method }) =>
    method === 'POST'
      ? { status: 200, body: { access_token: `token-${++count}`, expires_in: 3_600 } }
      : { status: 200, body: {} };
  vi.spyOn(services.providerAccess.outbound, 'send').mockImplementation(async (request) => {
    requests.push(request);
    const { status, body } = respond(request);
    return { status, headers: {}, body: Buffer.from(JSON.stringify(body)), truncated: false };
  });
});

async function connect(account: { provider: string; customAuth: object }) {
  const { id } = await generateConnection(await app.createTenant(), account);
  const sendRequest = async () => {
    const session = await openProviderSessionOf(services, await getConnection(app, id));
    return (await session.send({ method: 'GET', path: '/records' })).status;
  };
  return { sendRequest, readConnection: () => getConnection(app, id) };
}

/** Returns the parameters of the newest form. */
function readForm(): Record<string, string> {
  const request = requests.findLast(({ method }) => method === 'POST');
  return Object.fromEntries(new URLSearchParams(String(request?.body)));
}

async function listProblems(account: { provider: string; customAuth: object }) {
  const tenant = await app.createTenant();
  const variables = createConnectionVariables(tenant, account);
  const { problem } = await tenant.expectRefusal(GENERATE_CONNECTION, variables);
  return problem.issues?.map(({ detail }: { detail: string }) => detail);
}

describe('netsuiteM2M', () => {
  const TOKEN_URL =
    'https://1234567-sb.suitetalk.api.netsuite.com/services/rest/auth/oauth2/v1/token';
  const createAccount = (privateKey: string) => ({
    provider: 'netsuiteM2M',
    providerWorkspaceRef: '1234567-sb',
    customAuth: { clientId: 'client-1', certificateId: 'cert-1', privateKey },
  });

  test.each([
    ['PS256', rsa],
    ['ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
    ['ES384', generateKeyPairSync('ec', { namedCurve: 'P-384' })],
    ['ES512', generateKeyPairSync('ec', { namedCurve: 'P-521' })],
  ])('signs the client assertion with %s', async (algorithm, { privateKey, publicKey }) => {
    await connect(createAccount(toBase64(toPem(privateKey))));
    const form = readForm();
    expect(form).toMatchObject({
      grant_type: 'client_credentials',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    });
    const { payload, protectedHeader } = await jwtVerify(form.client_assertion ?? '', publicKey, {
      audience: TOKEN_URL,
      issuer: 'client-1',
      currentDate: services.now(),
    });
    expect(protectedHeader).toMatchObject({ alg: algorithm, kid: 'cert-1', typ: 'JWT' });
    expect(payload.scope).toBe('restlets rest_webservices');
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBeLessThan(3_600);
  });

  test('accepts a PEM file that is not encoded, and refuses other keys', async () => {
    await connect(createAccount(toPem(rsa.privateKey)));
    const detail = 'must be a private RSA or EC key without a password, as PEM in base64.';
    const { privateKey: oddCurve } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' });
    for (const key of ['no key', toBase64('no key'), toPem(oddCurve)]) {
      expect(await listProblems(createAccount(key))).toEqual([detail]);
    }
  });
});

describe('salesforceJWT', () => {
  const createAccount = (providerWorkspaceRef: string, privateKey = toPem(rsa.privateKey)) => ({
    provider: 'salesforceJWT',
    providerWorkspaceRef,
    customAuth: {
      clientId: 'key-1',
      username: 'ann@acme.example',
      privateKey: toBase64(privateKey),
    },
  });

  test.each([
    ['acme', 'https://login.salesforce.com'],
    ['acme--dev.sandbox', 'https://test.salesforce.com'],
  ])('signs an assertion of the user of %s for %s', async (workspace, audience) => {
    await connect(createAccount(workspace));
    expect(requests[0]?.url).toBe(`https://${workspace}.my.salesforce.com/services/oauth2/token`);
    const { assertion = '', grant_type } = readForm();
    expect(grant_type).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    const { payload, protectedHeader } = await jwtVerify(assertion, rsa.publicKey, {
      audience,
      issuer: 'key-1',
      subject: 'ann@acme.example',
      currentDate: services.now(),
    });
    expect(protectedHeader.alg).toBe('RS256');
    expect(payload).not.toHaveProperty('scope');
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBeLessThanOrEqual(180);
  });

  test('requests a new token after half an hour, because responses contain no lifetime', async () => {
    let count = 0;
    respond = ({ method }) => ({
      status: 200,
      body: method === 'POST' ? { access_token: `session-${++count}` } : {},
    });
    const { sendRequest } = await connect(createAccount('acme'));
    clock.aheadMs = 20 * MINUTE_MS;
    await sendRequest();
    expect(requests.at(-1)?.headers.authorization).toBe('Bearer session-1');
    clock.aheadMs = 31 * MINUTE_MS;
    await sendRequest();
    expect(requests.at(-1)?.headers.authorization).toBe('Bearer session-2');
  });

  test('refuses an EC key, which Salesforce does not accept', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    expect(await listProblems(createAccount('acme', toPem(privateKey)))).toEqual([
      'must be a private RSA key without a password, as PEM in base64.',
    ]);
  });
});

describe('googleWorkspaceDelegation', () => {
  const file = { client_email: 'robot@acme.example', private_key: toPem(rsa.privateKey) };
  const createAccount = (scopes: unknown) => ({
    provider: 'googleWorkspaceDelegation',
    providerMetadata: { userEmail: { value: 'ann@acme.example' } },
    customAuth: { serviceAccountKey: toBase64(JSON.stringify(file)), scopes },
  });

  test.each([
    [['calendar', 'contacts']],
    ['calendar, contacts'],
    ['calendar contacts'],
  ])('acts for the user with the scopes %j', async (scopes) => {
    await connect(createAccount(scopes));
    expect(decodeJwt(readForm().assertion ?? '')).toMatchObject({
      iss: 'robot@acme.example',
      sub: 'ann@acme.example',
      scope: 'calendar contacts',
      aud: 'https://oauth2.googleapis.com/token',
    });
  });
});

describe('snowflake', () => {
  const account = {
    provider: 'snowflake',
    providerWorkspaceRef: 'xy12345.eu-central-1',
    customAuth: { username: 'ann', privateKey: toBase64(toPem(rsa.privateKey)) },
  };
  const readToken = () =>
    requests.at(-1)?.headers.authorization?.toString().slice('Bearer '.length);

  test('signs the token of the user, and sends it with its type', async () => {
    const { sendRequest } = await connect(account);
    expect(await sendRequest()).toBe(200);
    const { headers, url } = requests.at(-1) ?? {};
    expect(url).toBe('https://xy12345.eu-central-1.snowflakecomputing.com/records');
    expect(headers?.['x-snowflake-authorization-token-type']).toBe('KEYPAIR_JWT');
    const der = rsa.publicKey.export({ type: 'spki', format: 'der' });
    const token = readToken() ?? '';
    expect(decodeProtectedHeader(token).alg).toBe('RS256');
    const { payload } = await jwtVerify(token, rsa.publicKey, { currentDate: services.now() });
    expect(payload).toMatchObject({
      iss: `XY12345.ANN.SHA256:${hash('sha256', der, 'base64')}`,
      sub: 'XY12345.ANN',
    });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(3_600);
  });

  test('signs a new token before the old one expires', async () => {
    const { sendRequest } = await connect(account);
    await sendRequest();
    const firstToken = readToken();
    clock.aheadMs = HOUR_MS;
    await sendRequest();
    expect(readToken()).not.toBe(firstToken);
  });

  test('refuses a key that Snowflake rejects', async () => {
    respond = () => ({ status: 401, body: { message: 'JWT token is invalid.' } });
    const tenant = await app.createTenant();
    const variables = createConnectionVariables(tenant, account);
    const { code, problem } = await tenant.expectRefusal(GENERATE_CONNECTION, variables);
    expect(code).toBe('UNPROCESSABLE');
    expect(problem.detail).toContain('JWT token is invalid.');
  });
});

describe('redtail', () => {
  const account = {
    provider: 'redtail',
    providerMetadata: { region: 'smf.crm3' },
    customAuth: { apiKey: 'vendor-key', username: 'ann', password: 'secret-1' },
  };
  const LOGIN = `Basic ${toBase64('vendor-key:ann:secret-1')}`;
  const ROOT = 'https://smf.crm3.redtailtechnology.com/api/public/v1';

  /** Issues a new key at each login. Requests are accepted with the newest key only. */
  function createVendor() {
    const vendor = { key: 0, isPasswordValid: true };
    respond = ({ headers }) => {
      if (headers.authorization === LOGIN) {
        if (!vendor.isPasswordValid) return { status: 401, body: { message: 'Unknown user' } };
        vendor.key += 1;
        return { status: 200, body: { authenticated_user: { user_key: `user-${vendor.key}` } } };
      }
      const isValid =
        headers.authorization === `Userkeyauth ${toBase64(`vendor-key:user-${vendor.key}`)}`;
      return { status: isValid ? 200 : 401, body: {} };
    };
    return vendor;
  }

  test('exchanges the password for a key of the user, which requests carry', async () => {
    createVendor();
    const { sendRequest } = await connect(account);
    expect(requests).toMatchObject([{ method: 'GET', url: `${ROOT}/authentication` }]);
    expect(requests[0]).not.toHaveProperty('headers.content-type');
    clock.aheadMs = 24 * HOUR_MS;
    expect(await sendRequest()).toBe(200);
    expect(requests.map(({ url }) => url)).toEqual([`${ROOT}/authentication`, `${ROOT}/records`]);
  });

  test('logs in again if the key is rejected, and fails permanently with the password', async () => {
    const vendor = createVendor();
    const { sendRequest, readConnection } = await connect(account);
    clock.aheadMs = HOUR_MS;
    vendor.key += 1;
    expect(await sendRequest()).toBe(200);
    clock.aheadMs = 2 * HOUR_MS;
    vendor.key += 1;
    vendor.isPasswordValid = false;
    await expect(sendRequest()).rejects.toThrow('Unknown user');
    clock.aheadMs = 3 * HOUR_MS;
    await expect(sendRequest()).rejects.toThrow('Unknown user');
    expect((await readConnection()).status).toBe('BAD_CREDENTIALS');
  });

  test('refuses a wrong password without its value', async () => {
    createVendor().isPasswordValid = false;
    const tenant = await app.createTenant();
    const variables = createConnectionVariables(tenant, account);
    const { code, problem } = await tenant.expectRefusal(GENERATE_CONNECTION, variables);
    expect(code).toBe('UNPROCESSABLE');
    expect(JSON.stringify(problem)).not.toContain('secret-1');
  });
});
