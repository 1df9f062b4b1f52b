/** Approvals on the connect page: customers decide what an agent proposed, in their own words. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectFitsScreens } from '../support/console.ts';
import { createDemoAgent, type DemoAgent, propose } from './demo-agent.ts';
import type { ConsoleStage } from './stage.ts';

const GET_PROPOSAL = `query GetProposal($id: ID!) {
  node(id: $id) { ... on Proposal { status decidedBy decisionReason } }
}`;
const CREATE_SESSION_TOKEN = `mutation CreateSessionToken($input: CreateSessionTokenInput!) {
  createSessionToken(input: $input) { connectUrl }
}`;

export function testApprovals(getStage: () => ConsoleStage) {
  let page: Page;
  let agent: DemoAgent;
  beforeAll(async () => {
    page = await (await getStage().openContext({ locale: 'en-US' })).newPage();
    agent = await createDemoAgent(getStage(), 'Address helper');
  });
  afterAll(() => page?.context().close());

  async function createConnectUrl(permissions: string[]): Promise<string> {
    const input = { projectIdOrName: 'demo', groupRef: 'acme', consumerRef: 'boss', permissions };
    return (await getStage().api(CREATE_SESSION_TOKEN, { input })).createSessionToken.connectUrl;
  }

  async function open(link: string, tab = page): Promise<void> {
    await tab.goto('about:blank');
    await tab.goto(link);
  }

  const findProposal = async (id: string) => (await getStage().api(GET_PROPOSAL, { id })).node;
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();

  test('opens the proposal of a link, and approves it in the words of the customer', async () => {
    const values = { emailAddress: 'fran@example.test', lastname: 'Allen-Smith' };
    const id = await propose(agent, { recordId: '6', values, reason: 'From her last email.' });
    const person = { emailAddress: 'new@example.test', firstname: 'New', lastname: 'Person' };
    const otherId = await propose(agent, { type: 'create', values: person });
    await open(`${await createConnectUrl(['APPROVE'])}&proposal=${id}`);
    const card = page.getByRole('article', { name: '1. Change a record: People' });
    await card.getByText('Proposed by Address helper, record 6').waitFor();
    await card.getByText('From her last email.').waitFor();
    const email = card.getByRole('row', { name: /^Email address/ });
    expect(await email.innerText()).toMatch(/contact-6@example.test\s+fran@example.test\s+changed/);
    expect(await page.title()).toBe('Approve changes in Demo CRM sync');
    expect(await page.locator('main').innerText()).not.toMatch(/prp_|ags_|lastname/);
    const titles = page.getByRole('heading', { level: 2 });
    expect(await titles.allInnerTexts()).toEqual([
      'Change a record: People',
      'Create a record: People',
    ]);
    await expectFitsScreens(page);
    await card.getByRole('button', { name: 'Approve' }).click();
    const outcome = page.getByRole('status');
    await outcome.getByText('Approved: Change a record: People').waitFor();
    await expect
      .poll(() => outcome.evaluate((element) => element === document.activeElement))
      .toBe(true);
    expect(await findProposal(id)).toMatchObject({
      status: 'APPROVED',
      decidedBy: expect.stringMatching(/^consumer:/),
    });
    expect(await findProposal(otherId)).toMatchObject({ status: 'PENDING' });
  });

  test('rejects a proposal with a reason', async () => {
    await press('Reject');
    await page.locator('[name="reason"]:focus').waitFor();
    await press('Cancel');
    await page.locator(':focus', { hasText: /^Reject$/ }).waitFor();
    await press('Reject');
    await page.getByLabel('Reason').fill('Not a customer.');
    await expectFitsScreens(page);
    await press('Reject');
    await page.getByText('Nothing waits for your approval.').waitFor();
    await expectFitsScreens(page);
    const { project } = await getStage().api(
      '{ project(idOrName: "demo") { proposals(status: REJECTED, first: 1) { nodes { id decisionReason } } } }',
    );
    const [{ id, decisionReason }] = project.proposals.nodes;
    expect(decisionReason).toBe('Not a customer.');
    await open(`${await createConnectUrl(['APPROVE'])}&proposal=${id}`);
    await page.getByText('This was rejected. It is not carried out.').waitFor();
    expect(await page.getByRole('button').count()).toBe(0);
  });

  test('requires another person to approve what the customer proposed', async () => {
    const input = { ...{ groupRef: 'acme', consumerRef: 'boss' }, permissions: ['WRITE_RECORDS'] };
    const created = await getStage().api(
      CREATE_SESSION_TOKEN.replace('connectUrl', 'connectUrl token'),
      {
        input: { projectIdOrName: 'demo', ...input },
      },
    );
    const { token } = created.createSessionToken;
    const boss = { url: getStage().url, token };
    const id = await propose(boss, { recordId: '8', values: { lastname: 'Boss' } });
    await open(`${await createConnectUrl(['APPROVE'])}&proposal=${id}`);
    await page.getByText(/^Proposed by Demo CRM sync/).waitFor();
    await press('Approve');
    await page.getByRole('alert').getByText('so another person must approve it').waitFor();
    await press('Reject');
    await press('Reject');
    await page.getByText('Nothing waits for your approval.').waitFor();
  });

  test('shows approvals above the integrations, in the language of the browser', async () => {
    await propose(agent, { recordId: '9', values: { lastname: 'Byron' } });
    const context = await getStage().openContext({ locale: 'de-DE' });
    const german = await context.newPage();
    await open(await createConnectUrl(['CONNECT', 'INSTALL', 'READ', 'APPROVE']), german);
    await german.getByRole('heading', { name: 'CRM sync', exact: true }).waitFor();
    await german.getByText('Vorgeschlagen von Address helper').waitFor();
    await expectFitsScreens(german);
    await german.getByRole('button', { name: 'Genehmigen' }).click();
    await german.getByText('Nichts wartet auf Ihre Genehmigung.').waitFor();
    await context.close();
  });

  test('shows no approvals to a customer who may not approve', async () => {
    await propose(agent, { recordId: '10', values: { lastname: 'Byron' } });
    await open(await createConnectUrl(['CONNECT']));
    await page.getByRole('heading', { name: 'CRM sync', exact: true }).waitFor();
    expect(await page.getByText('Address helper').count()).toBe(0);
  });
}
