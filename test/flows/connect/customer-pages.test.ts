/** The gateway's pages of an OAuth flow have the appearance of the project, and the customer's language. */
import { expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import { createProviderApp, START_CONNECT } from '../../support/providers/oauth.ts';
import { createOAuthBrowser } from '../../support/providers/oauth-browser.ts';

const app = await getSharedApp({ env: { PUBLIC_URL: 'https://gateway.test/' } });

const UPDATE_PROJECT = `mutation UpdateProject($input: UpdateProjectInput!) {
  updateProject(input: $input) { project { id } }
}`;
const PROJECT_BRANDING = {
  appName: 'Sync & Co',
  logoUrl: 'https://cdn.test/logo.svg',
  accentColor: '#ffee00',
  locale: 'de-AT',
};
const GERMAN_BROWSER = { headers: { 'accept-language': 'fr-FR,de-DE;q=0.9,en;q=0.8' } };

async function createFixture(branding: object = {}) {
  const tenant = await app.createTenant();
  const projectIdOrName = tenant.projectId;
  await createProviderApp(tenant);
  await tenant.query(UPDATE_PROJECT, { input: { projectIdOrName, ...branding } });
  const parties = { provider: 'sandbox', groupRef: 'acme', consumerRef: 'ann' };
  const { startOAuthConnect } = await tenant.query(START_CONNECT, {
    input: { projectIdOrName, ...parties },
  });
  return { link: startOAuthConnect.authorizeUrl as string, browser: createOAuthBrowser(app) };
}

async function expectBranded(response: Response, status: number, texts: string[]): Promise<void> {
  const page = await response.text();
  expect(response.status).toBe(status);
  expect(page).toContain('<html lang="de-AT">');
  expect(page).toContain(
    '<header><img src="https://cdn.test/logo.svg" alt="" referrerpolicy="no-referrer">Sync &#38; Co</header>',
  );
  expect(page).toMatch(/--accent: light-dark\(rgb\(\d+ \d+ \d+\), rgb\(255 238 0\)\);/);
  for (const text of texts) expect(page).toContain(text);
  const policy = response.headers.get('content-security-policy');
  expect(policy).toContain('img-src https://cdn.test');
}

test('shows the name, logo, color and language of the project on each page', async () => {
  const { link, browser } = await createFixture(PROJECT_BRANDING);
  await expectBranded(await browser.send(link), 200, [
    '<h1>Sandbox CRM verbinden</h1>',
    'Weiter zu Sandbox CRM',
    'Verbunden durch Integration gateway',
  ]);
  await expectBranded(await browser.connect(link), 200, ['Sie können dieses Fenster schließen.']);
  await expectBranded(await browser.send(link), 400, ['bereits verwendet']);
  const { link: otherLink, browser: otherBrowser } = await createFixture(PROJECT_BRANDING);
  await expectBranded(await otherBrowser.connect(otherLink, false), 400, [
    'Der Anbieter hat den Zugriff verweigert.',
    '(access_denied)',
  ]);
});

test('uses the language of the browser for a project without a language', async () => {
  const { link, browser } = await createFixture();
  const germanPage = await (await browser.send(link, GERMAN_BROWSER)).text();
  expect(germanPage).toContain('<html lang="de-DE">');
  expect(germanPage).toContain('Weiter zu Sandbox CRM');
  const englishPage = await (await browser.send(link)).text();
  expect(englishPage).toContain('<html lang="en">');
  expect(englishPage).toContain('Continue to Sandbox CRM');
});

test('shows no app for a link or a callback without a project', async () => {
  for (const path of ['/oauth/connect', '/connect?project=%00', '/oauth/callback']) {
    const response = await app.fetch(path, GERMAN_BROWSER);
    const page = await response.text();
    expect(response.status).toBe(400);
    expect(page).toContain('<html lang="de-DE">');
    expect(page).not.toContain('<header>');
  }
});
