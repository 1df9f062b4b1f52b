/** Messages and their retries in the console. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { expectAccessible, openConsole } from '../support/console.ts';
import type { ConsoleStage } from './stage.ts';

const LIST_DESTINATIONS = '{ project(idOrName: "demo") { destinations { nodes { id name } } } }';

export function testDeliveries(getStage: () => ConsoleStage) {
  let page: Page;
  let destinationId: string;

  beforeAll(async () => {
    page = await getStage().openTab();
    const { project } = await getStage().api(LIST_DESTINATIONS);
    const events = project.destinations.nodes.find(
      ({ name }: { name: string }) => name === 'events',
    );
    destinationId = events.id;
    return () => page.close();
  });

  const open = (path: string) => openConsole(page, `${getStage().url}/console/demo/${path}`);
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const counts = async () => {
    const { node } = await getStage().api(`{ node(id: "${destinationId}") { ... on Destination {
      all: deliveries { totalCount nodes { attempts { attemptNumber } } }
      failed: deliveries(status: FAILED) { totalCount } } } }`);
    const { nodes, totalCount } = node.all;
    const attempts = nodes.map((delivery: { attempts: object[] }) => delivery.attempts.length);
    return { all: totalCount, failed: node.failed.totalCount, attempts };
  };

  test('resends a succeeded delivery', async () => {
    await open(`destinations/${destinationId}`);
    await page.getByRole('button', { name: 'Resend', exact: true }).first().click();
    // The page lists the newest delivery first, and the API lists it last.
    await expect.poll(async () => (await counts()).attempts.at(-1)).toBe(2);
  });

  test('sends a test message and shows its outcome', async () => {
    const before = await counts();
    await open(`destinations/${destinationId}`);
    await press('Send test message');
    await page.getByRole('heading', { level: 1, name: 'Message to “events”' }).waitFor();
    await page.locator('.facts .status.good').waitFor();
    await page.locator('.json', { hasText: 'test.message' }).waitFor();
    expect((await counts()).all).toBe(before.all + 1);
  });

  test('resends all succeeded deliveries, and shows the progress', async () => {
    const { all } = await counts();
    await open(`destinations/${destinationId}?status=SUCCEEDED&time=week`);
    await press('Retry deliveries');
    const dialog = page.getByRole('dialog');
    await dialog.getByText(`${all} deliveries`).waitFor();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Resend deliveries' }).click();
    await dialog.getByText(`${all} of ${all} deliveries`).waitFor();
    await expect.poll(async () => Math.min(...(await counts()).attempts)).toBeGreaterThan(1);
  });

  test('filters deliveries by time', async () => {
    await open(`deliveries?until=2020-01-01T00:00:00.000Z`);
    await page.getByText('No deliveries', { exact: true }).waitFor();
    await page.getByRole('button', { name: /Created$/ }).click();
    await page.getByRole('option', { name: 'Last 24 hours' }).click();
    await page.getByRole('row', { name: /Test message .* events/ }).waitFor();
    expect(new URL(page.url()).search).toBe('?time=day');
  });

  test('shows the customer of a delivery in the list and on its page', async () => {
    await open('deliveries?type=CONNECTION_CREATED');
    const row = page.getByRole('row', { name: /^Connection created .*Acme Inc\. events/ });
    await row.getByRole('link').click();
    await page.locator('.facts').getByRole('link', { name: 'Acme Inc.' }).waitFor();
  });

  test('creates a stream and shows new messages', async () => {
    await open('destinations');
    await press('Create destination');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('kept');
    await dialog.getByRole('button', { name: /Type$/ }).click();
    await page.getByRole('option', { name: 'Stream: stores messages for clients to read' }).click();
    await dialog.getByRole('button', { name: 'Create destination', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'kept' }).click();
    await page.getByText('No messages yet').waitFor();
    const { project } = await getStage().api(`{ project(idOrName: "demo") {
      topics { nodes { id name } } destinations(search: "kept") { nodes { id } } } }`);
    const [{ id }] = project.destinations.nodes;
    for (const topic of project.topics.nodes) {
      await getStage().api(`mutation { createTopicDestinationRoute(input: { projectIdOrName: "demo",
        topicId: "${topic.id}", destinationId: "${id}" }) { topicDestinationRoute { id } } }`);
    }
    const connect = (groupRef: string) =>
      getStage().api(`mutation { generateConnection(input: { projectIdOrName: "demo",
        provider: "sandbox", groupRef: "${groupRef}", consumerRef: "ann", credentials: { apiKey: "sandbox-key" } }) {
        connection { id } } }`);
    const lines = page.locator('main .lines li');
    await connect('stream-1');
    await lines.filter({ hasText: 'Connection created' }).first().waitFor();
    await expectAccessible(page);
    await press('Pause');
    await connect('stream-2');
    await connect('stream-3');
    await press('Resume');
    await expect.poll(() => lines.count()).toBe(3);
    await page.reload();
    await expect.poll(() => lines.count()).toBe(3);
    expect(await lines.first().textContent()).toContain('stream-3');
  });
}
