/** A builder signs in to the console with an OpenID provider, and attacks on the sign-in fail. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ServiceUnavailable } from '../../../src/kernel/errors.ts';
import { createTestApp, getSharedApp } from '../../support/app.ts';
import { type CookieJar, createCookieJar } from '../../support/wire/cookie-jar.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../../support/wire/openid-provider.ts';

const provider = await startOpenIdProvider();
afterAll(() => provider[Symbol.asyncDispose]());
let time = new Date();
/** If set, reading the database's clock throws this error. */
let outage: Error | null = null;
const unreachableProvider = {
  issuer: 'http://127.0.0.1:9',
  clientId: 'console',
  name: 'Unreachable ID',
};
const app = await getSharedApp({
  env: { SIGN_IN_ISSUERS: JSON.stringify([provider.settings, unreachableProvider]) },
  now() {
    if (outage) throw outage;
    return time;
  },
});
let url: string;
beforeAll(async () => {
  ({ url } = await app.app.start());
});

const { person } = provider;
afterEach(() => {
  time = new Date();
  Object.assign(provider, { person, denial: null, forgery: {}, hidesClaims: false });
});

const SAME_ORIGIN_HEADERS = { 'sec-fetch-site': 'same-origin' };
const createStartUrl = (query: Record<string, string> = {}) =>
  `${url}/sign-in?${new URLSearchParams({ issuer: provider.url, ...query })}`;

/** Reads `/session` as the console does. */
async function readSession(browser: CookieJar) {
  const response = await browser.fetch(`${url}/session`, { headers: SAME_ORIGIN_HEADERS });
  expect(response.status).toBe(200);
  return response.json();
}

/** Consents at the provider. Returns the URL of the callback, without opening it. */
async function consentAtProvider(
  browser: CookieJar,
  query: Record<string, string> = {},
): Promise<string> {
  const started = await browser.fetch(createStartUrl(query));
  expect(started.status).toBe(303);
  const consent = await browser.fetch(started.headers.get('location') ?? '');
  return consent.headers.get('location') ?? '';
}

/** Signs in, and returns the response of the callback. */
const signIn = async (browser: CookieJar) => browser.fetch(await consentAtProvider(browser));

const isSignedIn = async (browser: CookieJar) => (await readSession(browser)).session !== null;

test('signs in with an authorization code and PKCE, and returns to the page of the console', async () => {
  const browser = createCookieJar();
  const { issuers } = await readSession(browser);
  expect(issuers).toEqual([
    { name: 'Example ID', url: createStartUrl() },
    { name: 'Unreachable ID', url: `${url}/sign-in?issuer=http%3A%2F%2F127.0.0.1%3A9` },
  ]);
  const callback = await consentAtProvider(browser, { return: '/console/demo/events?type=A' });
  const finished = await browser.fetch(callback);
  expect([finished.status, finished.headers.get('location')]).toEqual([
    303,
    `${url}/console/demo/events?type=A`,
  ]);

  const [request] = provider.requests.slice(-1);
  expect(Object.fromEntries(request ?? [])).toMatchObject({
    response_type: 'code',
    client_id: 'console',
    scope: 'openid email profile',
    redirect_uri: `${url}/sign-in/callback`,
    code_challenge_method: 'S256',
  });
  const { session } = await readSession(browser);
  expect(session).toMatchObject({ name: 'Ada Lovelace', email: 'ada@example.com' });
  expect(session.secondsLeft).toBeGreaterThan(3_500);
  const response = await browser.fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { ...SAME_ORIGIN_HEADERS, 'content-type': 'application/json' },
    body: JSON.stringify({
      query: 'query Viewer { viewer { kind builder { idpProvider idpRef } } }',
    }),
  });
  expect(await response.json()).toEqual({
    data: { viewer: { kind: 'BUILDER', builder: { idpProvider: provider.url, idpRef: 'ada' } } },
  });
});

test('sets a cookie that neither scripts nor other sites can use', async () => {
  const browser = createCookieJar();
  await signIn(browser);
  const [cookie] = browser.received.slice(-1);
  expect(cookie).toMatch(
    /^console-session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
  );
});

test('takes the claims from UserInfo if the ID token has none', async () => {
  provider.person = { sub: 'grace', email: 'Grace@example.com', email_verified: true };
  provider.hidesClaims = true;
  const browser = createCookieJar();
  await signIn(browser);
  expect((await readSession(browser)).session.email).toBe('grace@example.com');
});

test('takes the address and its verification from the same source', async () => {
  provider.person = { sub: 'mallory', email: 'ada@example.com' };
  provider.hidesClaims = true;
  provider.forgery = { claims: { email_verified: true } };
  const browser = createCookieJar();
  await signIn(browser);
  expect((await readSession(browser)).session.email).toBeNull();
});

test('shows no email address that the provider has not verified', async () => {
  provider.person = { sub: 'eve', email: 'ada@example.com', email_verified: false };
  const browser = createCookieJar();
  await signIn(browser);
  expect((await readSession(browser)).session.email).toBeNull();
});

test('refuses a callback in another browser, and a repeated callback', async () => {
  const [victim, attacker] = [createCookieJar(), createCookieJar()];
  const callback = await consentAtProvider(attacker);
  const callbackResponse = await victim.fetch(callback);
  expect(callbackResponse.status).toBe(400);
  expect(await callbackResponse.text()).toContain('was begun in another browser');
  expect(await isSignedIn(victim)).toBe(false);

  expect((await attacker.fetch(callback)).status).toBe(303);
  const repeated = await attacker.fetch(callback);
  expect(repeated.status).toBe(400);
  expect(repeated.headers.get('content-type')).toContain('text/html');
});

test('refuses the state of another sign-in', async () => {
  const [victim, attacker] = [createCookieJar(), createCookieJar()];
  const callback = await consentAtProvider(attacker);
  await consentAtProvider(victim);
  const response = await victim.fetch(callback);
  expect(response.status).toBe(400);
  expect(await isSignedIn(victim)).toBe(false);
});

test('refuses a sign-in with a changed cookie, or after its time limit', async () => {
  const browser = createCookieJar();
  const callback = await consentAtProvider(browser);
  const cookies = browser.cookies.get(new URL(url).host) ?? new Map();
  const sealedState = cookies.get('console-sign-in') ?? '';
  const changed = `${sealedState.slice(0, -4)}AAAA`;
  const response = await browser.fetch(callback, {
    headers: { cookie: `console-sign-in=${changed}` },
  });
  expect(response.status).toBe(400);

  cookies.set('console-sign-in', sealedState);
  time = new Date(Date.now() + 11 * 60_000);
  expect((await browser.fetch(callback)).status).toBe(400);
  expect(await isSignedIn(browser)).toBe(false);
});

test.each([
  ['issuer', { claims: { iss: 'https://other.example' } }],
  ['audience', { claims: { aud: 'another client' } }],
  ['nonce', { claims: { nonce: 'of another sign-in' } }],
  ['expiry', { claims: { exp: Math.floor(Date.now() / 1_000) - 3_600 } }],
  ['time of issue', { claims: { iat: Math.floor(Date.now() / 1_000) + 3_600 } }],
  ['signature', { hasOtherKey: true }],
  ['subject', { claims: { sub: 'x'.repeat(300) } }],
])('rejects an ID token with a wrong %s', async (_check, forgery) => {
  provider.forgery = forgery;
  const browser = createCookieJar();
  const response = await signIn(browser);
  expect(response.status).toBe(400);
  expect(await response.text()).toContain('Example ID sent a response that is not valid.');
  expect(await isSignedIn(browser)).toBe(false);
});

test('shows a page if the provider refuses the sign-in or is unreachable', async () => {
  provider.denial = 'access_denied';
  const browser = createCookieJar();
  const response = await signIn(browser);
  expect(response.status).toBe(403);
  const page = await response.text();
  expect(page).toContain('Example ID did not sign you in: access_denied');
  expect(page).toContain(`href="${url}/console"`);

  const failedSignIn = await browser.fetch(`${url}/sign-in?issuer=${unreachableProvider.issuer}`);
  expect(failedSignIn.status).toBe(502);
  expect(await failedSignIn.text()).toContain('Unreachable ID did not respond.');
  const unknown = await browser.fetch(`${url}/sign-in?issuer=https://unknown.example`);
  expect(unknown.status).toBe(400);
});

test.each([
  'https://evil.example/console',
  '//evil.example/console',
  '/\\evil.example/console',
  '/v1/projects',
  '/consoles',
  `/console/${'x'.repeat(600)}`,
])('returns to the first page of the console instead of %s', async (target) => {
  const browser = createCookieJar();
  const response = await browser.fetch(await consentAtProvider(browser, { return: target }));
  expect(response.headers.get('location')).toBe(`${url}/console`);
});

test('ends the previous session of the browser', async () => {
  const browser = createCookieJar();
  const host = new URL(url).host;
  await signIn(browser);
  const firstSession = browser.cookies.get(host)?.get('console-session') ?? '';
  await signIn(browser);
  expect(browser.cookies.get(host)?.get('console-session')).not.toBe(firstSession);
  browser.cookies.get(host)?.set('console-session', firstSession);
  expect(await isSignedIn(browser)).toBe(false);
});

test('shows a page if the database is not available', async () => {
  const browser = createCookieJar();
  const callback = await consentAtProvider(browser);
  outage = new ServiceUnavailable('The database is not available.', {
    cause: null,
    retryAfterSeconds: 7,
  });
  const response = await browser.fetch(callback);
  outage = null;
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '7']);
  expect(await response.text()).toContain('The database is not available.');
  expect(await isSignedIn(browser)).toBe(false);
});

/** Signs in at a provider with these settings, and sends the console's sign-out. */
async function signOutAt(separateProvider: OpenIdProvider, settings: object) {
  await using separateApp = await createTestApp({
    env: { SIGN_IN_ISSUERS: JSON.stringify([{ ...separateProvider.settings, ...settings }]) },
  });
  const separateUrl = (await separateApp.app.start()).url;
  const browser = createCookieJar();
  let response = await browser.fetch(`${separateUrl}/sign-in?issuer=${separateProvider.url}`);
  while (response.status !== 200 && response.headers.get('location')) {
    response = await browser.fetch(response.headers.get('location') ?? '');
  }
  const init = { method: 'DELETE', headers: SAME_ORIGIN_HEADERS };
  const signedOut = await browser.fetch(`${separateUrl}/session`, init);
  const body = signedOut.status === 204 ? null : await signedOut.json();
  expect(await separateApp.app.services.database.prisma.consoleSession.count()).toBe(0);
  expect(browser.cookies.get(new URL(separateUrl).host)?.has('console-session')).toBe(false);
  return { separateUrl, body };
}

test('returns the sign-out URL of a provider with signOutAtProvider', async () => {
  const { separateUrl, body } = await signOutAt(provider, { signOutAtProvider: true });
  const query = new URLSearchParams({
    post_logout_redirect_uri: `${separateUrl}/console`,
    client_id: 'console',
  });
  expect(body).toEqual({ providerUrl: `${provider.url}/sign-out?${query}` });
});

test('ends only the session of the console if the provider supports no sign-out, or is not set to', async () => {
  await using limitedProvider = await startOpenIdProvider({ hasSignOut: false });
  const { body } = await signOutAt(limitedProvider, { signOutAtProvider: true });
  expect(body).toBeNull();
  expect((await signOutAt(provider, {})).body).toBeNull();
});
