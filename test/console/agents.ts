/** Agents in the console: sessions, and proposals from the list to the written record. */
import type { Locator, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { expectFitsScreens, openConsole } from '../support/console.ts';
import { type DemoAgent, propose, requestContact } from './demo-agent.ts';
import type { ConsoleStage } from './stage.ts';

export function testAgents(getStage: () => ConsoleStage) {
  let page: Page;
  let agent: DemoAgent;
  beforeAll(async () => {
    page = await getStage().openTab();
    return () => page.close();
  });

  const open = (path: string) => openConsole(page, `${getStage().url}/console/demo/${path}`);
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const dialog = () => page.getByRole('dialog');
  const listRows = (list: string) => page.getByRole('region', { name: list }).getByRole('row');
  const readTexts = async (row: Locator) =>
    (await row.getByRole('cell').allInnerTexts()).map((text) => text.trim());
  const status = (name: string) => page.locator('.facts .status', { hasText: name });

  test('creates a session, and shows its token and the MCP configuration once', async () => {
    await open('agents');
    await press('Create agent session');
    await dialog().getByLabel('Agent').fill('Sales helper');
    await dialog().getByLabel('Group').fill('acme');
    await dialog().getByLabel('Consumer').fill('ada');
    const actions = dialog().getByRole('group', { name: 'Allowed actions' });
    expect(await actions.locator('label').allInnerTexts()).toEqual([
      'Read',
      'Create',
      'Update',
      'Delete',
    ]);
    const objects = dialog().getByRole('group', { name: 'Objects' });
    await objects.getByText('people', { exact: true }).click();
    await dialog().getByRole('button', { name: 'Add approval rule' }).click();
    const rule = dialog().getByRole('group', { name: 'Rule 1' });
    await rule.getByLabel('Rule name').fill('phones');
    await rule.getByText('Delete', { exact: true }).click();
    await rule.getByLabel('Only these fields').fill('phone');
    await dialog().getByRole('button', { name: 'Create session' }).click();
    await dialog().getByText('must be one of the verbs of the session.').waitFor();
    await expectFitsScreens(page);
    await rule.getByText('Delete', { exact: true }).click();
    await rule.getByText('Update', { exact: true }).click();
    await dialog().getByRole('button', { name: 'Create session' }).click();
    const token = await dialog().locator('[data-label="Token"]').innerText();
    const configuration = await dialog().getByRole('region', { name: 'MCP config' }).innerText();
    const { demo } = JSON.parse(configuration).mcpServers;
    expect(demo).toMatchObject({ type: 'http', headers: { Authorization: `Bearer ${token}` } });
    expect(demo.url).toMatch(/\/mcp\/projects\/prj_/);
    await expectFitsScreens(page);
    await dialog().getByRole('button', { name: 'Done' }).click();
    const row = listRows('Agent sessions').nth(1);
    await row.getByText('phones: update any object, only phone, up to 10 a day').waitFor();
    expect(await row.innerText()).toMatch(/Sales helper.*Active.*Ada Lovelace.*people.*Read/s);
    expect(await page.content()).not.toContain(token);
    agent = { url: getStage().url, token };
  });

  test('approves and commits a pending proposal from the overview', async () => {
    const values = { lastname: 'Byron', phone: '' };
    await propose(agent, { recordId: '3', values, reason: 'She married.' });
    await open('');
    const panel = page.locator('section.card', { hasText: 'Needs attention' });
    await panel.getByRole('link', { name: '1 proposal waits for approval' }).click();
    await page.getByRole('link', { name: 'Update people' }).click();
    await page.getByRole('heading', { level: 1, name: 'Update people' }).waitFor();
    await page.getByText('She married.').waitFor();
    const fields = page.getByRole('region', { name: 'Fields' });
    const changed = fields.getByRole('row', { name: /^lastname/ });
    expect(await readTexts(changed)).toEqual(['Liskov', 'Byron changed']);
    const removedRow = fields.getByRole('row', { name: /^phone/ });
    expect(await readTexts(removedRow)).toEqual(['+31 20 0000003', 'empty removed']);
    await page.getByText('Agent Sales helper').waitFor();
    await expectFitsScreens(page);
    await press('Approve');
    await status('Approved').waitFor();
    await page.locator('.facts div', { hasText: 'Approved by' }).getByText('Ada Demo').waitFor();
    await press('Commit');
    await dialog().getByRole('button', { name: 'Commit' }).click();
    await status('Committed').waitFor();
    expect(await requestContact(getStage(), '3')).toMatchObject({ lastname: 'Byron' });
    await page.locator('.facts a', { hasText: 'Succeeded' }).click();
    await page.getByRole('heading', { level: 1, name: 'Write contacts' }).waitFor();
  });

  test('links an event to its proposal', async () => {
    const { project } = await getStage().api(
      '{ project(idOrName: "demo") { topics(first: 1) { nodes { id } } } }',
    );
    const [{ id: topicId }] = project.topics.nodes;
    await getStage().api(
      `mutation CreateRoute($topicId: ID!) { createEventTopicRoute(input: { projectIdOrName: "demo",
      topicId: $topicId, eventType: PROPOSAL_CREATED }) { eventTopicRoute { id } } }`,
      { topicId },
    );
    await propose(agent, { recordId: '4', values: { lastname: 'Byron' }, reason: 'He married.' });
    await open('events?type=PROPOSAL_CREATED');
    await page.getByRole('link', { name: 'Proposal created' }).click();
    await page.locator('.facts').getByRole('link', { name: /^prp_/ }).click();
    await page.getByText('He married.').waitFor();
  });

  test('creates a link that shows a customer the proposal', async () => {
    await press('Approval link');
    await dialog().getByRole('button', { name: 'Create link' }).click();
    const link = await dialog().locator('[data-label="Approval link"]').innerText();
    await dialog().getByRole('button', { name: 'Done' }).click();
    const context = await getStage().openContext({ locale: 'en-US' });
    const customer = await context.newPage();
    await customer.goto(link);
    await customer.getByRole('article', { name: '1. Change a record: People' }).waitFor();
    await customer.getByText('He married.').waitFor();
    await context.close();
  });

  test('rejects a proposal with a reason', async () => {
    await open('agents?status=PENDING');
    await listRows('Proposals').getByRole('link', { name: 'Update people' }).click();
    await press('Reject');
    await dialog().getByLabel('Reason').fill('He kept his name.');
    await dialog().getByRole('button', { name: 'Reject' }).click();
    await status('Rejected').waitFor();
    await page.getByText('He kept his name.').waitFor();
    expect(await page.getByRole('button', { name: 'Reject' }).count()).toBe(0);
    await open('agents?status=REJECTED');
    await listRows('Proposals').getByRole('link', { name: 'Update people' }).waitFor();
    await expectFitsScreens(page);
  });

  test('shows which rule approved a proposal, and why a commit failed', async () => {
    const id = await propose(agent, { recordId: '5', values: { phone: '+1 555' } });
    await open(`agents/${id}`);
    await status('Approved').waitFor();
    await page.getByText('Rule phones', { exact: true }).waitFor();
    await requestContact(getStage(), '5', { phone: '+1 556' });
    await press('Commit');
    await dialog().getByRole('button', { name: 'Commit' }).click();
    await page
      .getByRole('alert')
      .getByText(/has changed since the proposal/)
      .first()
      .waitFor();
    await status('Stale').waitFor();
    expect(await requestContact(getStage(), '5')).toMatchObject({ phone: '+1 556' });
  });

  test('revokes a session', async () => {
    await open('agents');
    const row = listRows('Agent sessions').nth(1);
    await row.getByRole('button', { name: 'Revoke' }).click();
    await dialog().getByRole('button', { name: 'Revoke' }).click();
    await row.getByText('Revoked').waitFor();
    await expect(propose(agent, { recordId: '6', values: {} })).rejects.toThrow('401');
  });
}
