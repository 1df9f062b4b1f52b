/** Live pages show changes by other clients, and events that arrive during a pause are not lost. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { openConsole } from '../support/console.ts';
import type { ConsoleStage } from './stage.ts';

/** More events than the page shows at first. */
const OLDER_EVENT_COUNT = 55;

export function testLive(getStage: () => ConsoleStage) {
  let page: Page;
  beforeAll(async () => {
    page = await getStage().openTab();
    return () => page.close();
  });

  /** Causes an event from outside: a new group connects. */
  const connect = (groupRef: string) =>
    getStage().api(`mutation { generateConnection(input: { projectIdOrName: "demo",
    provider: "sandbox", groupRef: "${groupRef}", consumerRef: "ann", credentials: { apiKey: "sandbox-key" } }) {
    connection { id } } }`);

  const lines = () => page.locator('main .lines li').allInnerTexts();
  const groups = async (...names: string[]) =>
    (await lines()).flatMap((line) => names.filter((name) => line.includes(name)));

  test('shows new events, and events that arrived during a pause after it', async () => {
    await openConsole(page, `${getStage().url}/console/demo/events`);
    await page.locator('main .lines li').first().waitFor();
    await connect('live-1');
    await page.getByText('live-1').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Paused', { exact: true }).waitFor();
    await connect('live-2');
    await connect('live-3');
    expect(await groups('live-2', 'live-3')).toEqual([]);
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('live-3').waitFor();
    expect(await groups('live-1', 'live-2', 'live-3')).toEqual(['live-3', 'live-2', 'live-1']);
  });

  test('updates an operation and its log until the operation ends', async () => {
    await openConsole(page, `${getStage().url}/console/demo/operations`);
    const { triggerRead } = await getStage().api(`mutation { triggerRead(input: {
    projectIdOrName: "demo", integrationIdOrName: "crm-sync", objectName: "contacts",
    groupRef: "acme" }) { operation { id } } }`);
    const row = page.locator(`a[href$="${triggerRead.operation.id}"]`);
    await row.waitFor();
    await row.click();
    await page.locator('.facts .status.good').waitFor();
    await page.locator('main .lines li').first().waitFor();
  });

  test('links figures of the overview to filtered lists', async () => {
    await openConsole(page, `${getStage().url}/console/demo`);
    await page.getByRole('link', { name: /Failed operations/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Operations' }).waitFor();
    expect(new URL(page.url()).searchParams.get('status')).toBe('FAILED');
    await page.locator('td .status.bad').first().waitFor();
    await page.reload();
    await page.locator('td .status.bad').first().waitFor();
    expect(await page.locator('td .status.good').count()).toBe(0);
  });

  test('loads older events once each on request, and no live events for a past period', async () => {
    await Promise.all(
      Array.from({ length: OLDER_EVENT_COUNT }, (_none, index) => connect(`older-${index}`)),
    );
    await openConsole(
      page,
      `${getStage().url}/console/demo/events?type=CONNECTION_CREATED&time=week`,
    );
    const row = page.locator('main .lines li');
    await expect.poll(() => row.count()).toBe(50);
    await connect('newer');
    await page.getByText('newer', { exact: true }).waitFor();
    while (await page.getByRole('button', { name: 'Show older' }).isVisible()) {
      const before = await row.count();
      await page.getByRole('button', { name: 'Show older' }).click();
      await expect.poll(() => row.count()).toBeGreaterThan(before);
    }
    const { project } = await getStage().api(`{ project(idOrName: "demo") {
      notificationEvents(eventTypes: [CONNECTION_CREATED]) { totalCount } } }`);
    const addresses = await row
      .getByRole('link')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href')));
    expect(new Set(addresses).size).toBe(addresses.length);
    expect(addresses.length).toBe(project.notificationEvents.totalCount);
    await openConsole(page, `${getStage().url}/console/demo/events?until=2020-01-01T00:00:00.000Z`);
    await page.getByText('No events of this type in this period').waitFor();
    expect(await page.getByRole('button', { name: 'Pause' }).count()).toBe(0);
  });
}
