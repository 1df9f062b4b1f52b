/** The frame of the console: search, breadcrumbs, the menu of projects, and copy buttons. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { expectAccessible } from '../support/console.ts';
import type { ConsoleStage } from './stage.ts';

export function testShell(getStage: () => ConsoleStage) {
  let page: Page;
  beforeAll(async () => {
    page = await getStage().openTab();
    await page.goto(`${getStage().url}/console/demo`);
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    return () => page.close();
  });

  /** Opens the search by keyboard and opens the result with this name. */
  async function openResult(text: string, result: RegExp): Promise<void> {
    await page.keyboard.press('ControlOrMeta+k');
    await page.getByRole('searchbox', { name: 'Search' }).fill(text);
    await page.locator('[role=menuitem][data-focused]', { hasText: result }).waitFor();
    await page.keyboard.press('Enter');
  }

  const expectHeading = (name: string | RegExp) =>
    page.getByRole('heading', { level: 1, name }).waitFor();

  test('groups the menu by purpose', async () => {
    const menu = page.getByRole('navigation', { name: 'Console' });
    const sections = await menu
      .getByRole('list')
      .evaluateAll((lists) => lists.map((list) => list.getAttribute('aria-label')));
    expect(sections).toEqual([null, 'Connect', 'Data', 'Events', 'Project']);
  });

  test('opens a page, a group by its ref, and a connection by its ID from the search', async () => {
    await openResult('deliv', /^Deliveries/);
    await expectHeading('Deliveries');
    await openResult('acme', /^Acme Inc\./);
    await expectHeading('Acme Inc.');
    const { project } = await getStage().api(
      '{ project(idOrName: "demo") { connections(first: 1) { nodes { id } } } }',
    );
    const [{ id }] = project.connections.nodes;
    await openResult(id, new RegExp(id));
    await expectHeading(/at Sandbox CRM$/);
    expect(page.url()).toMatch(new RegExp(`/connections/${id}$`));
  });

  test('shows that nothing matches, and closes the search with Escape', async () => {
    await page.keyboard.press('ControlOrMeta+k');
    await page.getByRole('searchbox', { name: 'Search' }).fill('zzz');
    await page.getByText('Nothing matches.').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  test('links a detail page to its list with breadcrumbs', async () => {
    await page.goto(`${getStage().url}/console/demo/integrations/crm-sync`);
    const breadcrumbs = page.getByRole('navigation', { name: 'Breadcrumb' });
    await breadcrumbs.getByRole('link', { name: 'Integrations' }).click();
    await expectHeading('Integrations');
  });

  test('links an unknown page and a missing object to an existing page', async () => {
    await page.goto(`${getStage().url}/console/demo/nowhere`);
    await expectHeading('Not found');
    await page.locator('main').getByRole('link', { name: 'Go to Overview' }).click();
    await expectHeading('Overview');
    await page.goto(`${getStage().url}/console/demo/integrations/nothing`);
    await expectHeading('Not found');
    await page.locator('main').getByRole('link', { name: 'Go to Integrations' }).click();
    await expectHeading('Integrations');
  });

  test('redirects /integrations/new to the form', async () => {
    await page.goto(`${getStage().url}/console/demo/integrations/new`);
    await expectHeading('New integration');
    expect(page.url()).toMatch(/\/new-integration$/);
  });

  test('copies a name', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto(`${getStage().url}/console/demo/integrations/crm-sync`);
    await page.getByRole('button', { name: 'Copy name' }).click();
    await page.getByRole('button', { name: 'name copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('crm-sync');
  });

  test('lists the projects by org', async () => {
    await page.getByRole('button', { name: 'demo Demo CRM sync' }).click();
    await page.getByRole('menuitem', { name: 'demo Demo CRM sync' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('menuitem', { name: 'All projects and orgs' }).click();
    await expectHeading('Projects');
    await page.getByRole('link', { name: 'demo', exact: true }).click();
    await expectHeading('Overview');
  });
}
