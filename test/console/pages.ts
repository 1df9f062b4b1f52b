/**
 * Every page of the console opens, passes axe, loads nothing from other origins, and fits the width of a
 * phone.
 */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { VERSION } from '../../src/kernel/version.ts';
import { hasDocs } from '../../src/server/docs/docs.ts';
import { expectAccessible, openConsole, signIn } from '../support/console.ts';
import type { ConsoleStage } from './stage.ts';

const PAGES = [
  ['', 'Overview'],
  ['start', 'Get started'],
  ['connections', 'Connections'],
  ['connections?search=acme', 'Connections'],
  ['connections/{connection}', 'Wayne Enterprises at Sandbox CRM'],
  ['groups', 'Groups and consumers'],
  ['groups/acme', 'Acme Inc.'],
  ['integrations', 'Integrations'],
  ['integrations/crm-sync', 'CRM sync'],
  ['new-integration', 'New integration'],
  ['new-integration?provider=sandbox', 'New integration'],
  ['installations?integration=crm-sync&health=HEALTHY', 'Installations'],
  ['installations/{installation}', 'CRM sync for Acme Inc.'],
  ['operations?time=day', 'Operations'],
  ['operations/{operation}', 'contacts'],
  ['events', 'Events'],
  ['events/{event}', 'Installation created'],
  ['routes', 'Routes'],
  ['destinations', 'Destinations'],
  ['destinations/{destination}?period=month', 'events'],
  ['deliveries?status=SUCCEEDED', 'Deliveries'],
  ['deliveries/{delivery}', 'to “events”'],
  ['providers', 'Providers'],
  ['providers/sandbox', 'Sandbox'],
  ['new-provider', 'New provider'],
  ['agents', 'Agents'],
  ['contract', 'Contract'],
  ['configuration', 'Configuration'],
  ['members', 'Members'],
  ['settings', 'Settings'],
] as const;

const LIST_IDS = `{ project(idOrName: "demo") {
  records: destination(idOrName: "records") { id }
  connections(first: 1) { nodes { id } }
  installations(first: 1, groupRef: "acme") { nodes { id } }
  operations(first: 1, actionType: WRITE) { nodes { id } }
  notificationEvents(last: 1, eventTypes: [INSTALLATION_CREATED]) { nodes { id deliveries { nodes { id destination { id } } } } }
} }`;

/** The columns by which a reader finds a row. */
const DECIDING_COLUMNS = [
  'Status',
  'Health',
  'Failed',
  'Started',
  'Changed',
  'Last read',
  'Last used',
];

const TAB_COUNT = 3;
const FIRST_PAGE_BYTES_MAX = 260_000;

const TONES = ['good', 'busy', 'bad'];

/** Runs in the page. Lists the tones that a pixel of the plot has, or almost has because of smoothing. */
function listDrawnTones(plot: Element): string[] {
  const canvas = plot.querySelector('canvas');
  const pixels = canvas?.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data;
  const colors = new Set<string>();
  for (let index = 0; index < (pixels?.length ?? 0); index += 4) {
    if (pixels?.[index + 3] === 255) colors.add(String(pixels.slice(index, index + 3)));
  }
  const isDrawn = (color: string) => {
    const channels = color.match(/\d+/g)?.map(Number) ?? [];
    return [...colors].some((drawn) =>
      drawn.split(',').every((part, index) => Math.abs(Number(part) - (channels[index] ?? 0)) <= 8),
    );
  };
  return ['good', 'busy', 'bad'].filter((tone) => {
    const probe = document.createElement('span');
    probe.style.color = `var(--${tone})`;
    plot.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return isDrawn(color);
  });
}

export function testPages(getStage: () => ConsoleStage) {
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    const { project } = await getStage().api(LIST_IDS);
    const [event] = project.notificationEvents.nodes;
    const [delivery] = event.deliveries.nodes;
    ids.records = project.records.id;
    ids.connection = project.connections.nodes[0].id;
    ids.installation = project.installations.nodes[0].id;
    ids.operation = project.operations.nodes[0].id;
    ids.event = event.id;
    ids.delivery = delivery.id;
    ids.destination = delivery.destination.id;
  });

  /** Records errors of the browser and requests to other origins. */
  async function openWatchedTab(): Promise<{ page: Page; complaints: string[] }> {
    const { url } = getStage();
    const page = await (await getStage().openSignedInContext()).newPage();
    const complaints: string[] = [];
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (protocol.startsWith('http') && origin !== url) complaints.push(request.url());
    });
    return { page, complaints };
  }

  /** Lists the columns with a state or a time that are visible only after scrolling, with their tables. */
  function listHiddenColumns(page: Page): Promise<string[]> {
    return page.evaluate((deciding) => {
      return [...document.querySelectorAll('section.scrolls')].flatMap((section) => {
        const { right } = section.getBoundingClientRect();
        return [...section.querySelectorAll('th')]
          .filter(({ innerText }) => deciding.includes(innerText))
          .filter((header) => header.getBoundingClientRect().right > right)
          .map(({ innerText }) => `${section.getAttribute('aria-label')}: ${innerText}`);
      });
    }, DECIDING_COLUMNS);
  }

  async function checkPage(page: Page, [path, heading]: readonly [string, string]): Promise<void> {
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.emulateMedia({ colorScheme: 'light' });
    const named = path.replace(/\{(\w+)\}/, (_all, name: string) => ids[name] ?? name);
    await page.goto(`${getStage().url}/console/demo/${named}`);
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    await page.waitForFunction(() => document.querySelector('.loading') === null);
    await expectAccessible(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectAccessible(page, 'color-contrast');
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await listHiddenColumns(page), path).toEqual([]);
    await page.setViewportSize({ width: 360, height: 740 });
    const isTooWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    expect(isTooWide, path).toBe(false);
  }

  // The tabs run concurrently, because most of a page's time is waiting.
  test.concurrent.each(Array.from({ length: TAB_COUNT }, (_none, tab) => tab))(
    'shows every page without errors, in light, dark and narrow windows (tab %i)',
    { tags: ['all/walk'], timeout: 180_000 },
    async (tab) => {
      const { page, complaints } = await openWatchedTab();
      for (const entry of PAGES.filter((_page, index) => index % TAB_COUNT === tab)) {
        await checkPage(page, entry);
        expect(complaints, entry[0]).toEqual([]);
      }
      await page.context().close();
    },
  );

  test('shows the lines of all percentiles, although p95 and p99 of few attempts are equal', async () => {
    const page = await getStage().openTab();
    await openConsole(page, `${getStage().url}/console/demo/destinations/${ids.records}`);
    const plot = page.getByRole('img', { name: 'Duration of attempts' });
    await expect.poll(() => plot.evaluate(listDrawnTones), { timeout: 20_000 }).toEqual(TONES);
    await page.close();
  });

  test('shows the version in the sidebar, and links to the documentation if it is built', async () => {
    const page = await getStage().openTab();
    await page.goto(`${getStage().url}/console/demo`);
    await page.getByText(`Version ${VERSION}`).waitFor();
    expect(await page.getByRole('link', { name: 'Documentation' }).count()).toBe(hasDocs() ? 1 : 0);
    await page.close();
  });

  test('refuses a wrong key, and puts no key into a URL', async () => {
    const context = await getStage().openContext();
    const otherTenant = await context.newPage();
    await otherTenant.goto(`${getStage().url}/console/demo/operations`);
    await enter(otherTenant, 'ik_wrong');
    await otherTenant.getByText("That key or token isn't valid.").waitFor();
    await expectAccessible(otherTenant);
    await enter(otherTenant, getStage().server.demo.apiKey);
    // The page before the sign-in.
    await otherTenant.getByRole('heading', { level: 1, name: 'Operations' }).waitFor();
    expect(otherTenant.url()).not.toContain('ik_');
    await context.close();
  });

  test('opens the demo with one click and a small first page', async () => {
    const context = await getStage().openContext();
    const page = await context.newPage();
    const sizes: Promise<number>[] = [];
    page.on('requestfinished', (request) => {
      if (request.url().includes('/console')) {
        sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
      }
    });
    await signIn(page, getStage().url);
    await page.waitForFunction(() => document.querySelector('.loading') === null);
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeGreaterThan(100_000);
    expect(bytes).toBeLessThan(FIRST_PAGE_BYTES_MAX);
    await context.close();
  });

  test('shows which scope is missing if a key does not permit an action', async () => {
    const created = await getStage().api(`mutation { createApiKey(input: {
      projectIdOrName: "demo", label: "reader", scopes: [CONNECTIONS_WRITE] }) { key } }`);
    const context = await getStage().openContext();
    const reader = await context.newPage();
    await reader.goto(`${getStage().url}/console/demo/operations`);
    await enter(reader, created.createApiKey.key);
    await reader.getByText('Not allowed').first().waitFor();
    expect(await reader.locator('main').textContent()).toContain('read');
    await expectAccessible(reader);
    await context.close();
  });

  test('opens GraphiQL with the query of the page', async () => {
    const page = await getStage().openTab();
    await page.goto(`${getStage().url}/console/demo/operations?status=FAILED`);
    const link = page.getByRole('link', { name: 'Open in GraphiQL' });
    await expect.poll(() => link.getAttribute('href')).toContain('query=');
    const address = new URL((await link.getAttribute('href')) ?? '', getStage().url);
    const query = address.searchParams.get('query') ?? '';
    const variables = JSON.parse(address.searchParams.get('variables') ?? '');
    const { project } = await getStage().api(query, variables);
    const edges: { node: { status: string } }[] = project.operations.edges;
    expect(new Set(edges.map(({ node }) => node.status))).toEqual(new Set(['FAILED']));
    await page.close();
  });

  async function enter(page: Page, key: string): Promise<void> {
    await page.getByLabel('API key or bearer token').fill(key);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  }
}
