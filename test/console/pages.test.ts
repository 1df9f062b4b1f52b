/** Every page of the console: it opens, axe finds nothing, nothing is loaded from elsewhere, and a phone is wide enough. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser, noBrowser } from '../support/browser.ts';
import { holdToAxe, signIn } from '../support/console.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';

if (noBrowser) console.warn(noBrowser);

const PAGES = [
  ['', 'Overview'],
  ['connections', 'Connections'],
] as const;

let server: ServerProcess;
let url: string;
let browser: Browser;
let page: Page;
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
  await signIn(page, url);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

test.skipIf(noBrowser).each(PAGES)('/%s', async (path, heading) => {
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto(`${url}/console/demo/${path}`);
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  await page.locator('.loading').waitFor({ state: 'detached' });
  await holdToAxe(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  await holdToAxe(page);
  await page.setViewportSize({ width: 360, height: 740 });
  const isTooWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  expect(isTooWide).toBe(false);
  expect(complaints).toEqual([]);
});

test.skipIf(noBrowser)(
  'a key without the scope is told which one it needs, and a wrong key that it is wrong',
  async () => {
    const own = await browser.newContext();
    const stranger = await own.newPage();
    await stranger.goto(`${url}/console`);
    await stranger.getByLabel('API key or bearer token').fill('ik_wrong');
    await stranger.getByRole('button', { name: 'Sign in', exact: true }).click();
    await stranger.getByRole('alert').waitFor();
    await holdToAxe(stranger);
    const { apiKey } = server.demo;
    await stranger.getByLabel('API key or bearer token').fill(apiKey);
    await stranger.getByRole('button', { name: 'Sign in', exact: true }).click();
    await stranger.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(stranger.url()).not.toContain('ik_');
    await own.close();
  },
);
