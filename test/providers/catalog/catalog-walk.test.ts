/**
 * Connects to each provider of the catalog and forwards a request. A stand-in for the network
 * responds, and records where each request goes and what it carries. The titles of the tests are a table of the entries and
 * their schemes.
 *
 * @module-tag all/walk
 */
import { generateKeyPairSync } from 'node:crypto';
import { Readable } from 'node:stream';
import { UnsecuredJWT } from 'jose';
import { beforeEach, expect, test, vi } from 'vitest';
import { openProviderSessionOf } from '../../../src/domain/connections/connection/connection-session.ts';
import type { OutboundRequest } from '../../../src/outbound/client.ts';
import type { StreamedRequest } from '../../../src/outbound/streamed-exchange.ts';
import { CATALOG } from '../../../src/providers/catalog/all-entries.ts';
import { isConsentScheme, type Provider } from '../../../src/providers/contract.ts';
import { createHubspotProvider } from '../../../src/providers/hubspot/hubspot-provider.ts';
import type { AssertionSettings, InputGrant } from '../../../src/providers/input-grants.ts';
import {
  createSalesforceJwtProvider,
  createSalesforceProvider,
} from '../../../src/providers/salesforce/salesforce-provider.ts';
import { HOUR_MS } from '../../../src/work/durations.ts';
import { getSharedApp, HIGH_RATE_LIMITS } from '../../support/app.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import { createAheadClock } from '../../support/process/ahead-clock.ts';
import { CLIENT, createProviderApp, getConnection } from '../../support/providers/oauth.ts';
import { consent } from '../../support/wire/oauth-entries.ts';

const clock = createAheadClock();
const providers = [
  createHubspotProvider(),
  createSalesforceProvider(),
  createSalesforceJwtProvider(),
  ...CATALOG,
];
const app = await getSharedApp({
  providers,
  env: HIGH_RATE_LIMITS,
  now: clock.now,
});
const { services } = app.app;
const tenant = await app.createTenant();

/** The addresses in the token responses of providers that state the account's address there. */
const ADDRESSES: Record<string, string> = {
  gong: 'https://acme.api.gong.io',
  zoho: 'https://www.zohoapis.eu',
};

/** The id token of a sign-in in the organization `acme`. */
const ID_TOKEN = new UnsecuredJWT({ sub: 'ann', tid: 'acme' }).encode();
/** The login of the provider whose inputs are exchanged for a key of the user. */
const LOGIN = `Basic ${Buffer.from('apiKey-1:username-1:password-1').toString('base64')}`;

const requests: (OutboundRequest | StreamedRequest)[] = [];
let tokenCount = 0;

/** Responds to requests for tokens with a new token, and to others with an empty object. */
async function respond(request: OutboundRequest) {
  requests.push(request);
  const isLogin = request.headers.authorization === LOGIN;
  const isTokenRequest = isLogin || readForm(request).has('grant_type');
  tokenCount += isTokenRequest ? 1 : 0;
  const body = isTokenRequest
    ? {
        access_token: `token-${tokenCount}`,
        refresh_token: `refresh-${tokenCount}`,
        expires_in: 3_600,
        id_token: ID_TOKEN,
        authenticated_user: { user_key: `token-${tokenCount}` },
        api_base_url_for_customer: ADDRESSES.gong,
        api_domain: ADDRESSES.zoho,
      }
    : {};
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(body)),
    truncated: false,
  };
}

beforeEach(() => {
  requests.length = 0;
  clock.aheadMs = 0;
  const { outbound } = services.providerAccess;
  vi.spyOn(outbound, 'send').mockImplementation(respond);
  vi.spyOn(outbound, 'stream').mockImplementation(async (request) => {
    requests.push(request);
    return { status: 200, headers: {}, body: Readable.from([]), closed: Promise.resolve() };
  });
});

/** Returns the fields of a POST, whose body is a form or JSON. */
function readForm({ method, headers, body }: OutboundRequest | StreamedRequest): URLSearchParams {
  if (method !== 'POST') return new URLSearchParams();
  const isJson = headers['content-type'] === 'application/json';
  return new URLSearchParams(isJson ? JSON.parse(String(body)) : String(body));
}

/** Returns a valid value of each variable. */
function createValues({ name, hosts = {}, hasCustomerHost, baseUrl, inputs = [] }: Provider) {
  const workspace = hasCustomerHost
    ? `${baseUrl.startsWith('{{') ? 'https://' : ''}${name.toLowerCase()}.acme.example`
    : 'acme';
  const values = inputs.map((input) => [input.name, hosts[input.name]?.[0] ?? 'acme-1'] as const);
  return new Map([['workspace', workspace], ...values]);
}

function fill(template: string, values: ReadonlyMap<string, string>): string {
  return template.replaceAll(/\{\{(\w+)\}\}/g, (_all, name) => values.get(name) ?? '');
}

function createAccount(entry: Provider, values: ReadonlyMap<string, string>) {
  const { name, workspaceRequired, inputs = [] } = entry;
  return {
    provider: name,
    consumerRef: name,
    ...(workspaceRequired && { providerWorkspaceRef: values.get('workspace') }),
    providerMetadata: Object.fromEntries(
      inputs.map((input) => [input.name, values.get(input.name)]),
    ),
  };
}

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2_048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const KEY_FILE = JSON.stringify({ client_email: 'robot@acme.example', private_key: privateKey });

/** Returns the inputs of an assertion that are no plain text. */
function createKey({ assertion: { key, keyFormat, scopes } }: { assertion: AssertionSettings }) {
  const file = keyFormat === 'pem' ? privateKey : KEY_FILE;
  return {
    [key]: Buffer.from(file).toString('base64'),
    ...(scopes && { [scopes]: ['read', 'write'] }),
  };
}

/** Returns the header that must carry the token of a grant. */
function describeToken({ type }: InputGrant) {
  if (type === 'SIGNED_TOKEN') return expect.stringMatching(/^Bearer [\w-]+\.[\w-]+\.[\w-]+$/);
  if (type !== 'LOGIN') return `Bearer token-${tokenCount}`;
  return `Userkeyauth ${Buffer.from(`apiKey-1:token-${tokenCount}`).toString('base64')}`;
}

/** Checks the request by which an expired token was replaced. */
function expectGrantRequest(
  grant: InputGrant,
  values: ReadonlyMap<string, string>,
  request: OutboundRequest | StreamedRequest | undefined,
) {
  // The gateway signs the token itself, and the key of a login does not expire.
  if (grant.type === 'SIGNED_TOKEN' || grant.type === 'LOGIN') return;
  expect(request?.url).toBe(fill(grant.tokenUrl, values));
  const grantType =
    grant.type === 'JWT_BEARER'
      ? 'urn:ietf:params:oauth:grant-type:jwt-bearer'
      : 'client_credentials';
  expect(request && readForm(request).get('grant_type')).toBe(grantType);
}

const BASIC_CLIENT = `Basic ${Buffer.from(`${CLIENT.clientId}:${CLIENT.clientSecret}`).toString('base64')}`;

/** Checks the URL and the client of a request for a token. */
function expectTokenRequest(
  { oauth2 }: Provider,
  values: ReadonlyMap<string, string>,
  request: OutboundRequest | StreamedRequest | undefined,
  form: object,
) {
  expect(request?.url).toBe(fill(oauth2?.tokenUrl ?? '', values));
  const isBasic = oauth2?.clientAuthentication === 'basic';
  expect(request?.headers.authorization).toBe(isBasic ? BASIC_CLIENT : undefined);
  expect(Object.fromEntries(request ? readForm(request) : [])).toMatchObject({
    ...form,
    ...(!isBasic && { client_id: CLIENT.clientId, client_secret: CLIENT.clientSecret }),
  });
}

/** Connects with a consent, and returns the id of the connection. */
async function connectByConsent(entry: Provider, values: ReadonlyMap<string, string>) {
  const { name, oauth2, authSchemes, hasCustomerHost } = entry;
  await createProviderApp(tenant, {
    provider: name,
    ...(hasCustomerHost && {
      metadata: { providerParams: { workspaceHost: values.get('workspace') } },
    }),
  });
  const input = { ...createAccount(entry, values), scopes: ['read', 'write'] };
  const { consentUrl } = await consent(app, tenant, input);
  const { adminConsent } = oauth2 ?? {};
  expect(consentUrl.origin + consentUrl.pathname).toBe(
    new URL(fill(adminConsent?.url ?? oauth2?.authorizeUrl ?? '', values)).href,
  );
  expect(Object.fromEntries(consentUrl.searchParams)).toMatchObject({
    ...(!adminConsent && { response_type: 'code' }),
    client_id: CLIENT.clientId,
    scope: adminConsent?.scope ?? ['read', 'write'].join(oauth2?.scopeSeparator ?? ' '),
    ...oauth2?.authorizeParams,
  });
  const usesPkce = authSchemes.includes('OAUTH2_AUTHORIZATION_CODE_PKCE') && !adminConsent;
  expect(consentUrl.searchParams.has('code_challenge')).toBe(usesPkce);
  const tokenRequest = requests.find((request) => readForm(request).has('code'));
  expectTokenRequest(entry, values, tokenRequest, { grant_type: 'authorization_code' });
  const connection = await services.database.prisma.connection.findFirstOrThrow({
    where: { projectId: tenant.projectId, provider: name },
  });
  return connection.id;
}

function createCredentials({ authSchemes: [scheme], custom }: Provider) {
  const person = { username: 'ann', password: 'secret-1' };
  if (scheme === 'API_KEY') return { apiKey: 'key-1' };
  if (scheme === 'BASIC') return { basicAuth: person };
  if (scheme === 'OAUTH2_CLIENT_CREDENTIALS') return { oauth2ClientCredentials: CLIENT };
  if (scheme === 'OAUTH2_PASSWORD') return { oauth2PasswordCredentials: { ...CLIENT, ...person } };
  const inputs = custom?.inputs ?? [];
  const values = Object.fromEntries(inputs.map(({ name }) => [name, `${name}-1`]));
  const grant = custom?.grant;
  return { customAuth: { ...values, ...(grant && 'assertion' in grant && createKey(grant)) } };
}

/** Returns the headers and the query that must authenticate a request. */
function describeCredentials({ authSchemes: [scheme], ...provider }: Provider) {
  const { apiKey, custom, oauth2, signature } = provider;
  if (oauth2) {
    const { tokenAttachment } = oauth2;
    const header = tokenAttachment?.in === 'header' ? tokenAttachment.name : 'authorization';
    const prefix = tokenAttachment ? '' : 'Bearer ';
    return { [header.toLowerCase()]: `${prefix}token-${tokenCount}` };
  }
  if (signature)
    return { authorization: expect.stringMatching(/^AWS4-HMAC-SHA256 Credential=ann/) };
  if (custom?.grant) return { authorization: describeToken(custom.grant) };
  if (scheme === 'BASIC') {
    return { authorization: `Basic ${Buffer.from('ann:secret-1').toString('base64')}` };
  }
  if (apiKey?.in === 'query') return {};
  if (apiKey) return { [apiKey.name.toLowerCase()]: `${apiKey.valuePrefix ?? ''}key-1` };
  const values = new Map(custom?.inputs.map(({ name }) => [name, `${name}-1`]));
  const headers = custom?.headers ?? [];
  return Object.fromEntries(
    headers.map((header) => [header.name.toLowerCase(), fill(header.valueTemplate, values)]),
  );
}

test.each([
  ['snapchatAds', '/v1/me', { me: { organization_id: 'org-1', id: 'ann-1' } }, 'org-1', 'ann-1'],
  ['goTo', '/admin/rest/v1/me', { accountKey: 8_887 }, '8887', null],
  [
    'gusto',
    '/v1/token_info',
    { resource: { uuid: 'company-1' }, resource_owner: { uuid: 'ann-1' } },
    'company-1',
    'ann-1',
  ],
])('finds the account of %s after the consent', async (name, path, body, workspace, person) => {
  const entry = providers.find((provider) => provider.name === name) as Provider;
  vi.spyOn(services.providerAccess.outbound, 'send').mockImplementation(async (request) => {
    const response = await respond(request);
    const isIdentity = request.url === entry.baseUrl + path;
    return isIdentity ? { ...response, body: Buffer.from(JSON.stringify(body)) } : response;
  });
  const consumer = await app.createTenant();
  await createProviderApp(consumer, { provider: name });
  await consent(app, consumer, { ...createAccount(entry, new Map()), scopes: ['read'] });
  const connection = await services.database.prisma.connection.findFirstOrThrow({
    where: { projectId: consumer.projectId },
  });
  expect(connection).toMatchObject({
    providerWorkspaceRef: workspace,
    providerConsumerRef: person,
  });
});

test('walks over at least 225 providers', () => {
  expect(providers.length).toBeGreaterThanOrEqual(225);
});

test.each(
  providers.map((entry) => ({ name: entry.name, scheme: entry.authSchemes[0], entry })),
)('$name ($scheme) connects, refreshes, and sends a request to its host', async ({ entry }) => {
  const { name, baseUrl, headers = {}, healthCheck, apiKey, oauth2, custom } = entry;
  const values = createValues(entry);
  const isConsented = entry.authSchemes.some(isConsentScheme);
  const connectionId = isConsented
    ? await connectByConsent(entry, values)
    : (
        await generateConnection(tenant, {
          ...createAccount(entry, values),
          ...createCredentials(entry),
        })
      ).id;
  const address = ADDRESSES[name];
  if (address) values.set('workspace', address);

  if (oauth2 || custom?.grant) {
    clock.aheadMs = 3 * HOUR_MS;
    requests.length = 0;
  }
  const base = fill(baseUrl, values);
  const key = apiKey?.in === 'query' ? `${apiKey.name}=key-1` : '';
  if (healthCheck !== undefined && !oauth2 && !custom?.grant) {
    const path = typeof healthCheck === 'string' ? healthCheck : healthCheck.path;
    const url = path.startsWith('https:') ? path : `${base}${path}`;
    expect(requests.filter((request) => request.url.startsWith(url))).not.toEqual([]);
  }
  const session = await openProviderSessionOf(services, await getConnection(app, connectionId));
  await session.forward({
    method: 'GET',
    target: '/walk?limit=1',
    headers: { authorization: 'for the gateway' },
    body: null,
    signal: new AbortController().signal,
  });
  const forwarded = requests.at(-1);
  expect(forwarded?.url).toBe(`${base}/walk?limit=1${key && `&${key}`}`);
  const filled = Object.entries(headers).map(([header, template]) => [
    header.toLowerCase(),
    fill(template, values),
  ]);
  expect(forwarded?.headers).toMatchObject({
    ...describeCredentials(entry),
    ...Object.fromEntries(filled),
  });
  if (custom?.grant) expectGrantRequest(custom.grant, values, requests.at(-2));
  if (!oauth2) return;
  if (oauth2.adminConsent) {
    const { tokenUrl, scope } = oauth2.adminConsent;
    const form = { grant_type: 'client_credentials', scope };
    const appGrant = { ...entry, oauth2: { ...oauth2, tokenUrl } };
    return expectTokenRequest(appGrant, values, requests.at(-2), form);
  }
  const grant = isConsented
    ? { grant_type: 'refresh_token', refresh_token: `refresh-${tokenCount - 1}` }
    : {
        grant_type: entry.authSchemes[0] === 'OAUTH2_PASSWORD' ? 'password' : 'client_credentials',
      };
  const { refreshUrl = oauth2.tokenUrl } = oauth2;
  const refreshing = { ...entry, oauth2: { ...oauth2, tokenUrl: refreshUrl } };
  expectTokenRequest(refreshing, values, requests.at(-2), grant);
});
