/** Plans and previews in the console: errors at their lines, the customers that a change breaks, and applying. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { expectAccessible, openConsole } from '../support/console.ts';
import type { ConsoleStage } from './stage.ts';

const DELETIONS_LABEL = 'Delete objects that are missing from a section of the document';
const LIST_TOPICS = '{ project(idOrName: "demo") { topics { nodes { name } } } }';

export function testPlans(getStage: () => ConsoleStage) {
  let page: Page;
  beforeAll(async () => {
    page = await getStage().openTab();
    return () => page.close();
  });

  const open = (path: string) => openConsole(page, `${getStage().url}/console/demo/${path}`);
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const dialog = () => page.getByRole('dialog');
  const listTopics = async () =>
    (await getStage().api(LIST_TOPICS)).project.topics.nodes.map(
      ({ name }: { name: string }) => name,
    );

  test('reports every error of a document with its line, and keeps the text', async () => {
    await open('configuration');
    const document = page.getByLabel('Document (YAML');
    expect(await document.inputValue()).toContain('- name: crm-sync');
    await page.getByText('npm run -s gateway -- plan --project demo -f project.yaml').waitFor();
    await document.fill('specVersion: 1.0.0\ntopics:\n  - nam: planned\n  - name: 7\n');
    await press('Preview changes');
    await page.getByText(/^line 3, column 5: topics\[0\]\.nam/m).waitFor();
    await page.getByText(/^line 4, column \d+: topics\[1\]\.name must be/m).waitFor();
    expect(await document.inputValue()).toContain('planned');
    await expectAccessible(page);
  });

  test('plans a topic, and creates it when the plan is applied', async () => {
    await open('configuration');
    await page
      .getByLabel('Document (YAML')
      .fill('specVersion: 1.0.0\ntopics:\n  - name: planned\n');
    await press('Preview changes');
    await page.getByRole('heading', { name: 'Create topics.planned' }).waitFor();
    await page.getByText('No installation breaks.').waitFor();
    expect(await listTopics()).not.toContain('planned');
    await expectAccessible(page);
    await press('Apply');
    await dialog().getByRole('button', { name: 'Apply' }).click();
    await page.getByText('Applied').waitFor();
    await expect.poll(listTopics).toContain('planned');
    await expect.poll(() => page.getByRole('button', { name: 'Apply' }).count()).toBe(0);
  });

  test('warns of deletions before a plan is applied', async () => {
    await open('configuration');
    const document = page.getByLabel('Document (YAML');
    await document.fill('specVersion: 1.0.0\ntopics: []\n');
    await press('Preview changes');
    const finding = `Use “${DELETIONS_LABEL}” to delete`;
    await page.getByText(finding).waitFor();
    await open('configuration');
    await document.fill('specVersion: 1.0.0\ntopics: []\n');
    await page.getByText(DELETIONS_LABEL).click();
    await press('Preview changes');
    const deletions = page.getByRole('heading', { name: /^Delete topics\./ });
    await deletions.first().waitFor();
    const count = await deletions.count();
    await press('Apply');
    await dialog().getByText(`Objects that are deleted: ${count}.`).waitFor();
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    expect(await listTopics()).toContain('planned');
  });

  test('lists the customers that a new revision would break before it is created', async () => {
    const REVISIONS =
      '{ project(idOrName: "demo") { integration(idOrName: "crm-sync") { revisions { totalCount } } } }';
    const before = await getStage().api(REVISIONS);
    await open('integrations/crm-sync');
    await press('Create revision');
    const editor = dialog().getByRole('textbox', { name: 'Content' });
    await editor.focus();
    await page.evaluate(() => document.execCommand('selectAll'));
    const content = {
      name: 'crm-sync',
      provider: 'sandbox',
      read: {
        objects: [
          {
            objectName: 'contacts',
            mapToName: 'people',
            destination: 'records',
            requiredFields: [{ fieldName: 'email' }, { fieldName: 'shoeSize' }],
          },
        ],
      },
    };
    await page.keyboard.insertText(JSON.stringify(content, null, 2));
    await dialog().getByRole('button', { name: 'Preview' }).click();
    const impacts = dialog().getByRole('list', { name: 'Impacts' });
    await impacts.getByText('shoeSize').waitFor();
    await impacts.getByRole('link', { name: 'Acme Inc.' }).first().waitFor();
    const changes = dialog().getByRole('list', { name: 'Changes of the contract' });
    await changes.getByText('Breaking').first().waitFor();
    await expectAccessible(page);
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    expect(await getStage().api(REVISIONS)).toEqual(before);
  });

  test('describes what a revision changes for code that uses the contract', async () => {
    await open('integrations/crm-sync');
    const revisions = page.getByRole('list', { name: 'Changes of the contract' });
    const choose = async (option: RegExp) => {
      await page.getByRole('button', { name: /From$/ }).click();
      await page.getByRole('option', { name: option }).click();
    };
    await choose(/^Revision 1 · /);
    await revisions.getByText('people can be subscribed to.').waitFor();
  });
}
