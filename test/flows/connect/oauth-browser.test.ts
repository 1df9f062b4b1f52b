/**
 * A connect is bound to the browser that opens its link. If the builder's page did not open the link, a page
 * first shows the group and the consumer of the flow.
 */
import { expect, test } from 'vitest';
import { createTestApp, getSharedApp, type Tenant } from '../../support/app.ts';
import { recordEvents } from '../../support/fixtures/connections.ts';
import { createProviderApp, START_CONNECT } from '../../support/providers/oauth.ts';
import {
  createOAuthBrowser,
  type OAuthBrowser,
  submitConsent,
} from '../../support/providers/oauth-browser.ts';

const PAGE_ORIGIN = 'https://app.test';
const OPERATOR_ORIGIN = 'https://operator.test';
const app = await getSharedApp({
  env: { PUBLIC_URL: 'https://gateway.test/', CORS_ORIGINS: OPERATOR_ORIGIN },
});
const { prisma } = app.app.services.database;

const UPDATE_PROJECT = `mutation UpdateProject($input: UpdateProjectInput!) {
  updateProject(input: $input) { project { id } }
}`;

interface Fixture {
  tenant: Tenant;
  events: Awaited<ReturnType<typeof recordEvents>>;
  startFlow(overrides?: object): Promise<string>;
}

/**
 * Creates a project with a provider app and an allowed page. `startFlow` starts an OAuth flow for the group `mallory`,
 * and returns its link.
 */
async function createFixture(): Promise<Fixture> {
  const tenant = await app.createTenant();
  const projectIdOrName = tenant.projectId;
  await createProviderApp(tenant);
  await tenant.query(UPDATE_PROJECT, { input: { projectIdOrName, allowedOrigins: [PAGE_ORIGIN] } });
  const consumer = {
    projectIdOrName,
    provider: 'sandbox',
    groupRef: 'mallory',
    consumerRef: 'eve',
  };
  return {
    tenant,
    events: await recordEvents(app, tenant),
    startFlow: async (overrides) => {
      const input = { ...consumer, ...overrides };
      return (await tenant.query(START_CONNECT, { input })).startOAuthConnect.authorizeUrl;
    },
  };
}

const countConnections = ({ projectId }: Tenant) =>
  prisma.connection.count({ where: { projectId } });
const countPendingConnects = ({ projectId }: Tenant) =>
  prisma.oAuthConnect.count({ where: { projectId } });

async function expectRefused(fixture: Fixture, response: Response, reason: string): Promise<void> {
  expect(response.status).toBe(400);
  expect(await response.text()).toContain(reason);
  expect(await countConnections(fixture.tenant)).toBe(0);
  expect(await fixture.events()).toEqual([]);
}

const OTHER_BROWSER = 'you started in another browser';

test('stores nothing if another browser consents at the page that the link led to', async () => {
  const fixture = await createFixture();
  const attacker = createOAuthBrowser(app);
  const consentUrl = await attacker.open(await fixture.startFlow());
  const callback = await submitConsent(consentUrl);
  const victim = createOAuthBrowser(app);
  await expectRefused(fixture, await victim.send(callback), OTHER_BROWSER);
  // The victim's browser has a cookie from another flow.
  await victim.open(await fixture.startFlow());
  await expectRefused(fixture, await victim.send(callback), OTHER_BROWSER);
  const denied = new URL(callback);
  denied.searchParams.delete('code');
  denied.searchParams.set('error', 'access_denied');
  await expectRefused(fixture, await victim.send(denied), OTHER_BROWSER);
  // The refused callbacks left the state unused.
  expect((await attacker.send(callback)).status).toBe(200);
});

test("stores nothing if a browser returns with another connect's state or a forged proof", async () => {
  const fixture = await createFixture();
  const browser = createOAuthBrowser(app);
  const link = await fixture.startFlow();
  const callback = await submitConsent(await browser.open(link));
  const readState = (url: URL) => (url.searchParams.get('state') ?? '').split('.');
  const [project, handle, proof] = readState(await browser.open(link));
  const [, otherHandle] = readState(await browser.open(await fixture.startFlow()));
  for (const state of [
    `${project}.${otherHandle}.${proof}`,
    `${project}.${handle}.${'A'.repeat(43)}`,
  ]) {
    callback.searchParams.set('state', state);
    await expectRefused(fixture, await browser.send(callback), OTHER_BROWSER);
  }
  // Neither a state nor a part of a state opens the link.
  for (const ticket of [`${project}.${handle}`, `${project}.${handle}.${proof}`]) {
    const response = await browser.send(`https://gateway.test/oauth/connect?ticket=${ticket}`);
    await expectRefused(fixture, response, 'has expired');
  }
});

test('sets a cookie that scripts and other hosts cannot read or plant', async () => {
  const { startFlow } = await createFixture();
  const response = await createOAuthBrowser(app).send(await startFlow());
  expect(response.headers.getSetCookie()).toEqual([
    expect.stringMatching(
      /^__Host-oauth-browser=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
    ),
  ]);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('referrer-policy')).toBe('no-referrer');
});

test('sets a cookie without Secure if the gateway is reached over HTTP', async () => {
  await using plain = await createTestApp();
  const tenant = await plain.createTenant();
  await createProviderApp(tenant);
  const consumer = { provider: 'sandbox', groupRef: 'acme', consumerRef: 'ann' };
  const input = { projectIdOrName: tenant.projectId, ...consumer };
  const { startOAuthConnect } = await tenant.query(START_CONNECT, { input });
  const browser = createOAuthBrowser(plain);
  const response = await browser.send(startOAuthConnect.authorizeUrl);
  expect(response.headers.getSetCookie()).toEqual([
    expect.stringMatching(
      /^oauth-browser=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/,
    ),
  ]);
  expect((await browser.connect(startOAuthConnect.authorizeUrl)).status).toBe(200);
});

test('ignores a cookie without the prefix over HTTPS, because a neighboring host may have set it', async () => {
  const fixture = await createFixture();
  const attacker = createOAuthBrowser(app);
  const openedPage = await attacker.send(await fixture.startFlow());
  const [secret] = /(?<==)[\w-]{43}/.exec(openedPage.headers.getSetCookie()[0] as string) ?? [];
  const callback = await submitConsent(await attacker.open(await fixture.startFlow()));
  const headers = { cookie: `oauth-browser=${secret}` };
  await expectRefused(
    fixture,
    await createOAuthBrowser(app).send(callback, { headers }),
    OTHER_BROWSER,
  );
});

test('completes concurrent connects in one browser', async () => {
  const fixture = await createFixture();
  const browser = createOAuthBrowser(app);
  const links = [
    await fixture.startFlow({ groupRef: 'a' }),
    await fixture.startFlow({ groupRef: 'b' }),
  ];
  const callbacks = [];
  for (const link of links) callbacks.unshift(await submitConsent(await browser.open(link)));
  for (const callback of callbacks) expect((await browser.send(callback)).status).toBe(200);
  expect(await countConnections(fixture.tenant)).toBe(2);
});

test('keeps a link usable after HEAD requests, previews and other browsers', async () => {
  const fixture = await createFixture();
  const link = await fixture.startFlow();
  const scanner = createOAuthBrowser(app);
  for (const init of [{ method: 'HEAD' }, { headers: { 'sec-purpose': 'prefetch' } }, {}]) {
    expect((await scanner.send(link, init)).status).toBe(200);
  }
  expect((await scanner.send(link, { method: 'POST' })).status).toBe(405);
  expect(await countPendingConnects(fixture.tenant)).toBe(1);
  const browser = createOAuthBrowser(app);
  expect((await browser.connect(link)).status).toBe(200);
  await expectUsed(browser, link);
  await expectUsed(scanner, link);
});

async function expectUsed(browser: OAuthBrowser, link: string): Promise<void> {
  const response = await browser.send(link);
  expect(response.status).toBe(400);
  expect(await response.text()).toContain('has already been used');
}

test('refuses malformed links', async () => {
  const { tenant } = await createFixture();
  const browser = createOAuthBrowser(app);
  for (const ticket of ['', 'x', `${tenant.projectId}.${'A'.repeat(43)}`, '%00', "'; drop table"]) {
    const query = new URLSearchParams({ ticket });
    const response = await browser.send(`https://gateway.test/oauth/connect?${query}`);
    expect(response.status).toBe(400);
    expect(response.headers.getSetCookie()).toEqual([]);
  }
  expect((await browser.send('https://gateway.test/oauth/connect')).status).toBe(400);
});

const REDIRECT_SCRIPT = 'location.replace';

test.each<{ from: string; headers: Record<string, string> }>([
  { from: 'no page, like from an email', headers: {} },
  { from: 'another site', headers: { referer: 'https://evil.test/' } },
  {
    from: 'a page with a similar address',
    headers: { referer: 'https://app.test.evil.test/' },
  },
  {
    from: 'a cross-site redirect that begins at the gateway',
    headers: { referer: 'https://gateway.test/', 'sec-fetch-site': 'cross-site' },
  },
])('shows the group and the person, and waits for a click, if the browser comes from $from', async ({
  headers,
}) => {
  const fixture = await createFixture();
  const names = { groupName: '<b>Acme</b> Inc.', consumerName: 'Ann Lee' };
  const browser = createOAuthBrowser(app);
  const response = await browser.send(await fixture.startFlow(names), { headers });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  const text = await response.text();
  expect(text).not.toContain('<script');
  expect(text).toContain('&#60;b&#62;Acme&#60;/b&#62; Inc. (mallory)');
  expect(text).toContain('Ann Lee (eve)');
  expect(text).toContain(fixture.tenant.projectName);
  const [, href = ''] =
    /<a class="button" href="([^"]+)"[^>]*>Continue to Sandbox/.exec(text) ?? [];
  const consentUrl = new URL(href.replaceAll('&#38;', '&'));
  expect((await browser.send(await submitConsent(consentUrl))).status).toBe(200);
  expect(await countConnections(fixture.tenant)).toBe(1);
});

test.each([
  PAGE_ORIGIN,
  OPERATOR_ORIGIN,
])('continues immediately in a window that a page of %s has opened', async (page) => {
  const { startFlow } = await createFixture();
  const headers = { referer: `${page}/`, 'sec-fetch-site': 'cross-site' };
  const response = await createOAuthBrowser(app).send(await startFlow(), { headers });
  const text = await response.text();
  expect(text).toContain(REDIRECT_SCRIPT);
  // A link that a user of the page has written opens a window without an opener.
  expect(text).toContain('if (window.opener)');
});

test("does not continue for a page of another project's origins", async () => {
  const [{ startFlow }, otherTenant] = [await createFixture(), await app.createTenant()];
  const input = { projectIdOrName: otherTenant.projectId, allowedOrigins: ['https://other.test'] };
  await otherTenant.query(UPDATE_PROJECT, { input });
  const headers = { referer: 'https://other.test/' };
  const response = await createOAuthBrowser(app).send(await startFlow(), { headers });
  expect(await response.text()).not.toContain(REDIRECT_SCRIPT);
});
