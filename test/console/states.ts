/**
 * States in the console: failing destinations are shown as failing, and lists show the progress of a retry.
 */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test, vi } from 'vitest';
import { expectFitsScreens, openConsole } from '../support/console.ts';
import type { ConsoleStage } from './stage.ts';

const LIST_DESTINATIONS = '{ project(idOrName: "demo") { destinations { nodes { id name } } } }';
const LIST_INSTALLATIONS =
  '{ project(idOrName: "demo") { installations(first: 1, integrationIdOrName: "crm-sync") { nodes { id } } } }';

const GENERATE_CONNECTION = `mutation GenerateConnection($input: GenerateConnectionInput!) {
  generateConnection(input: $input) { connection { id } }
}`;

const SEND_TEST_MESSAGE = `mutation SendTestMessage($input: SendTestMessageInput!) {
  sendTestMessage(input: $input) { delivery { id } }
}`;
const GET_DELIVERY = 'query GetDelivery($id: ID!) { node(id: $id) { ... on Delivery { status } } }';

export function testStates(getStage: () => ConsoleStage) {
  let page: Page;
  let destinationId: string;

  /** Makes the inbox refuse messages, or accept messages again. */
  async function refuseMessages(isRefused: boolean): Promise<void> {
    const faults = `${getStage().server.demo.sandboxUrl}/control/faults`;
    const fault = { pathPrefix: '/inbox/records', status: 503, times: 1_000 };
    const response = await fetch(
      faults,
      isRefused ? { method: 'PUT', body: JSON.stringify(fault) } : { method: 'DELETE' },
    );
    expect(response.ok).toBe(true);
  }

  /** Creates a delivery whose first attempt has failed. It stays in this state until a test retries it. */
  async function createRetriedDelivery(): Promise<void> {
    const input = { projectIdOrName: 'demo', destinationId };
    const { sendTestMessage } = await getStage().api(SEND_TEST_MESSAGE, { input });
    const { id } = sendTestMessage.delivery;
    const readStatus = async () => (await getStage().api(GET_DELIVERY, { id })).node.status;
    await vi.waitFor(async () => expect(await readStatus()).toBe('RETRYING'), { timeout: 60_000 });
  }

  beforeAll(async () => {
    page = await getStage().openTab();
    const { project } = await getStage().api(LIST_DESTINATIONS);
    const isRecords = ({ name }: { name: string }) => name === 'records';
    destinationId = project.destinations.nodes.find(isRecords).id;
    await refuseMessages(true);
    await createRetriedDelivery();
    return async () => {
      await page.close();
      await refuseMessages(false);
    };
  });

  const open = (path: string) => openConsole(page, `${getStage().url}/console/demo/${path}`);
  const rows = () => page.getByRole('region', { name: 'Deliveries' }).getByRole('row');

  test('shows a destination that refuses every message as failing', async () => {
    await open(`destinations/${destinationId}`);
    await page.getByRole('button', { name: 'Send test message' }).click();
    await page.locator('.facts .status.bad', { hasText: 'Retrying' }).waitFor();
    await open('destinations');
    const row = page.getByRole('row', { name: /^records/ });
    await row.getByText('Failing').waitFor();
    await row.getByText(/for \d+ (s|min), \d+ attempts?/).waitFor();
    await page.getByRole('row', { name: /^live Clients pull this stream/ }).waitFor();
    await expectFitsScreens(page);
    await open(`destinations/${destinationId}`);
    await page.locator('.facts .status.bad', { hasText: 'Failing' }).waitFor();
    await expectFitsScreens(page);
  });

  test('lists on the overview what needs attention, until it is acknowledged', async () => {
    await open('');
    const panel = page.locator('section.card', { hasText: 'Needs attention' });
    const failing = panel.getByRole('link', { name: 'records has been failing' });
    const stream = page.getByRole('listitem').filter({ hasText: /^live\s*Clients pull/ });
    await stream.waitFor();
    await failing.waitFor();
    await panel.getByRole('link', { name: /operations? failed$/ }).waitFor();
    await panel.getByText(/% of operations succeeded since \w{3} \d\d:\d\d/).waitFor();
    await expectFitsScreens(page);
    await panel.getByRole('button', { name: 'Acknowledge: records has been failing' }).click();
    await failing.waitFor({ state: 'hidden' });
    await page.reload();
    await panel.getByText('1 acknowledged', { exact: true }).click();
    await panel.getByText(/^acknowledged by Ada Demo /).waitFor();
    await expectFitsScreens(page);
    await panel.getByRole('button', { name: 'Reopen: records has been failing' }).click();
    await failing.click();
    await page.getByRole('heading', { level: 1, name: 'records' }).waitFor();
  });

  test('preselects the retried deliveries if none has failed, and counts what a retry sends', async () => {
    await open('deliveries');
    await page.getByRole('button', { name: 'Retry deliveries' }).click();
    const dialog = page.getByRole('dialog');
    const chosenFilter = dialog.getByRole('button', { name: /^Retrying \(\d+\)/ });
    const [, count] = /\((\d+)\)/.exec((await chosenFilter.textContent()) ?? '') ?? [];
    await dialog.getByText(`${count} deliveries`, { exact: true }).waitFor();
    await expectFitsScreens(page);
    await dialog.getByRole('button', { name: 'Close' }).click();
  });

  test('updates a retried delivery in the list until its attempt ends', async () => {
    await open('deliveries?status=RETRYING');
    const row = rows().nth(1);
    await row.getByText('Retrying').waitFor();
    await row.getByRole('button', { name: 'Retry' }).click();
    await expect.poll(() => row.getByRole('cell').nth(4).textContent()).toBe('2');
    expect(await row.getByRole('cell').nth(5).textContent()).toBe('503');
    await open(`destinations/${destinationId}?status=RETRYING`);
    const retry = rows().nth(1).getByRole('button', { name: 'Retry' });
    await retry.waitFor();
    await refuseMessages(false);
    await retry.click();
    await page.locator('.facts .status.good', { hasText: 'Enabled' }).waitFor();
  });

  test('shows reads without a schedule as manual', async () => {
    const { project } = await getStage().api(LIST_INSTALLATIONS);
    await open(`installations/${project.installations.nodes[0].id}`);
    const companies = page.getByRole('row', { name: /^companies/ });
    await companies.locator('.status.idle', { hasText: 'Manual' }).waitFor();
    expect(await companies.getByRole('button', { name: 'Pause' }).count()).toBe(0);
    const contacts = page.getByRole('row', { name: /^contacts/ });
    await contacts.getByRole('button', { name: 'Pause' }).waitFor();
  });

  test('links the unused connections of the overview to their list', async () => {
    await open('');
    await page.getByRole('link', { name: /\d+ Unused connections/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Connections' }).waitFor();
    await page.getByRole('button', { name: /Not used yet.* Status$/ }).waitFor();
    await page.locator('td .status.idle', { hasText: 'Not used yet' }).first().waitFor();
  });

  test('counts operations and deliveries of the last 24 hours on the overview', async () => {
    await open('');
    const figures = page.getByRole('region', { name: 'Last 24 hours', exact: true });
    const from = new Date(Date.now() - 24 * 3_600_000).toISOString();
    const { project } = await getStage().api(
      `query CountOperations($from: DateTime!) { project(idOrName: "demo") {
        all: operations { totalCount }
        operations(createTime: { from: $from }) { totalCount } } }`,
      { from },
    );
    const { totalCount } = project.operations;
    expect(totalCount).toBeLessThan(project.all.totalCount);
    await figures.getByRole('link', { name: `${totalCount} Operations` }).click();
    await page.getByText(`25 of ${totalCount}`).waitFor();
  });

  test('counts the connections and installations of a group', async () => {
    await open('groups');
    const group = page
      .getByRole('region', { name: 'Groups' })
      .getByRole('row', { name: /^Acme Inc/ });
    const cells = await group.getByRole('cell').allTextContents();
    expect(cells.slice(1, 4)).toEqual(['acme', '1', '1']);
  });

  test('links a consumer to its own connections, and not to those of a namesake', async () => {
    const twins = [
      { groupRef: 'twin-0', groupName: 'First twin', consumerRef: 'twin-0' },
      { groupRef: 'twin-1', groupName: 'Second twin', consumerRef: 'twin-1' },
    ];
    const project = { projectIdOrName: 'demo', provider: 'sandbox' };
    const credentials = { apiKey: 'sandbox-key' };
    for (const twin of twins) {
      await getStage().api(GENERATE_CONNECTION, {
        input: { ...project, ...twin, consumerName: 'Robin', credentials },
      });
    }
    await open('groups');
    const consumers = page.getByRole('region', { name: 'Consumers' });
    await consumers
      .getByRole('row', { name: /twin-0/ })
      .getByRole('link', { name: '1' })
      .click();
    await page.getByRole('link', { name: 'First twin' }).waitFor();
    expect(await page.getByRole('link', { name: 'Second twin' }).count()).toBe(0);
    await expectFitsScreens(page);
    await page.getByRole('button', { name: /Consumer/ }).click();
    await page.getByRole('option', { name: 'All' }).click();
    await page.getByRole('link', { name: 'Second twin' }).waitFor();
  });

  test('shows the schedule of a read in words', async () => {
    const { project } = await getStage().api(LIST_INSTALLATIONS);
    await open(`installations/${project.installations.nodes[0].id}`);
    const schedule = page.getByRole('region', { name: 'Objects' }).getByText('Every 10 minutes');
    expect(await schedule.getAttribute('title')).toBe('*/10 * * * *');
  });

  test('names the ids of written records, and the objects that an operation subscribes to', async () => {
    await open('operations?action=SUBSCRIBE');
    await page.getByRole('link', { name: 'Subscribe to contacts' }).first().waitFor();
    await page.getByRole('button', { name: 'Started' }).waitFor();
    await open('operations?action=WRITE&status=SUCCEEDED');
    await page.getByRole('link', { name: 'Write contacts' }).first().click();
    await page
      .locator('.facts div', { hasText: 'IDs of written records' })
      .getByText(/^\d+$/)
      .waitFor();
  });

  test('shows the object of an outcome as a name, not as a prefix', async () => {
    await open('operations?status=FAILED');
    await page.getByRole('cell', { name: 'The provider returned 503.' }).first().waitFor();
  });

  test('adds the customer to each outcome on a phone', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await open('operations?status=FAILED');
    const outcome = 'Acme Inc. · Error writing to provider: The provider returned 503.';
    await page.getByRole('cell', { name: outcome }).first().waitFor();
    await expectFitsScreens(page);
  });

  test('links an ended operation to its group and installation, and shows its duration', async () => {
    await page.setViewportSize({ width: 1280, height: 900 });
    await open('operations?status=FAILED');
    const row = page.getByRole('row', { name: /The provider returned 503/ }).first();
    await row.getByRole('link').click();
    await page.locator('.facts div', { hasText: 'Duration' }).getByText('2 s').waitFor();
    await page.getByRole('link', { name: 'CRM sync', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Acme Inc.', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Acme Inc.' }).waitFor();
  });
}
