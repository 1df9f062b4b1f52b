/** Only the console can use, extend and end a console session. */
import { beforeEach, expect, test } from 'vitest';
import { CONSOLE_SESSIONS_MAX } from '../../../src/domain/access/viewer/console-session.ts';
import { removeExpired } from '../../../src/domain/upkeep/retention.ts';
import { createTestApp, getSharedApp } from '../../support/app.ts';
import { openEventStream } from '../../support/event-stream.ts';
import { fetchFrom } from '../../support/graphql-client.ts';
import { stopRates } from '../../support/process/rates.ts';
import { openSocket } from '../../support/socket.ts';
import { type CookieJar, createCookieJar } from '../../support/wire/cookie-jar.ts';

const PASSWORD = 'correct horse battery';
const FOREIGN_ORIGIN = 'https://app.example';
const HOUR_MS = 3_600_000;

let elapsedMs = 0;
const app = await getSharedApp({
  env: {
    LOCAL_ISSUER_PASSWORD: PASSWORD,
    CORS_ORIGINS: FOREIGN_ORIGIN,
    WRONG_KEY_LIMIT_PER_MINUTE: '1000',
  },
  now: () => new Date(Date.now() + elapsedMs),
});
const { url } = await app.app.start();
const { host } = new URL(url);
beforeEach(() => {
  elapsedMs = 0;
});

const SAME_ORIGIN_HEADERS = { origin: url, 'sec-fetch-site': 'same-origin' };
const JSON_HEADERS = { 'content-type': 'application/json' };

function signInLocally(browser: CookieJar, input: object, headers: object = SAME_ORIGIN_HEADERS) {
  return browser.fetch(`${url}/sign-in/local`, {
    method: 'POST',
    headers: { ...JSON_HEADERS, ...headers },
    body: JSON.stringify(input),
  });
}

async function createSignedInBrowser(email = 'ada@example.com'): Promise<CookieJar> {
  const browser = createCookieJar();
  const response = await signInLocally(browser, { email, password: PASSWORD });
  expect(response.status).toBe(204);
  return browser;
}

const readCookie = (browser: CookieJar) =>
  `console-session=${browser.cookies.get(host)?.get('console-session')}`;

const readSession = async (browser: CookieJar) =>
  (await (await browser.fetch(`${url}/session`, { headers: SAME_ORIGIN_HEADERS })).json()).session;

async function post(
  browser: CookieJar,
  headers: object,
  query = 'query Viewer { viewer { kind } }',
) {
  const response = await browser.fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { ...JSON_HEADERS, ...headers },
    body: JSON.stringify({ query }),
  });
  return { status: response.status, ...(await response.json()) };
}

test('identifies the same builder as a token of the local issuer', async () => {
  const browser = await createSignedInBrowser('same@example.com');
  const token = await app.app.verifier.mint?.({
    sub: 'same@example.com',
    email: 'same@example.com',
    email_verified: true,
  });
  const query = 'query Viewer { viewer { kind expireTime builder { id } } }';
  const { data } = await post(browser, SAME_ORIGIN_HEADERS, query);
  const byToken = await app.createClient({ authorization: `Bearer ${token}` }).query(query);
  expect(data.viewer.builder).toEqual(byToken.viewer.builder);
  expect([data.viewer.kind, byToken.viewer.expireTime]).toEqual(['BUILDER', null]);
  const leftMs = Date.parse(data.viewer.expireTime) - Date.now();
  expect(leftMs).toBeGreaterThan(0.99 * HOUR_MS);
  expect(leftMs).toBeLessThanOrEqual(HOUR_MS);
});

test('allows a builder to create an org with a session', async () => {
  const browser = await createSignedInBrowser('maker@example.com');
  const { data } = await post(
    browser,
    SAME_ORIGIN_HEADERS,
    'mutation CreateOrg { createOrg(input: { label: "Made by a session" }) { org { label } } }',
  );
  expect(data.createOrg.org.label).toBe('Made by a session');
});

test.each([
  ['of another origin', { origin: FOREIGN_ORIGIN, 'sec-fetch-site': 'cross-site' }],
  ['of another origin in an older browser', { origin: FOREIGN_ORIGIN }],
  [
    'of another port of the host',
    { origin: 'http://127.0.0.1:3000', 'sec-fetch-site': 'same-site' },
  ],
  ['of an opaque origin', { origin: 'null' }],
  ['without an origin', {}],
  ['that a link or an image sends', { 'sec-fetch-site': 'cross-site' }],
  [
    'that the browser marks as cross-site despite its origin',
    { origin: url, 'sec-fetch-site': 'cross-site' },
  ],
])('refuses a POST request with the cookie %s', async (_sender, headers) => {
  const browser = await createSignedInBrowser();
  const { status, data, errors } = await post(browser, headers);
  expect([status, data ?? null, errors[0].extensions.code]).toEqual([403, null, 'FORBIDDEN']);
});

test('refuses event streams with the cookie from other origins', async () => {
  const browser = await createSignedInBrowser();
  const subscribe = (headers: Record<string, string>) =>
    browser.fetch(
      `${url}/graphql?query=${encodeURIComponent('subscription Operation { operation(id: "opr_1") { id } }')}`,
      { headers: { accept: 'text/event-stream', ...headers } },
    );
  const crossSite = await subscribe({ 'sec-fetch-site': 'cross-site' });
  expect(await crossSite.text()).toContain('FORBIDDEN');
  const sameOrigin = await subscribe({ 'sec-fetch-site': 'same-origin' });
  expect(await sameOrigin.text()).not.toContain('FORBIDDEN');
});

test("accepts the cookie for WebSockets of the console's pages, and refuses WebSockets of other origins", async () => {
  const browser = await createSignedInBrowser();
  const open = async (origin: string | undefined) => {
    const socket = await openSocket(url, {
      headers: { cookie: readCookie(browser) },
      ...(origin !== undefined && { origin }),
    });
    socket.send({ type: 'connection_init' });
    return socket;
  };
  const sameOrigin = await open(url);
  expect(await sameOrigin.next()).toEqual({ type: 'connection_ack' });
  sameOrigin.send({
    id: '1',
    type: 'subscribe',
    payload: { query: 'query Viewer { viewer { kind } }' },
  });
  expect((await sameOrigin.next()).payload).toEqual({ data: { viewer: { kind: 'BUILDER' } } });
  sameOrigin.socket.close();
  for (const origin of [FOREIGN_ORIGIN, undefined]) {
    const { code } = await (await open(origin)).closed;
    expect(code).toBe(4403);
  }
});

test('does not accept the cookie for REST', async () => {
  const browser = await createSignedInBrowser();
  const response = await browser.fetch(`${url}/v1/my-info`, { headers: SAME_ORIGIN_HEADERS });
  expect(response.status).toBe(401);
});

test('ignores the cookie if the request has another credential', async () => {
  const browser = await createSignedInBrowser();
  const { apiKey } = await app.createTenant();
  const { data } = await post(browser, { 'x-api-key': apiKey, origin: FOREIGN_ORIGIN });
  expect(data).toEqual({ viewer: { kind: 'API_KEY' } });
});

test.each([
  '',
  'x'.repeat(43),
  'short',
  '../../etc',
  `${'x'.repeat(42)}"`,
])('rejects the session %j', async (secret) => {
  const browser = createCookieJar();
  const { status, errors } = await post(browser, {
    ...SAME_ORIGIN_HEADERS,
    cookie: `console-session=${secret}`,
  });
  expect([status, errors[0].extensions.code]).toEqual([401, 'UNAUTHENTICATED']);
});

test('ends the session in all tabs when one tab signs out', async () => {
  const browser = await createSignedInBrowser('leaver@example.com');
  const cookie = readCookie(browser);
  const creation = await post(
    browser,
    SAME_ORIGIN_HEADERS,
    'mutation CreateOrg { createOrg(input: { label: "Left" }) { org { id } } }',
  );
  const orgId = creation.data.createOrg.org.id;
  const { data } = await post(
    browser,
    SAME_ORIGIN_HEADERS,
    `mutation CreateProject { createProject(input: { orgId: "${orgId}", name: "left-behind", appName: "L" }) { project { id } } }`,
  );
  const stream = await openEventStream(fetchFrom(url), {
    query:
      'subscription NotificationEvents($id: String!) { notificationEvents(projectIdOrName: $id) { cursor } }',
    variables: { id: data.createProject.project.id },
    headers: { ...SAME_ORIGIN_HEADERS, cookie },
  });
  expect(stream.status).toBe(200);

  const signOut = await browser.fetch(`${url}/session`, {
    method: 'DELETE',
    headers: SAME_ORIGIN_HEADERS,
  });
  expect(signOut.status).toBe(204);
  expect(browser.received.at(-1)).toMatch(/^console-session=; Path=\/; Max-Age=0; HttpOnly/);
  const otherTab = createCookieJar();
  expect((await post(otherTab, { ...SAME_ORIGIN_HEADERS, cookie })).status).toBe(401);
  const message = await stream.next();
  expect(message?.data.errors[0].extensions.code).toBe('UNAUTHENTICATED');
  stream.close();
});

test('lets only the pages of the console read, extend and end a session', async () => {
  const browser = await createSignedInBrowser();
  const foreignHeaders = { origin: FOREIGN_ORIGIN };
  const request = (method: string) =>
    browser.fetch(`${url}/session`, { method, headers: foreignHeaders });
  expect((await request('DELETE')).status).toBe(403);
  expect((await request('POST')).status).toBe(403);
  expect((await (await request('GET')).json()).session).toBeNull();
  const response = await signInLocally(
    browser,
    { email: 'eve@example.com', password: PASSWORD },
    foreignHeaders,
  );
  expect(response.status).toBe(403);
  expect((await readSession(browser)).email).toBe('ada@example.com');
});

test('ends a session after an hour without activity', async () => {
  const browser = await createSignedInBrowser();
  elapsedMs = 0.99 * HOUR_MS;
  expect((await post(browser, SAME_ORIGIN_HEADERS)).status).toBe(200);
  elapsedMs = 1.01 * HOUR_MS;
  expect((await post(browser, SAME_ORIGIN_HEADERS)).status).toBe(401);
  expect(await readSession(browser)).toBeNull();
  const extension = await browser.fetch(`${url}/session`, {
    method: 'POST',
    headers: SAME_ORIGIN_HEADERS,
  });
  expect(extension.status).toBe(401);
});

test('extends a session on activity, until twelve hours after the sign-in', async () => {
  const browser = await createSignedInBrowser();
  const extend = async () =>
    (
      await (
        await browser.fetch(`${url}/session`, { method: 'POST', headers: SAME_ORIGIN_HEADERS })
      ).json()
    ).session;
  for (let hours = 0.9; hours < 11; hours += 0.9) {
    elapsedMs = hours * HOUR_MS;
    expect(await extend()).toMatchObject({ isExtensible: true });
  }
  elapsedMs = 11.5 * HOUR_MS;
  const lastExtension = await extend();
  expect(lastExtension.isExtensible).toBe(false);
  expect(lastExtension.secondsLeft).toBeLessThanOrEqual(1_800);
  elapsedMs = 12.01 * HOUR_MS;
  expect((await post(browser, SAME_ORIGIN_HEADERS)).status).toBe(401);
});

test('deletes a session from the database after it has ended', async () => {
  await createSignedInBrowser('removed@example.com');
  const { prisma } = app.app.services.database;
  const countSessions = () =>
    prisma.consoleSession.count({ where: { builder: { idpRef: 'removed@example.com' } } });
  await removeExpired(app.app.services);
  expect(await countSessions()).toBe(1);
  elapsedMs = 2 * HOUR_MS;
  await removeExpired(app.app.services);
  expect(await countSessions()).toBe(0);
});

test('ends the oldest session of a builder who has too many', async () => {
  const email = 'many@example.com';
  const browsers = [await createSignedInBrowser(email)];
  for (let count = 1; count < CONSOLE_SESSIONS_MAX; count += 1) {
    elapsedMs += 1_000;
    browsers.push(await createSignedInBrowser(email));
  }
  expect(await readSession(browsers[0] as CookieJar)).not.toBeNull();
  elapsedMs += 1_000;
  await createSignedInBrowser(email);
  expect(await readSession(browsers[0] as CookieJar)).toBeNull();
  expect(await readSession(browsers[1] as CookieJar)).not.toBeNull();
});

test('stores no secret, and deletes the sessions of a deleted builder', async () => {
  const browser = await createSignedInBrowser('gone@example.com');
  const { prisma } = app.app.services.database;
  const rows = await prisma.consoleSession.findMany();
  expect(JSON.stringify(rows)).not.toContain(readCookie(browser).split('=')[1]);
  await prisma.builder.deleteMany({ where: { idpRef: 'gone@example.com' } });
  expect(await readSession(browser)).toBeNull();
});

test('rejects a wrong password and refuses invalid input, with reasons', async () => {
  const browser = createCookieJar();
  const wrongPassword = await signInLocally(browser, {
    email: 'ada@example.com',
    password: 'wrong',
  });
  expect([wrongPassword.status, (await wrongPassword.json()).detail]).toEqual([
    401,
    'The password is wrong.',
  ]);
  const invalid = await signInLocally(browser, { email: 'ada', password: PASSWORD, role: 'admin' });
  expect(invalid.status).toBe(400);
  const { issues } = await invalid.json();
  expect(issues.map(({ name }: { name: string }) => name).sort()).toEqual(['email', 'role']);
  expect(browser.received).toEqual([]);
});

test('rejects further passwords after too many wrong ones from an address', async () => {
  stopRates();
  await using limitedApp = await createTestApp({
    env: { LOCAL_ISSUER_PASSWORD: PASSWORD, WRONG_KEY_LIMIT_PER_MINUTE: '2' },
  });
  const started = await limitedApp.app.start();
  const signIn = async (password: string) => {
    const response = await fetch(`${started.url}/sign-in/local`, {
      method: 'POST',
      headers: { ...JSON_HEADERS, origin: started.url },
      body: JSON.stringify({ email: 'ada@example.com', password }),
    });
    return [response.status, response.headers.has('retry-after')];
  };
  expect(await signIn('wrong')).toEqual([401, false]);
  expect(await signIn('wrong')).toEqual([401, false]);
  expect(await signIn(PASSWORD)).toEqual([429, true]);
});

test('offers no sign-in at the local issuer if no password is set', async () => {
  await using appWithoutPassword = await createTestApp();
  const started = await appWithoutPassword.app.start();
  const headers = { ...JSON_HEADERS, origin: started.url };
  const init = {
    method: 'POST',
    headers,
    body: JSON.stringify({ email: 'a@b.example', password: '' }),
  };
  expect((await fetch(`${started.url}/sign-in/local`, init)).status).toBe(404);
  const session = await (await fetch(`${started.url}/session`, { headers })).json();
  expect(session).toEqual({ issuers: [], hasLocalSignIn: false, session: null });
});

test('uses a host-only cookie over HTTPS, and refuses other origins over HTTP', async () => {
  const publicUrl = 'https://gateway.example/below';
  const issuer = { issuer: 'https://id.example', clientId: 'console' };
  await using httpsApp = await createTestApp({
    env: {
      PUBLIC_URL: publicUrl,
      LOCAL_ISSUER_PASSWORD: PASSWORD,
      SIGN_IN_ISSUERS: JSON.stringify([issuer]),
    },
  });
  await httpsApp.app.start();
  const origin = 'https://gateway.example';
  const response = await httpsApp.fetch('/sign-in/local', {
    method: 'POST',
    headers: { ...JSON_HEADERS, origin },
    body: JSON.stringify({ email: 'ada@example.com', password: PASSWORD }),
  });
  const cookie = response.headers.get('set-cookie') ?? '';
  expect(cookie).toMatch(/^__Host-console-session=[\w-]{43}; Path=\/;.*; SameSite=Strict; Secure$/);
  const [, secret] = /=([\w-]+);/.exec(cookie) ?? [];
  const fetchSession = async (cookieName: string, sender: string) => {
    const headers = { origin: sender, cookie: `${cookieName}=${secret}` };
    return (await (await httpsApp.fetch('/session', { headers })).json()) as {
      session: object | null;
      issuers: object[];
    };
  };
  const sameOrigin = await fetchSession('__Host-console-session', origin);
  expect(sameOrigin.session).not.toBeNull();
  expect(sameOrigin.issuers).toEqual([
    { name: 'id.example', url: `${publicUrl}/sign-in?issuer=https%3A%2F%2Fid.example` },
  ]);
  expect((await fetchSession('console-session', origin)).session).toBeNull();
  expect(
    (await fetchSession('__Host-console-session', 'http://gateway.example')).session,
  ).toBeNull();
});
