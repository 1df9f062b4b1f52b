/** Custom providers in the console: they are created, changed, tested and deleted with their documents. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, openConsole } from '../../support/console.ts';
import { createDocument, createObject } from '../../support/inputs/custom-providers.ts';
import { startProviderServer } from '../../support/providers/provider-server.ts';
import type { ConsoleStage } from '../stage.ts';

const GENERATE_CONNECTION = `mutation GenerateConnection($input: GenerateConnectionInput!) {
  generateConnection(input: $input) { connection { id } }
}`;

export function testCustomProviders(getStage: () => ConsoleStage) {
  let page: Page;
  let vendor: Awaited<ReturnType<typeof startProviderServer>>;
  beforeAll(async () => {
    vendor = await startProviderServer(({ path }) => ({
      status: path === '/tasks' ? 503 : 200,
      body: path === '/me' ? {} : { data: [{ id: '1', title: 'Call back' }] },
    }));
    page = await getStage().openTab();
  });
  afterAll(async () => {
    await page.close();
    await vendor[Symbol.asyncDispose]();
  });

  const open = (path: string) => openConsole(page, `${getStage().url}/console/demo/${path}`);
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const dialog = () => page.getByRole('dialog');

  async function fillEditor(text: string): Promise<void> {
    await page.getByRole('textbox', { name: 'Content' }).focus();
    await page.evaluate(() => document.execCommand('selectAll'));
    await page.keyboard.insertText(text);
  }

  const createText = (overrides: object = {}, objects?: object) =>
    JSON.stringify(JSON.parse(createDocument(vendor.url, overrides, objects)), null, 2);

  test('shows the problems of a document at their lines, and creates the provider', async () => {
    await open('providers');
    await page.getByRole('link', { name: 'Create provider' }).click();
    await page.getByRole('heading', { name: 'New provider' }).waitFor();
    await fillEditor('name: x-acme\ndisplayName: 7\n');
    await press('Create provider');
    const alert = page.getByRole('alert');
    await alert.getByText(/^Line 2: displayName must be/).waitFor();
    await alert.getByText(/^Line 1: baseUrl is required/).waitFor();
    await expectAccessible(page);
    await fillEditor(createText());
    await press('Create provider');
    await page.getByRole('heading', { name: 'Acme', exact: true }).waitFor();
    await page.getByRole('heading', { name: 'Revision 1' }).waitFor();
    await expectAccessible(page);
    await open('providers');
    const row = page.getByRole('row').filter({ hasText: 'Custom' });
    expect(await row.first().innerText()).toContain('Acme');
  });

  test('shows what a changed document breaks, and saves it when the user confirms it', async () => {
    const input = {
      projectIdOrName: 'demo',
      provider: 'x-acme',
      groupRef: 'acme',
      consumerRef: 'grace',
      credentials: { apiKey: 'secret-key' },
    };
    await getStage().api(GENERATE_CONNECTION, { input });
    await open('providers/x-acme');
    await press('Edit document');
    await fillEditor(createText({ baseUrl: 'https://api.acme.example' }));
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().getByText('1 connection must be connected again').waitFor();
    await expectAccessible(page);
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('heading', { name: 'Revision 1' }).waitFor();

    await press('Edit document');
    await fillEditor(createText({ displayName: 'Acme Cloud' }));
    await dialog().getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Revision 2' }).waitFor();
    await page.getByRole('heading', { name: 'Acme Cloud' }).waitFor();
  });

  test('tests the provider with an account, and shows the masked requests', async () => {
    await open('providers/x-acme');
    await press('Test');
    await dialog().getByRole('button', { name: 'Read one page of each object' }).click();
    const result = dialog().getByLabel('Result of the test');
    await result.getByRole('heading', { name: 'notes Succeeded' }).waitFor();
    await result.getByText('1 record.').waitFor();
    await result.getByRole('heading', { name: 'tasks Failed' }).waitFor();
    const requests = result.getByText(/^Requests \(\d+\)$/);
    await requests.first().click();
    await result.getByText('GET /notes').first().waitFor();
    expect(await result.innerText()).not.toContain('secret-key');
    expect(await result.innerText()).not.toContain('Call back');
    await expectAccessible(page);
    await dialog().getByRole('button', { name: 'Done' }).click();
  });

  test('offers the provider for integrations, and deletes it only while nothing uses it', async () => {
    await open('new-integration');
    await page.getByRole('link', { name: 'Acme Cloud' }).waitFor();
    await open('providers/x-acme');
    const confirmDeletion = async () => {
      await press('Delete');
      await dialog().getByRole('button', { name: 'Delete' }).click();
    };
    await confirmDeletion();
    await dialog().getByText('1 connection use x-acme').waitFor();
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    const other = createDocument(
      vendor.url,
      { name: 'x-unused', displayName: 'Unused' },
      {
        notes: createObject('notes'),
      },
    );
    await open('new-provider');
    await fillEditor(other);
    await press('Create provider');
    await page.getByRole('heading', { name: 'Unused' }).waitFor();
    await confirmDeletion();
    await page.getByRole('heading', { name: 'Providers' }).waitFor();
    await expect.poll(() => page.getByText('Unused').count()).toBe(0);
  });
}
