/** A new builder creates an org, a project and an integration, and sees a first record, without leaving the browser. */
import type { BrowserContextOptions, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { expectAccessible } from '../support/console.ts';
import type { DemoServer } from '../support/stage.ts';
import type { ConsoleStage } from './stage.ts';

const DARK_PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  colorScheme: 'dark',
};

export function testFirstRun(getStage: () => ConsoleStage<DemoServer>) {
  /** Opens the console as a builder who has no org yet. */
  async function openAsNewBuilder(email: string, options?: BrowserContextOptions): Promise<Page> {
    const context = await getStage().openContext(options);
    const token = await getStage().server.mintToken(email);
    await context.addInitScript(
      (credential) => sessionStorage.setItem('gateway.credential', credential),
      token,
    );
    const page = await context.newPage();
    await page.goto(`${getStage().url}/console`);
    return page;
  }

  const expectHeading = (page: Page, name: string) =>
    page.getByRole('heading', { level: 1, name }).waitFor();

  const countPrimaryActions = (page: Page) => page.locator('main .action.primary').count();

  async function createProject(page: Page, name: string): Promise<void> {
    await expectHeading(page, 'Create your first project');
    await expectAccessible(page);
    await page.getByLabel('Org name').fill('My company');
    await page.getByLabel('Product name').fill('My product');
    await page.getByLabel('Project name').fill(name);
    await page.getByRole('button', { name: 'Create project' }).click();
  }

  test('guides a new user from an empty install to a first record and an API key', async () => {
    const page = await openAsNewBuilder('first@example.com');
    await createProject(page, 'not a name');
    await page.getByText('Project name must be letters, digits and hyphens').waitFor();
    // The org exists already, and the second attempt uses it.
    await page.getByLabel('Project name').fill('first-run');
    await page.getByRole('button', { name: 'Create project' }).click();
    await expectHeading(page, 'Get started');
    await expectAccessible(page);
    expect(await countPrimaryActions(page)).toBe(1);
    await page.getByRole('link', { name: 'Choose a provider' }).click();
    const withRecords = page.locator('section', { hasText: 'Read and write records' });
    await withRecords.getByRole('link', { name: 'HubSpot' }).waitFor();
    const proxyOnly = page.locator('section', { hasText: 'Only forward requests' });
    await proxyOnly.getByRole('link', { name: 'Adobe' }).waitFor();
    expect(await proxyOnly.getByRole('link', { name: 'HubSpot' }).count()).toBe(0);
    await page.getByRole('searchbox', { name: 'Provider' }).fill('sandb');
    await page.getByRole('link', { name: 'Sandbox CRM' }).click();
    await page.getByRole('button', { name: 'Create integration' }).click();
    await expectHeading(page, 'sandbox-sync');

    await page.getByRole('link', { name: 'Get started' }).click();
    await page.getByRole('button', { name: 'Connect test account' }).waitFor();
    expect(await countPrimaryActions(page)).toBe(1);
    await page.getByRole('button', { name: 'Connect test account' }).click();
    await page.getByText('sandbox-sync reads records from Sandbox CRM.').waitFor();
    await page.getByText('50 records read').waitFor();
    await page.getByRole('heading', { name: 'Records of contacts' }).waitFor();
    await page.getByRole('cell', { name: 'contact-1@example.test' }).waitFor();
    await expectAccessible(page);

    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Label').fill('Backend');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const key = await dialog.locator('[data-label="API key"]').innerText();
    await dialog.getByRole('button', { name: 'Done' }).click();
    expect(await sendCurl(page, 'Read a customer', key)).toMatchObject({
      data: { project: { installation: { records: { nodes: expect.any(Array) } } } },
    });

    await page.getByRole('link', { name: 'Overview' }).click();
    await expectHeading(page, 'Overview');
    await page.context().close();
  });

  /** Sends the body of a copied curl command with the key. */
  async function sendCurl(page: Page, title: string, key: string): Promise<unknown> {
    const text = await page.getByRole('region', { name: title }).innerText();
    const [, body = ''] = /-d '(.*)'$/s.exec(text) ?? [];
    const response = await fetch(`${getStage().url}/graphql`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body,
    });
    return response.json();
  }

  test('creates an integration as YAML on a phone, and shows errors at their lines', async () => {
    const page = await openAsNewBuilder('second@example.com', DARK_PHONE);
    await createProject(page, 'first-run-yaml');
    await page.getByRole('link', { name: 'Choose a provider' }).click();
    await page.getByRole('link', { name: 'Sandbox CRM' }).click();
    await page.getByRole('button', { name: 'Edit as YAML' }).click();
    const editor = page.getByRole('textbox', { name: 'Content' });
    await page.getByRole('heading', { name: 'Reference' }).waitFor();
    expect(await editor.innerText()).toContain('optionalFieldsAuto: all');
    const reference = page.getByRole('complementary', { name: 'Reference' });
    expect(await reference.textContent()).toMatch(/optionalFieldsAuto one of allIf set,/);
    await editor.fill('name: by-yaml\nprovider: sandbox\nread: [');
    await page.getByText('Line 3: Not YAML').waitFor();
    await editor.fill(
      'name: by-yaml\nprovider: sandbox\nread:\n  objects:\n    - objectName: contacts\n      destination: records\n      schedule: often',
    );
    await page.getByRole('button', { name: 'Create integration' }).click();
    await page.getByText('Line 7: read.objects[0].schedule').waitFor();
    await expectAccessible(page);
    const isTooWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    expect(isTooWide).toBe(false);
    await editor.fill(
      'name: by-yaml\nprovider: sandbox\nread:\n  objects:\n    - objectName: contacts\n      destination: records\n      optionalFieldsAuto: all',
    );
    await page.getByRole('button', { name: 'Create integration' }).click();
    await expectHeading(page, 'by-yaml');
    await page.context().close();
  });

  test('remembers the finished steps of a project on its overview, until they are hidden', async () => {
    const page = await openAsNewBuilder('third@example.com');
    await createProject(page, 'first-run-list');
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { name: 'Get started: 0 of 4 done' }).waitFor();
    await page.getByRole('link', { name: 'Connect a first account' }).waitFor();
    expect(await page.getByRole('link', { name: /^0 / }).count()).toBe(0);
    await page.getByRole('button', { name: 'Hide' }).click();
    await page.reload();
    await expectHeading(page, 'Overview');
    await page.waitForFunction(() => document.querySelector('.loading') === null);
    expect(await page.getByRole('heading', { name: /^Get started/ }).count()).toBe(0);
    await page.context().close();
  });
}
