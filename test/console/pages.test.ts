/** Every page of the console: it opens, axe finds nothing, nothing is loaded from elsewhere, and a phone is wide enough. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser, noBrowser } from '../support/browser.ts';
import { consoleApi, holdToAxe, signIn } from '../support/console.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';

if (noBrowser) console.warn(noBrowser);

const PAGES = [
  ['', 'Overview'],
  ['connections', 'Connections'],
  ['connections/{connection}', 'Wayne Enterprises at sandbox'],
  ['groups', 'Groups and consumers'],
  ['groups/acme', 'Acme Inc.'],
  ['integrations', 'Integrations'],
  ['integrations/crm-sync', 'CRM sync'],
  ['installations', 'Installations'],
  ['installations/{installation}', 'Acme Inc.: crm-sync'],
  ['operations', 'Operations'],
  ['operations/{operation}', 'deals'],
  ['events', 'Events'],
  ['events/{event}', 'Installation created'],
  ['routes', 'Routes'],
  ['destinations', 'Destinations'],
  ['destinations/{destination}', 'events'],
  ['deliveries/{delivery}', 'to events'],
  ['providers', 'Providers'],
  ['providers/sandbox', 'Sandbox'],
  ['settings', 'Settings'],
] as const;

const IDS = `{ project(idOrName: "demo") {
  connections(first: 1) { nodes { id } }
  installations(first: 1) { nodes { id } }
  operations(first: 1, actionType: WRITE) { nodes { id } }
  notificationEvents(last: 1) { nodes { id deliveries { nodes { id destination { id } } } } }
} }`;

let server: ServerProcess;
let url: string;
let browser: Browser;
let page: Page;
const ids: Record<string, string> = {};
const complaints: string[] = [];

beforeAll(async () => {
  if (noBrowser) return;
  server = await startServerProcess();
  url = server.demo.url;
  browser = await launchBrowser();
  page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol.startsWith('http') && origin !== url) complaints.push(request.url());
  });
  const { project } = await consoleApi(server)(IDS);
  const [event] = project.notificationEvents.nodes;
  const [delivery] = event.deliveries.nodes;
  ids.connection = project.connections.nodes[0].id;
  ids.installation = project.installations.nodes[0].id;
  ids.operation = project.operations.nodes[0].id;
  ids.event = event.id;
  ids.delivery = delivery.id;
  ids.destination = delivery.destination.id;
  await signIn(page, url);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

test.skipIf(noBrowser).each(PAGES)('/%s', async (path, heading) => {
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.emulateMedia({ colorScheme: 'light' });
  const named = path.replace(/\{(\w+)\}/, (_all, name: string) => ids[name] ?? name);
  await page.goto(`${url}/console/demo/${named}`);
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  await page.waitForFunction(() => document.querySelector('.loading') === null);
  await holdToAxe(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  await holdToAxe(page);
  await page.setViewportSize({ width: 360, height: 740 });
  const isTooWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  expect(isTooWide).toBe(false);
  expect(complaints).toEqual([]);
});

test.skipIf(noBrowser)('a wrong key is refused, and a right one is in no address', async () => {
  const own = await browser.newContext();
  const stranger = await own.newPage();
  await stranger.goto(`${url}/console/demo/operations`);
  const enter = async (key: string) => {
    await stranger.getByLabel('API key or bearer token').fill(key);
    await stranger.getByRole('button', { name: 'Sign in', exact: true }).click();
  };
  await enter('ik_wrong');
  await stranger.getByRole('alert').waitFor();
  await holdToAxe(stranger);
  await enter(server.demo.apiKey);
  // Where the address led before.
  await stranger.getByRole('heading', { level: 1, name: 'Operations' }).waitFor();
  expect(stranger.url()).not.toContain('ik_');
  await own.close();
});

test.skipIf(noBrowser)('what a key may not do is told, with the scope that may', async () => {
  const made = await consoleApi(server)(`mutation { createApiKey(input: {
    projectIdOrName: "demo", label: "reader", scopes: ["connections:write"] }) { key } }`);
  const own = await browser.newContext();
  const reader = await own.newPage();
  await reader.goto(`${url}/console/demo/operations`);
  await reader.getByLabel('API key or bearer token').fill(made.createApiKey.key);
  await reader.getByRole('button', { name: 'Sign in', exact: true }).click();
  await reader.getByText('Not allowed').first().waitFor();
  expect(await reader.locator('main').textContent()).toContain('read');
  await holdToAxe(reader);
  await own.close();
});
