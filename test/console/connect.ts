/** The connect page as customers use it, alone and in a frame of a builder's page of another origin. */
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import {
  expectAccessible,
  expectContrast,
  expectFitsScreens,
  openConsole,
} from '../support/console.ts';
import { CLIENT } from '../support/providers/oauth.ts';
import type { ConsoleStage } from './stage.ts';

const CONNECTED = 'Connected';
const PACKAGE_URL = 'https://apps.example.com/install?p=1&v=2';

export function testConnect(getStage: () => ConsoleStage) {
  let page: Page;
  let builder: Server;
  let origin: string;

  beforeAll(async () => {
    builder = createServer((req, res) => void answerBuilder(req.method, res));
    await new Promise<void>((resolve) => builder.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(builder.address() as AddressInfo).port}`;
    await getStage().api(`mutation { createProviderApp(input: { projectIdOrName: "demo", provider: "sandbox",
    clientId: "${CLIENT.clientId}", clientSecret: "${CLIENT.clientSecret}",
    metadata: { providerParams: { packageInstallURL: "${PACKAGE_URL}" } } }) { providerApp { id } } }`);
    const context = await getStage().openContext({ viewport: { width: 700, height: 900 } });
    page = await context.newPage();
    return async () => {
      await context.close();
      builder.closeAllConnections();
      builder.close();
    };
  });

  /** Returns a link that shows one integration. */
  async function connectUrl(groupRef: string, integration = 'crm-sync'): Promise<string> {
    const { createSessionToken } = await getStage().api(`mutation { createSessionToken(input: {
    projectIdOrName: "demo", groupRef: "${groupRef}", consumerRef: "ann",
    integrations: ["${integration}"] }) { connectUrl } }`);
    return createSessionToken.connectUrl;
  }

  /** Serves the page of docs/connect.md, and the builder's backend. */
  async function answerBuilder(
    method: string | undefined,
    res: import('node:http').ServerResponse,
  ) {
    if (method === 'POST') {
      res.setHeader('content-type', 'application/json');
      return res.end(JSON.stringify({ connectUrl: await connectUrl('embedded') }));
    }
    const document = readFileSync(join(import.meta.dirname, '../../docs/connect.md'), 'utf8');
    const [, html = ''] = /```html\n(.*?)```/s.exec(document) ?? [];
    res.setHeader('content-type', 'text/html');
    return res.end(html.replaceAll('http://127.0.0.1:4000', getStage().url));
  }

  async function openConnect(groupRef: string): Promise<void> {
    await page.goto('about:blank');
    await page.goto(await connectUrl(groupRef));
  }

  async function setClientSecret(clientSecret: string): Promise<void> {
    const { project } = await getStage().api(
      '{ project(idOrName: "demo") { providerApps(first: 1, provider: "sandbox") { nodes { id } } } }',
    );
    await getStage().api(
      `mutation UpdateApp($input: UpdateProviderAppInput!) { updateProviderApp(input: $input) { providerApp { id } } }`,
      {
        input: {
          projectIdOrName: 'demo',
          providerAppId: project.providerApps.nodes[0].id,
          updateMask: ['CLIENT_SECRET'],
          providerApp: { clientSecret },
        },
      },
    );
  }

  /** Opens the form of the schemes without a consent page. */
  async function openForm(groupRef: string): Promise<void> {
    await openConnect(groupRef);
    await page.getByRole('button', { name: 'Other ways to connect' }).click();
  }

  async function chooseAuthMethod(name: string): Promise<void> {
    await page.getByRole('button', { name: /How to connect$/ }).click();
    await page.getByRole('option', { name, exact: true }).click();
  }

  const submit = () => page.getByRole('button', { name: 'Connect', exact: true }).click();
  const waitForConnected = () => page.getByText(CONNECTED, { exact: true }).waitFor();
  const queryConnections = async (groupRef: string) =>
    (
      await getStage().api(`{ project(idOrName: "demo") { connections(groupRef: "${groupRef}") {
      nodes { authScheme consumer { consumerRef } } } } }`)
    ).project.connections.nodes;

  test('connects by an API key, installs, and shows the first read', async () => {
    await openForm('by-key');
    await expectAccessible(page);
    await chooseAuthMethod('With an API key');
    await page.getByLabel('API key', { exact: true }).fill('sandbox-key');
    await submit();
    await page.getByRole('checkbox', { name: 'Phone' }).waitFor();
    await expectAccessible(page);
    await page.getByText('Phone', { exact: true }).click();
    await page.getByRole('button', { name: 'Start' }).click();
    // The first read starts automatically.
    await page.getByText(/^50 records, last read/).waitFor();
    await expectAccessible(page);
    expect(await queryConnections('by-key')).toEqual([
      { authScheme: 'API_KEY', consumer: { consumerRef: 'ann' } },
    ]);
    const { project } =
      await getStage().api(`{ project(idOrName: "demo") { installations(groupRef: "by-key") {
    nodes { config { read { objectName selectedFields } } } } } }`);
    expect(project.installations.nodes[0].config.read).toContainEqual({
      objectName: 'contacts',
      selectedFields: ['lifecycle'],
    });
  });

  test('connects by a user name and by a client ID', async () => {
    await openForm('by-name');
    await chooseAuthMethod('With a user name and a password');
    await page.getByLabel('User name', { exact: true }).fill('sandbox');
    await page.getByLabel('Password', { exact: true }).fill('sandbox-password');
    await submit();
    await waitForConnected();
    expect(await queryConnections('by-name')).toMatchObject([{ authScheme: 'BASIC' }]);
    await openForm('by-client');
    await chooseAuthMethod('With a client ID and its secret');
    await page.getByLabel('Client ID', { exact: true }).fill('sandbox-client');
    await page.getByLabel('Client secret', { exact: true }).fill('sandbox-secret');
    await submit();
    await waitForConnected();
    expect(await queryConnections('by-client')).toMatchObject([
      { authScheme: 'OAUTH2_CLIENT_CREDENTIALS' },
    ]);
  });

  test('shows why a key was refused, and accepts another one', async () => {
    await openForm('by-mistake');
    await chooseAuthMethod('With an API key');
    await page.getByLabel('API key', { exact: true }).fill('wrong');
    await submit();
    const key = page.getByRole('textbox', { name: 'API key' });
    await expect.poll(() => key.getAttribute('aria-invalid')).toBe('true');
    const errorIds = (await key.getAttribute('aria-describedby'))?.split(' ') ?? [];
    const errors = await Promise.all(
      errorIds.map((id) => page.locator(`[id="${id}"]`).innerText()),
    );
    expect(errors.join(' ')).toMatch(
      /The provider rejected the credentials\. The provider says: “.+”$/,
    );
    await chooseAuthMethod('With a user name and a password');
    expect(await page.locator('main').innerText()).not.toContain('rejected');
    await chooseAuthMethod('With an API key');
    expect(await key.getAttribute('aria-invalid')).toBeNull();
    expect(await queryConnections('by-mistake')).toEqual([]);
    await expectAccessible(page);
    await page.getByLabel('API key', { exact: true }).fill('sandbox-key');
    await submit();
    await waitForConnected();
    expect(await queryConnections('by-mistake')).toHaveLength(1);
  });

  test('hides mistakes of the setup from the customer', async () => {
    const content = { name: 'no-app', provider: 'hubspot', proxy: { enabled: true } };
    await getStage().api(
      `mutation CreateIntegration($content: IntegrationContentInput!) { createIntegration(input: { projectIdOrName: "demo",
      name: "no-app", provider: "hubspot", latestRevision: { specVersion: "1.0.0", content: $content } }) { integration { id } } }`,
      { content },
    );
    await page.goto('about:blank');
    await page.goto(await connectUrl('by-mistaken-setup', 'no-app'));
    await page.getByText('The setup of the integrations is not complete').waitFor();
    expect(await page.locator('main').innerText()).not.toMatch(/HubSpot|scope|app of the project/i);
    await expectAccessible(page);
    const builder = await getStage().openTab();
    await builder.goto(`${getStage().url}/console/demo/integrations/no-app`);
    await builder.getByText('The connect page does not offer this integration').waitFor();
    await expectAccessible(builder);
    await getStage().api(`mutation { deleteIntegration(input: { projectIdOrName: "demo",
      integrationIdOrName: "no-app" }) { deletedId } }`);
    await setClientSecret('wrong');
    await openConnect('by-mistaken-setup');
    await page.getByRole('button', { name: 'Connect Sandbox CRM' }).click();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('Something is wrong on our side.').waitFor();
    expect(await page.locator('main').innerText()).not.toMatch(/client|app of the project/i);
    await setClientSecret(CLIENT.clientSecret);
    await openConsole(builder, `${getStage().url}/console/demo`);
    await builder
      .getByRole('link', { name: "Customers haven't been able to connect Sandbox CRM" })
      .click();
    await builder.getByText(/invalid_client/).waitFor();
    await builder.getByText(/^Failed 1 time, last/).waitFor();
    await expectFitsScreens(builder);
    await builder.close();
  });

  test('opens the form of an account by a reconnect link from the console', async () => {
    await openForm('by-link');
    await chooseAuthMethod('With an API key');
    await page.getByLabel('API key', { exact: true }).fill('sandbox-key');
    await submit();
    await waitForConnected();
    const { project } = await getStage().api(
      '{ project(idOrName: "demo") { connections(groupRef: "by-link") { nodes { id } } } }',
    );
    const [{ id }] = project.connections.nodes;
    const builder = await getStage().openTab();
    await builder.goto(`${getStage().url}/console/demo/connections/${id}`);
    await builder.getByRole('button', { name: 'Reconnect link' }).click();
    const dialog = builder.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Create link' }).click();
    const link = await dialog.locator('[data-label="Reconnect link"]').innerText();
    await builder.close();
    await page.goto('about:blank');
    await page.goto(link);
    await chooseAuthMethod('With an API key');
    await page.getByLabel('API key', { exact: true }).fill('sandbox-key-2');
    await submit();
    await page.getByLabel('API key', { exact: true }).waitFor({ state: 'detached' });
    const after = await getStage().api(
      '{ project(idOrName: "demo") { connections(groupRef: "by-link") { nodes { id } } } }',
    );
    expect(after.project.connections.nodes).toEqual([{ id }]);
  });

  test('connects by consent with one click, after a refusal', async () => {
    await openConnect('by-redirect');
    const connect = page.getByRole('button', { name: 'Connect Sandbox CRM' });
    await connect.waitFor();
    expect(await page.locator('main').innerText()).not.toContain('window');
    await connect.click();
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByText('The account was not connected').waitFor();
    const install = page.getByRole('link', { name: 'Install package' });
    expect(await install.getAttribute('href')).toBe(PACKAGE_URL);
    await expectAccessible(page);
    await connect.click();
    await page.getByRole('button', { name: 'Approve' }).click();
    await waitForConnected();
    // The page removes the provider's parameters from the URL, so that it can be reloaded.
    expect(new URL(page.url()).search).toBe('');
    await page.reload();
    await waitForConnected();
    expect(await queryConnections('by-redirect')).toMatchObject([
      { authScheme: 'OAUTH2_AUTHORIZATION_CODE_PKCE' },
    ]);
  });

  test('speaks the language of the page around the text of a provider', async () => {
    const context = await getStage().openContext({ locale: 'de-DE' });
    const customer = await context.newPage();
    await customer.goto(await connectUrl('in-german'));
    await customer.getByRole('button', { name: 'Sandbox CRM verbinden' }).click();
    await customer.getByRole('button', { name: 'Deny' }).click();
    const alert = customer.getByRole('alert');
    await alert.getByText(/^Das Konto wurde nicht verbunden: /).waitFor();
    expect(await alert.innerText()).toMatch(
      /^Das Konto wurde nicht verbunden: (Der Anbieter hat den Zugriff verweigert\.|Der Anbieter meldet: „.+“)/,
    );
    await customer.getByRole('button', { name: 'Andere Arten der Verbindung' }).click();
    await customer.getByLabel('API-Schlüssel', { exact: true }).fill('wrong');
    await customer.getByRole('button', { name: 'Verbinden', exact: true }).click();
    await customer
      .getByText(/^Der Anbieter hat die Zugangsdaten abgelehnt\. Der Anbieter meldet: „.+“$/)
      .waitFor();
    await context.close();
  });

  /** Opens the connect page with one integration of the provider. */
  async function openProvider(provider: string, module?: string): Promise<Page> {
    const name = `by-${provider}`;
    await getStage().api(
      `mutation CreateIntegration($provider: String!, $name: String!, $content: IntegrationContentInput!) {
        createProviderApp(input: { projectIdOrName: "demo", provider: $provider, clientId: "id", clientSecret: "secret", scopes: ["all"] }) { providerApp { id } }
        createIntegration(input: { projectIdOrName: "demo", name: $name, provider: $provider,
          latestRevision: { specVersion: "1.0.0", content: $content } }) { integration { id } } }`,
      { provider, name, content: { name, provider, module, proxy: { enabled: true } } },
    );
    const customer = await page.context().newPage();
    await customer.goto(await connectUrl('with-workspace', name));
    return customer;
  }

  async function closeProvider(provider: string, customer: Page) {
    await customer.close();
    await getStage().api(`mutation { deleteIntegration(input: { projectIdOrName: "demo",
      integrationIdOrName: "by-${provider}" }) { deletedId } }`);
  }

  test("asks for a workspace under the vendor's word, and only if the provider can't name it", async () => {
    const atSalesforce = await openProvider('salesforce');
    await atSalesforce.getByRole('button', { name: 'Other ways to connect' }).click();
    const workspace = atSalesforce.getByRole('textbox', { name: 'Subdomain' });
    expect(await workspace.getAttribute('required')).toBeNull();
    await expectAccessible(atSalesforce);
    await atSalesforce.getByRole('button', { name: 'Cancel' }).click();
    const consent = atSalesforce.waitForRequest(/^https:\/\/login\.salesforce\.com\//);
    await atSalesforce.getByRole('button', { name: 'Connect Salesforce' }).click();
    await consent;
    await closeProvider('salesforce', atSalesforce);
    // The base URL of Seismic has no workspace, but the URL of its consent page has one.
    const atSeismic = await openProvider('seismic');
    await atSeismic.getByRole('button', { name: 'Connect Seismic' }).click();
    const tenant = atSeismic.getByRole('textbox', { name: 'Tenant' });
    expect(await tenant.getAttribute('required')).not.toBeNull();
    await closeProvider('seismic', atSeismic);
  });

  test('shows where to find an input, and the value that the provider suggests', async () => {
    const customer = await openProvider('dynamicsCRM');
    await customer.getByRole('button', { name: /^Connect / }).click();
    const region = customer.getByRole('textbox', { name: 'Region' });
    expect(await region.inputValue()).toBe('crm');
    await customer
      .getByText('Copy the region (e.g. crm4) from your Web API endpoint URL.')
      .waitFor();
    expect(await customer.locator('code', { hasText: /^crm4$/ }).count()).toBe(1);
    const link = customer.getByRole('link', { name: 'About “Region”' });
    expect(await link.getAttribute('href')).toMatch(/^https:\/\/learn\.microsoft\.com\//);
    await expectAccessible(customer);
    await closeProvider('dynamicsCRM', customer);
  });

  test("asks for the inputs of the integration's module, also if the account is already connected", async () => {
    const customer = await openProvider('linkedIn', 'ads');
    await customer.getByRole('button', { name: 'Connect LinkedIn' }).click();
    const adAccount = customer.getByRole('textbox', { name: 'Ad Account ID' });
    expect(await adAccount.getAttribute('required')).not.toBeNull();
    await customer.getByRole('button', { name: 'Cancel' }).click();
    const account = {
      projectIdOrName: 'demo',
      provider: 'linkedIn',
      groupRef: 'with-workspace',
      consumerRef: 'ann',
      credentials: { oauth2AuthorizationCode: { accessToken: { token: 'token' } } },
    };
    const connect = async (providerMetadata: object) =>
      (
        await getStage().api(
          `mutation Generate($input: GenerateConnectionInput!) {
            generateConnection(input: $input) { connection { id } } }`,
          { input: { ...account, providerMetadata } },
        )
      ).generateConnection.connection.id;
    const connectionId = await connect({ kept: 'for another module' });
    await customer.getByText('This integration also needs Ad Account ID.').waitFor();
    await customer.getByRole('button', { name: 'Reconnect LinkedIn' }).click();
    await adAccount.fill('512345678');
    await expectAccessible(customer);
    const started = customer.waitForRequest(
      (request) => request.postData()?.includes('adAccountId') === true,
    );
    await customer.getByRole('button', { name: 'Continue to LinkedIn' }).click();
    const { variables } = (await started).postDataJSON();
    expect(variables.input.providerMetadata).toEqual({
      kept: 'for another module',
      adAccountId: '512345678',
    });
    await connect({ adAccountId: '512345678' });
    // The first tab may still be on its way to the vendor's page.
    await customer.close();
    const returning = await page.context().newPage();
    await returning.goto(await connectUrl('with-workspace', 'by-linkedIn'));
    await returning.getByRole('button', { name: 'Start' }).waitFor();
    await getStage().api(`mutation { deleteConnection(input: { projectIdOrName: "demo",
      connectionId: "${connectionId}" }) { deletedId } }`);
    await closeProvider('linkedIn', returning);
  });

  test('masks the secrets among custom inputs, and shows the others', async () => {
    const customer = await openProvider('redtail');
    await customer.getByRole('button', { name: 'Connect Redtail' }).click();
    const findType = (label: string) =>
      customer.getByLabel(label, { exact: true }).getAttribute('type');
    expect(await findType('Username')).toBe('text');
    expect(await findType('Password')).toBe('password');
    expect(await findType('API Key')).toBe('password');
    await closeProvider('redtail', customer);
  });

  test('connects by custom inputs of the provider', async () => {
    await openForm('by-custom');
    await chooseAuthMethod('With other credentials');
    await page.getByLabel('Account key').fill('sandbox-key');
    await submit();
    await waitForConnected();
    expect(await queryConnections('by-custom')).toMatchObject([{ authScheme: 'NONE' }]);
  });

  test("shows the project's logo, color and language, as the settings say", async () => {
    const LOGO = 'https://cdn.example.com/logo.svg';
    const builder = await getStage().openTab();
    await openConsole(builder, `${getStage().url}/console/demo/settings`);
    await builder.getByRole('textbox', { name: 'Logo' }).fill(LOGO);
    await builder.getByRole('textbox', { name: 'Accent color' }).fill('yellow');
    await builder.getByRole('textbox', { name: 'Language' }).fill('de-AT');
    await builder.getByRole('button', { name: 'Save', exact: true }).click();
    await builder.getByText('Accent color must be a color like #4f46e5').waitFor();
    await expectFitsScreens(builder);
    await builder.getByRole('textbox', { name: 'Accent color' }).fill('#FFE600');
    await builder.getByRole('button', { name: 'Save', exact: true }).click();
    const readColor = async () =>
      (await getStage().api('{ project(idOrName: "demo") { accentColor } }')).project.accentColor;
    await expect.poll(readColor).toBe('#ffe600');
    await builder.close();

    const context = await getStage().openContext({ locale: 'en-US' });
    const customer = await context.newPage();
    await customer.route(LOGO, (route) =>
      route.fulfill({
        contentType: 'image/svg+xml',
        body: '<svg xmlns="http://www.w3.org/2000/svg" width="120" height="40"/>',
      }),
    );
    await customer.goto(await connectUrl('by-key'));
    await customer.getByText('Konten für by-key verbinden').waitFor();
    expect(await customer.getAttribute('html', 'lang')).toBe('de-AT');
    const logo = customer.locator('img.logo');
    await expect
      .poll(() => logo.evaluate((image: HTMLImageElement) => image.naturalWidth))
      .toBe(120);
    await customer.getByText(/^50 Datensätze, zuletzt gelesen/).waitFor();
    const time = await customer.locator('time').first().getAttribute('title');
    expect(time).toMatch(/^\d{1,2}\.\d{1,2}\.\d{4}, /);
    await customer.getByRole('button', { name: 'Anderes Konto verbinden' }).click();
    await customer.getByRole('button', { name: 'Weiter zu Sandbox CRM' }).waitFor();
    const update = (changes: object) =>
      getStage().api(
        'mutation UpdateProject($input: UpdateProjectInput!) { updateProject(input: $input) { project { id } } }',
        { input: { projectIdOrName: 'demo', ...changes } },
      );
    const button = customer.getByRole('button', { name: 'Weiter zu Sandbox CRM' });
    const fill = () => button.evaluate((element) => getComputedStyle(element).backgroundColor);
    for (const accentColor of ['#ffe600', '#0b1020', '#ffffff', '#3355ff']) {
      const before = await fill();
      await update({ accentColor });
      if (accentColor !== '#ffe600') await expect.poll(fill).not.toBe(before);
      await expectContrast(customer);
    }
    await expectFitsScreens(customer);
    await update({ logoUrl: null, accentColor: null, locale: null });
    await customer.getByText('Connect accounts for by-key').waitFor();
    expect(await customer.getAttribute('html', 'lang')).toBe('en-US');
    await context.close();
  });

  test('disconnects and uninstalls', async () => {
    await page.goto('about:blank');
    await page.goto(await connectUrl('by-key'));
    await page.getByRole('button', { name: 'Disconnect' }).click();
    await page.getByRole('dialog').getByText('Reads and writes').waitFor();
    await expectAccessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
    await page.getByText('Not connected', { exact: true }).waitFor();
    expect(await queryConnections('by-key')).toEqual([]);
    const { project } = await getStage().api(
      '{ project(idOrName: "demo") { installations(groupRef: "by-key") { totalCount } } }',
    );
    expect(project.installations.totalCount).toBe(0);
  });

  test('rejects a link without a token and one with an invalid token', async () => {
    const { url } = getStage();
    await page.goto(`${url}/connect`);
    await page.getByText('This link is incomplete').waitFor();
    const address = await connectUrl('late');
    const signature = address.lastIndexOf('.') + 1;
    const changed = [...address.slice(signature)].reverse().join('');
    await page.goto('about:blank');
    await page.goto(address.slice(0, signature) + changed);
    await page.getByText('This link has expired').waitFor();
    await expectAccessible(page);
  });

  test('opens in a frame of an allowed origin, and sends messages to it', async () => {
    const builderPage = await getStage().browser.newPage({ viewport: { width: 900, height: 900 } });
    await builderPage.goto(origin);
    await builderPage.getByRole('button', { name: 'Connect an account' }).click();
    const framed = builderPage.frameLocator('iframe');
    // The origin is not allowed yet, so the browser shows nothing of the gateway.
    const warning = builderPage.waitForEvent('console', (message) => message.type() === 'warning');
    await builderPage.getByText(/^failed .*Add http.* to allowedOrigins/).waitFor();
    expect((await warning).text()).toContain('allowedOrigins');
    await builderPage.waitForFunction(() => frames.length === 1);
    await expect.poll(() => builderPage.frames().at(-1)?.url()).toMatch(/^chrome-error/);
    await getStage().api(`mutation { updateProject(input: { projectIdOrName: "demo",
    allowedOrigins: ["${origin}"] }) { project { id } } }`);
    await builderPage.reload();
    await builderPage.getByRole('button', { name: 'Connect an account' }).click();
    // The provider's page can't be framed, so it opens in a window.
    const openWindow = async (name: string) => {
      const popup = builderPage.waitForEvent('popup');
      await framed.getByRole('button', { name }).click();
      const consent = await popup;
      await consent.getByRole('button', { name: 'Approve' }).waitFor();
      return consent;
    };
    await (await openWindow('Connect Sandbox CRM')).close();
    await framed.getByText('before an account was connected').waitFor();
    await framed.getByRole('link', { name: 'Install package' }).waitFor();
    const consent = await openWindow('Reopen window');
    const closed = consent.waitForEvent('close');
    await consent.getByRole('button', { name: 'Approve' }).click();
    await framed.getByText(CONNECTED, { exact: true }).waitFor();
    await closed;
    await framed.getByRole('button', { name: 'Connect another account' }).click();
    await framed.getByRole('button', { name: /How to connect$/ }).click();
    await framed.getByRole('option', { name: 'With an API key' }).click();
    await framed.getByLabel('API key', { exact: true }).fill('sandbox-key');
    await framed.getByRole('button', { name: 'Connect', exact: true }).click();
    await framed.getByRole('button', { name: 'Start' }).click();
    await builderPage.getByText(/installed \{"installationId":"ins_/).waitFor();
    await framed.getByRole('button', { name: 'Done' }).click();
    await builderPage.waitForFunction(() => frames.length === 0);
    const messages = (await builderPage.locator('#events').textContent()) ?? '';
    expect(messages.match(/^\w+/gm)).toEqual(['connected', 'connected', 'installed', 'closed']);
    await builderPage.close();
  });

  test('serves a small connect.js without dependencies', async () => {
    const script = await (await fetch(`${getStage().url}/connect.js`)).text();
    expect(script.length).toBeLessThan(5_000);
    expect(script).not.toMatch(/\bimport\b|require\(|cookie|localStorage|https?:/);
  });
}
