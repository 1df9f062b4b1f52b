/**
 * Replays requests of the reference API's UI library with a `frontend` key and with an end user's token.
 *
 * @module-tag all/walk
 */
import { afterAll, describe, expect, test } from 'vitest';
import { createHubspotProvider } from '../../src/providers/hubspot/hubspot-provider.ts';
import { createSalesforceProvider } from '../../src/providers/salesforce/salesforce-provider.ts';
import { createSandboxProvider } from '../../src/providers/sandbox/sandbox-provider.ts';
import { getSharedApp } from '../support/app.ts';
import { createJwtIssuer, createSessionToken } from '../support/fixtures/end-users.ts';
import { createIntegrationContent, insertDestination } from '../support/fixtures/integrations.ts';
import { createProviderApp } from '../support/providers/oauth.ts';
import { createOAuthBrowser } from '../support/providers/oauth-browser.ts';
import { startProviderServer } from '../support/providers/provider-server.ts';
import { createRestTenant, type RestTenant } from '../support/rest/rest-client.ts';
import { createRestIntegration } from '../support/rest/rest-installation.ts';
import {
  keySteps,
  listProviderApps,
  oauthSteps,
  type Popup,
  type RecordedRequest,
  refuseProviderApps,
  salesforceSteps,
  stepsWithoutChoices,
  type UserStep,
} from './ui-library-requests.ts';

const PAGE_ORIGIN = 'https://builder.test';
const LIBRARY_HEADERS = { 'x-amp-client': 'react', 'x-amp-client-version': '2.16.1' };

/** A stand-in for HubSpot that grants tokens for any code. */
const hubspot = await startProviderServer(({ path }) => ({
  status: 200,
  body: path.endsWith('/token')
    ? { access_token: 'at', refresh_token: 'rt', expires_in: 1_800 }
    : { portalId: 4_711 },
}));
afterAll(() => hubspot[Symbol.asyncDispose]());

/** A stand-in for Salesforce's shared login, whose tokens belong to the org acme. */
const salesforceLogin = await startProviderServer(() => ({
  status: 200,
  body: {
    access_token: 'at',
    refresh_token: 'rt',
    id: 'https://login.salesforce.com/id/00DA/005A',
    instance_url: 'https://acme.my.salesforce.com',
  },
}));
afterAll(() => salesforceLogin[Symbol.asyncDispose]());

/** Salesforce without the request for the user, which would go to the real org. */
function createSalesforce() {
  const provider = createSalesforceProvider({ loginUrl: salesforceLogin.url });
  const { identify: _identify, ...capabilities } = provider.capabilities;
  return { ...provider, capabilities };
}

const app = await getSharedApp({
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  providers: [
    createHubspotProvider({ baseUrl: hubspot.url }),
    createSalesforce(),
    createSandboxProvider(() => app.app.sandbox.url),
  ],
});

const contactsContent = createIntegrationContent('crm', {
  read: {
    objects: [
      {
        objectName: 'contacts',
        destination: 'records',
        schedule: '*/10 * * * *',
        requiredFields: [
          { fieldName: 'email' },
          { mapToName: 'owner', mapToDisplayName: 'Owner', prompt: 'Who owns it?' },
        ],
        optionalFields: [{ fieldName: 'phone' }],
      },
    ],
  },
  write: { objects: [{ objectName: 'deals' }] },
});

const proxyContent = createIntegrationContent('crm', { read: undefined, proxy: { enabled: true } });

/** Creates a project that allows the page, with this integration, a destination and an OAuth app at HubSpot. */
async function createLibraryTenant(content: typeof contactsContent): Promise<RestTenant> {
  const rest = await createRestTenant(app);
  const project = { allowedOrigins: [PAGE_ORIGIN] };
  await rest.patch(rest.base, { updateMask: ['allowedOrigins'], project });
  await insertDestination(app, rest.tenant);
  await createRestIntegration(rest, content);
  await createProviderApp(rest.tenant, { provider: 'hubspot', scopes: ['oauth'] });
  await createProviderApp(rest.tenant, { provider: 'salesforce', scopes: [] });
  return rest;
}

type Headers = Record<string, string>;

const createKeyHeaders = async ({ tenant }: RestTenant): Promise<Headers> => ({
  'x-api-key': await tenant.createKey('frontend'),
});

const createSessionHeaders = async ({ tenant }: RestTenant): Promise<Headers> => ({
  authorization: `Bearer ${(await createSessionToken(tenant)).token}`,
});

const createJwtHeaders = async ({ tenant }: RestTenant): Promise<Headers> => ({
  authorization: `Bearer ${await (await createJwtIssuer(tenant)).sign()}`,
});

const PAGE_KEY = 'a frontend key';
const callers = {
  [PAGE_KEY]: createKeyHeaders,
  "an end user's session token": createSessionHeaders,
  "an end user's JWT": createJwtHeaders,
};

type KnownValues = Record<string, unknown>;

/** Replaces each `{name}` by its known value. A string that consists of one `{name}` becomes the value itself. */
function fillValues<T>(recorded: T, knownValues: KnownValues): T;
function fillValues(recorded: unknown, knownValues: KnownValues): unknown {
  if (typeof recorded === 'string') {
    const [, name] = /^\{(\w+)\}$/.exec(recorded) ?? [];
    if (name !== undefined) return knownValues[name];
    return recorded.replace(/\{(\w+)\}/g, (_, part) => String(knownValues[part]));
  }
  if (Array.isArray(recorded)) return recorded.map((item) => fillValues(item, knownValues));
  // Matchers of expect are class instances and must stay unchanged.
  if (typeof recorded !== 'object' || recorded?.constructor !== Object) return recorded;
  return Object.fromEntries(
    Object.entries(recorded).map(([name, value]) => [name, fillValues(value, knownValues)]),
  );
}

function getValueAt(body: unknown, path: readonly (string | number)[]): unknown {
  // biome-ignore lint/suspicious/noExplicitAny: the table says what the response has
  return path.reduce((value: any, name) => value[name], body);
}

async function sendRecorded(
  recorded: RecordedRequest,
  knownValues: KnownValues,
  headers: Headers,
): Promise<void> {
  const { keeps = {}, ...request } = recorded;
  const { method, path, query, body, status, reads } = fillValues(request, knownValues);
  const search = query ? `?${new URLSearchParams(query)}` : '';
  const response = await app.fetch(`/v1${path}${search}`, {
    method,
    headers: {
      origin: PAGE_ORIGIN,
      ...LIBRARY_HEADERS,
      ...headers,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const isJson = response.headers.get('content-type')?.includes('json');
  const received = isJson ? await response.json() : await response.text();
  const requestLine = `${method} ${path}`;
  expect({ requestLine, status: response.status, received }).toMatchObject({
    requestLine,
    status,
    ...(reads !== undefined && { received: reads }),
  });
  expect(response.headers.get('access-control-allow-origin')).toBe(PAGE_ORIGIN);
  for (const [name, member] of Object.entries(keeps)) {
    knownValues[name] = getValueAt(received, member);
  }
}

/** Returns the JSON that a page of the gateway contains for its script. */
async function readPageData(page: Response) {
  const [, data = ''] =
    /<script type="application\/json" id="data">(.*?)<\/script>/.exec(await page.text()) ?? [];
  return JSON.parse(data);
}

/**
 * Opens the popup, and follows it from the provider to the gateway's callback. The first page must continue without a
 * click, and the page of the callback must post the message to the origin of the page that opened the popup.
 */
async function usePopup(
  { opens, person, host, message }: Popup,
  knownValues: KnownValues,
): Promise<void> {
  const browser = createOAuthBrowser(app);
  const headers = { referer: `${PAGE_ORIGIN}/`, 'sec-fetch-site': 'cross-site' };
  const link = await browser.send(knownValues[opens] as string, { headers });
  const url = new URL((await readPageData(link)).consentUrl);
  if (host !== undefined) expect(url.host).toBe(fillValues(host, knownValues));
  const callback = new URL(url.searchParams.get('redirect_uri') as string);
  const state = url.searchParams.get('state') as string;
  callback.searchParams.set('state', state);
  if (person === 'approves') callback.searchParams.set('code', 'c');
  else callback.searchParams.set('error', 'access_denied');
  const posted = await readPageData(await browser.send(callback));
  expect(posted.message).toMatchObject(fillValues(message, knownValues));
  expect(posted.origins).toContain(PAGE_ORIGIN);
}

async function replaySteps(steps: readonly UserStep[], headers: Headers, knownValues: KnownValues) {
  for (const { title, requests } of steps) {
    for (const recorded of requests) {
      try {
        await ('opens' in recorded
          ? usePopup(recorded, knownValues)
          : sendRecorded(recorded, knownValues, headers));
      } catch (cause) {
        throw new Error(`The step "${title}" failed: ${(cause as Error).message}`, { cause });
      }
    }
  }
}

describe.each(Object.entries(callers))('with %s', (_, createHeaders) => {
  test.each([
    {
      title: 'connects by key, installs, changes the mapping, uninstalls and disconnects',
      content: contactsContent,
      steps: keySteps,
    },
    {
      title: 'installs an integration without choices',
      content: proxyContent,
      steps: stepsWithoutChoices,
    },
    {
      title: 'connects by OAuth, declines, approves, re-authenticates and disconnects',
      content: contactsContent,
      steps: oauthSteps,
    },
    {
      title: 'connects Salesforce without a workspace, and re-authenticates at the org',
      content: contactsContent,
      steps: salesforceSteps,
    },
  ])('$title', async ({ content, steps }) => {
    const rest = await createLibraryTenant(content);
    const headers = await createHeaders(rest);
    const loginHost = new URL(salesforceLogin.url).host;
    await replaySteps(steps, headers, { project: rest.tenant.projectName, loginHost });
  });
});

test.each(
  Object.entries(callers),
)('lists provider apps only with a frontend key: %s', async (name, createHeaders) => {
  const rest = await createLibraryTenant(contactsContent);
  const knownValues = { project: rest.tenant.projectName };
  const request = name === PAGE_KEY ? listProviderApps : refuseProviderApps;
  await sendRecorded(request, knownValues, await createHeaders(rest));
});

test("lets pages send the library's own headers", async () => {
  await createLibraryTenant(contactsContent);
  const expectedHeaders = [
    'authorization',
    'content-type',
    'x-api-key',
    ...Object.keys(LIBRARY_HEADERS),
  ];
  const preflight = await app.fetch('/v1/oauth-connect', {
    method: 'OPTIONS',
    headers: {
      origin: PAGE_ORIGIN,
      'access-control-request-method': 'POST',
      'access-control-request-headers': expectedHeaders.join(','),
    },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get('access-control-allow-origin')).toBe(PAGE_ORIGIN);
  expect(preflight.headers.get('access-control-allow-headers')).toBe(expectedHeaders.join(','));
});
