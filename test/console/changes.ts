/** Changes in the console, checked by the API. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { createDemoClient, expectAccessible, openConsole } from '../support/console.ts';
import type { ConsoleStage } from './stage.ts';

export function testChanges(getStage: () => ConsoleStage) {
  let page: Page;
  beforeAll(async () => {
    page = await getStage().openTab();
    return () => page.close();
  });

  const open = (path: string) => openConsole(page, `${getStage().url}/console/demo/${path}`);
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const dialog = () => page.getByRole('dialog');
  const pressInDialog = (name: string) =>
    dialog().getByRole('button', { name, exact: true }).click();
  const choose = async (label: string, option: string) => {
    await page.getByRole('button', { name: new RegExp(`${label}$`) }).click();
    await page.getByRole('option', { name: option, exact: true }).click();
  };

  const DESTINATIONS =
    '{ project(idOrName: "demo") { destinations { nodes { id name url status } } } }';

  test('reports an invalid name at its field, then creates, disables and deletes a destination', async () => {
    await open('destinations');
    await press('Create destination');
    await dialog().getByLabel('Name').fill('not a name!');
    await dialog().getByLabel('URL', { exact: true }).fill('https://receiver.example/hook');
    await pressInDialog('Create destination');
    await dialog()
      .getByText(/letters, digits/)
      .waitFor();
    await dialog().getByLabel('Name').fill('mine');
    await pressInDialog('Create destination');
    await dialog().locator('code', { hasText: 'whsec_' }).waitFor();
    await pressInDialog('Done');
    await page.getByRole('link', { name: 'mine' }).click();
    await press('Disable');
    await page.getByRole('button', { name: 'Enable' }).waitFor();
    const { project } = await getStage().api(DESTINATIONS);
    expect(project.destinations.nodes).toContainEqual(
      expect.objectContaining({
        name: 'mine',
        status: 'DISABLED',
        url: 'https://receiver.example/hook',
      }),
    );
    await press('Delete');
    await dialog().getByRole('heading', { name: 'Delete mine?' }).waitFor();
    await pressInDialog('Delete');
    await page.getByRole('heading', { level: 1, name: 'Destinations' }).waitFor();
    expect(JSON.stringify(await getStage().api(DESTINATIONS))).not.toContain('mine');
  });

  const INSTALLATION = `{ project(idOrName: "demo") { installations(first: 1) { nodes { id
  objects { objectName paused pauseNote }
  config { read { objectName selectedFields } }
  operations(first: 1) { nodes { actionType status metadata { objects } } } } } } }`;
  const installation = async () =>
    (await getStage().api(INSTALLATION)).project.installations.nodes[0];

  test('shows the issue of an item at the input of the list', async () => {
    await open('settings');
    const origins = page.getByRole('textbox', { name: 'Origins' });
    await origins.fill('https://app.example\nnowhere');
    await press('Save origins');
    await page.getByText(/^“nowhere” must be /).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('names inputs by their labels in the errors of a form', async () => {
    await open(`installations/${(await installation()).id}`);
    const row = page.getByRole('row', { name: /^contacts/ });
    await row.getByRole('button', { name: 'Read now' }).click();
    await dialog().getByLabel('Changed since').fill('2025-02-01T00:00');
    await dialog().getByLabel('Changed until').fill('2025-01-01T00:00');
    await dialog().getByRole('button', { name: 'Read now' }).click();
    const error = 'Changed until must be after “Changed since”.';
    await dialog().getByText(error, { exact: true }).waitFor();
    await dialog().getByRole('button', { name: 'Cancel' }).click();
  });

  test('starts a read, pauses an object with a note, and resumes it', async () => {
    await open(`installations/${(await installation()).id}`);
    const row = page.getByRole('row', { name: /^contacts/ });
    await row.getByRole('button', { name: 'Read now' }).click();
    await pressInDialog('Read now');
    await expect
      .poll(async () => (await installation()).operations.nodes[0])
      .toMatchObject({ actionType: 'READ', metadata: { objects: ['contacts'] } });
    await row.getByRole('button', { name: 'Pause' }).click();
    await dialog().getByLabel('Note').fill('moving house');
    await pressInDialog('Pause');
    await row.getByText('moving house').waitFor();
    const contacts = async () =>
      (await installation()).objects.find(
        (object: { objectName: string }) => object.objectName === 'contacts',
      );
    expect(await contacts()).toMatchObject({ paused: true, pauseNote: 'moving house' });
    await row.getByRole('button', { name: 'Resume' }).click();
    await row.getByRole('button', { name: 'Pause' }).waitFor();
    expect(await contacts()).toMatchObject({ paused: false });
  });

  test('selects fields from those of the account', async () => {
    await open(`installations/${(await installation()).id}`);
    await press('Edit fields');
    const phone = dialog().getByRole('checkbox', { name: 'Phone' });
    const wasChecked = await phone.isChecked();
    await dialog().getByText('Phone', { exact: true }).click();
    await pressInDialog('Save');
    await dialog().waitFor({ state: 'detached' });
    const [{ selectedFields }] = (await installation()).config.read.filter(
      ({ objectName }: { objectName: string }) => objectName === 'contacts',
    );
    expect(selectedFields.includes('phone')).toBe(!wasChecked);
  });

  test('creates a link to the connect page', async () => {
    await open('connections');
    await press('Connect customer');
    await dialog().getByLabel('Group').fill('walked');
    await dialog().getByLabel('Consumer').fill('ann');
    await pressInDialog('Create link');
    // The clock of the server may have stopped. The page then shows less than the 10 minutes that the token is valid.
    await dialog()
      .getByText(/^Open it with the customer: the link expires in \d+ minutes\.$/)
      .waitFor();
    const url = await dialog().locator('[data-label="connect link"]').textContent();
    const [, claims = ''] = /#token=[^.]+\.([^.]+)\./.exec(url ?? '') ?? [];
    const { iat, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString());
    expect(exp - iat).toBe(600);
    const pagePromise = page.context().waitForEvent('page');
    await dialog().getByRole('link', { name: 'Open connect page' }).click();
    const connect = await pagePromise;
    await connect.getByText('Connect accounts for walked').waitFor();
    await connect.close();
  });

  test('prefills the link to the connect page for a connection that no installation uses', async () => {
    const { project } = await getStage().api(`{ project(idOrName: "demo") {
      connections(groupRef: "wayne") { nodes { id } } } }`);
    await open(`connections/${project.connections.nodes[0].id}`);
    await press('Connect customer');
    expect(await dialog().getByLabel('Group').inputValue()).toBe('wayne');
    expect(await dialog().getByLabel('Consumer').inputValue()).toBe('margaret');
    await pressInDialog('Create link');
    const url = await dialog().locator('[data-label="connect link"]').textContent();
    expect(url).toMatch(/\/connect/);
    await pressInDialog('Done');
  });

  test('loads and filters records at the provider', async () => {
    await open(`installations/${(await installation()).id}`);
    await choose('Object', 'contacts as people');
    await press('Load records');
    const records = page.getByRole('region', { name: 'Records at the provider' });
    await records.getByRole('row').nth(5).waitFor();
    const headers = await records.getByRole('columnheader').allInnerTexts();
    // The mapped name replaces the provider's name, `email`.
    expect(headers).toContain('emailAddress');
    expect(headers).not.toContain('email');
    await expectAccessible(page);
    await press('Next page');
    await page.getByRole('button', { name: 'First page' }).waitFor();
    const address = records.getByRole('cell', { name: /@/ }).first();
    const email = (await address.textContent()) ?? '';
    await page.getByLabel('Filter by field').fill('email');
    await page.getByLabel('Equals').fill(email);
    await press('Load records');
    await expect.poll(() => records.getByRole('row').count()).toBe(2);
    expect(await records.getByRole('row').nth(1).textContent()).toContain(email);
  });

  /**
   * Replaces the text of the editor, and returns the earlier text. The clipboard has all of it, while the
   * page renders only the visible part.
   */
  async function edit(change: (text: string) => string): Promise<string> {
    const content = dialog().getByLabel('Content');
    await content.click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.press('ControlOrMeta+C');
    const text = await page.evaluate(() => navigator.clipboard.readText());
    await page.keyboard.insertText(change(text));
    return text;
  }

  test('completes, checks, refuses, saves and compares a revision', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await open('integrations/crm-sync');
    await press('Create revision');
    // The schema finds this error before the revision is sent.
    const text = await edit((before) => before.replace('"objectName"', '"objectNam"'));
    expect(text).toContain('"optionalFieldsAuto": "all"');
    const findLine = (part: string) =>
      1 + text.split('\n').findIndex((line) => line.includes(part));
    const finding = (part: string) => dialog().locator('.issues', { hasText: part });
    await finding(
      `Line ${findLine('"objectName"')}: read.objects[0].objectNam is not a member`,
    ).waitFor();
    await dialog().locator('.cm-lintRange-error').first().waitFor();
    await expectAccessible(page);
    // The gateway finds this error.
    await edit(() => text.replace('*/10 * * * *', 'sometimes'));
    await finding('read.objects').waitFor({ state: 'detached' });
    await pressInDialog('Create revision');
    await finding(`Line ${findLine('*/10 * * * *')}: read.objects[0].schedule`).waitFor();
    await edit(() => text.replace('*/10 * * * *', '*/20 * * * *'));
    await finding('read.objects').waitFor({ state: 'detached' });
    // The editor completes the name of a member.
    await page.keyboard.press('ControlOrMeta+Home');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.insertText('\n  "mod');
    await page.keyboard.press('Control+Space');
    await dialog().getByRole('option', { name: 'module' }).click();
    await finding('Not JSON').waitFor();
    await page.keyboard.insertText('null,');
    await finding('Not JSON').waitFor({ state: 'detached' });
    await pressInDialog('Create revision');
    await dialog().waitFor({ state: 'detached' });
    await page.locator('.diff .added', { hasText: '*/20 * * * *' }).waitFor();
    const { project } = await getStage().api(
      '{ project(idOrName: "demo") { integration(idOrName: "crm-sync") { revisions { totalCount } } } }',
    );
    expect(project.integration.revisions.totalCount).toBe(4);
  });

  test('asks for the scopes of an app, and shows the redirect URL to register', async () => {
    await open('providers/hubspot');
    await press('Add app');
    await dialog().getByText(`${getStage().url}/oauth/callback`).waitFor();
    const scopes = dialog().getByLabel('Scopes', { exact: true });
    expect(await scopes.inputValue()).toContain('crm.objects.contacts.read');
    await expectAccessible(page);
    await dialog().getByLabel('Client ID').fill('client');
    await dialog().getByLabel('Client secret').fill('secret');
    await scopes.fill('');
    await pressInDialog('Add app');
    expect(await scopes.evaluate((input: HTMLTextAreaElement) => input.validity.valid)).toBe(false);
    await pressInDialog('Cancel');
  });

  test('finds a provider by its name, and shows what the gateway lacks for it', async () => {
    await open('providers');
    const search = page.getByRole('searchbox');
    const rows = page.locator('[aria-label=Providers] tbody tr');
    await search.fill('linkedin');
    await rows.getByText('no reads, writes or events').waitFor();
    expect(await rows.count()).toBe(1);
    await search.fill('zohO');
    await rows.getByText('no events').waitFor();
    await search.fill('no such provider');
    await page.getByText('No providers match').waitFor();
  });

  test("asks for the values of an app's metadata, and shows what is wrong with them", async () => {
    await open('providers/coupa');
    await press('Add app');
    await dialog().getByLabel('Client ID').fill('client');
    await dialog().getByLabel('Client secret').fill('secret');
    await dialog().getByLabel('Scopes', { exact: true }).fill('read');
    const host = dialog().getByLabel('Host of the account');
    await host.fill('not a host');
    await pressInDialog('Add app');
    await dialog().getByText('must be a host, like acme.example.com.').waitFor();
    await expectAccessible(page);
    await host.fill('acme.coupahost.com');
    await pressInDialog('Add app');
    await dialog().waitFor({ state: 'detached' });
    const { project } = await getStage().api(
      '{ project(idOrName: "demo") { providerApps(first: 1, provider: "coupa") { nodes { metadata } } } }',
    );
    expect(project.providerApps.nodes).toEqual([
      { metadata: { providerParams: { workspaceHost: 'acme.coupahost.com' } } },
    ]);
    await open('providers/linkedIn');
    await page.getByText('Inputs of LinkedIn (Ads)').waitFor();
    await page.getByText('Ad Account ID').waitFor();
  });

  test('shows the warnings of a saved revision until they are closed', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const twice = (text: string) => {
      const content = JSON.parse(text);
      const [object] = content.read.objects;
      object.requiredFields = [{ fieldName: 'email' }, ...object.requiredFields];
      return JSON.stringify(content);
    };
    await open('integrations/crm-sync');
    await press('Create revision');
    await edit(twice);
    await pressInDialog('Create revision');
    await dialog().getByText('Saved with 1 warning:').waitFor();
    const warning = await dialog().locator('.issues').innerText();
    expect(warning).toBe(
      'read.objects[0].requiredFields[0] is omitted, because the field email is named again later.',
    );
    await expectAccessible(page);
    await pressInDialog('Done');
    await dialog().waitFor({ state: 'detached' });
  });

  test('creates and removes a route in the diagram', async () => {
    await open('routes');
    await press('data');
    await page.getByRole('heading', { name: 'Routes of the selection' }).waitFor();
    const rows = page.locator('main tbody tr');
    await expect.poll(() => rows.filter({ hasNotText: 'data' }).count()).toBe(0);
    await expectAccessible(page);
    await press('Route events');
    await choose('Event', 'Subscription failed');
    await pressInDialog('Create route');
    await press('Subscription failed');
    const remove = page.getByRole('button', {
      name: 'Remove the route from Subscription failed to topic data',
    });
    await remove.waitFor();
    expect(await rows.count()).toBe(1);
    const routes = async () =>
      (
        await getStage().api(`{ project(idOrName: "demo") {
        eventTopicRoutes(eventType: SUBSCRIBE_CREATE_ERROR) { totalCount } } }`)
      ).project.eventTopicRoutes.totalCount;
    expect(await routes()).toBe(1);
    await remove.click();
    await remove.waitFor({ state: 'detached' });
    expect(await routes()).toBe(0);
  });

  test('shows a new key once, which has the scopes of its preset', async () => {
    await open('settings');
    await press('Create key');
    await dialog().getByLabel('Label').fill('of a page');
    await dialog()
      .getByRole('button', { name: /Preset/ })
      .click();
    await page.getByRole('option', { name: /^Backend/ }).click();
    await pressInDialog('Create key');
    const key = await dialog().locator('code', { hasText: 'ik_' }).textContent();
    await pressInDialog('Done');
    await page.getByRole('row', { name: /of a page/ }).waitFor();
    expect(await page.content()).not.toContain(key);
    const row = page.getByRole('row', { name: /of a page/ });
    await row.getByText('connections:write, installations:write').waitFor();
    await row.getByRole('button', { name: 'Deactivate' }).click();
    await row.locator('.status.idle', { hasText: 'Inactive' }).waitFor();
    await row.getByRole('button', { name: 'Activate' }).click();
    await row.locator('.status.good', { hasText: 'Active' }).waitFor();
    const asKey = createDemoClient({ demo: { url: getStage().url, apiKey: key ?? '' } });
    expect((await asKey('{ viewer { scopes } }')).viewer.scopes).toEqual([
      'CONNECTIONS_WRITE',
      'INSTALLATIONS_WRITE',
      'READ',
      'READS_CONTROL',
      'RECORDS_WRITE',
    ]);
  });

  test('renames a group and a consumer, whose refs stay', async () => {
    const rename = async (name: string) => {
      await dialog().getByLabel('Name').fill(name);
      await pressInDialog('Rename');
      await dialog().waitFor({ state: 'detached' });
    };
    await open('groups/acme');
    await press('Rename');
    expect(await dialog().getByLabel('Name').inputValue()).toBe('Acme Inc.');
    await expectAccessible(page);
    await rename('Acme International');
    await page.getByRole('heading', { level: 1, name: 'Acme International' }).waitFor();
    await open('groups');
    const row = page.getByRole('row', { name: /Ada Lovelace/ });
    await row.getByRole('button', { name: 'Rename' }).click();
    await rename('Ada King');
    await page.getByRole('row', { name: /Ada King ada/ }).waitFor();
    const { project } = await getStage().api(`{ project(idOrName: "demo") {
      group(idOrRef: "acme") { groupName } consumer(idOrRef: "ada") { consumerName } } }`);
    expect(project).toEqual({
      group: { groupName: 'Acme International' },
      consumer: { consumerName: 'Ada King' },
    });
    await getStage().api(`mutation { updateGroup(input: { projectIdOrName: "demo", groupRef: "acme",
      groupName: "Acme Inc." }) { group { id } } updateConsumer(input: { projectIdOrName: "demo",
      consumerRef: "ada", consumerName: "Ada Lovelace" }) { consumer { id } } }`);
  });

  test('deletes a connection by keyboard, after a confirmation', async () => {
    await open('connections');
    await page.getByRole('link', { name: 'Wayne Enterprises' }).focus();
    await page.keyboard.press('Enter');
    const opener = page.getByRole('button', { name: 'Delete', exact: true });
    await opener.focus();
    await page.keyboard.press('Enter');
    await dialog().getByRole('button', { name: 'Cancel' }).waitFor();
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    await opener.focus();
    await page.keyboard.press('Enter');
    const title = 'Delete Wayne Enterprises at Sandbox CRM?';
    await dialog().getByRole('heading', { name: title }).waitFor();
    await dialog().getByRole('button', { name: 'Delete' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Connections' }).waitFor();
    const { project } = await getStage().api(
      '{ project(idOrName: "demo") { connections(groupRef: "wayne") { totalCount } } }',
    );
    expect(project.connections.totalCount).toBe(0);
  });
}
