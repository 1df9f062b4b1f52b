/**
 * Takes pictures of the console and the connect page: `npm run console:pictures -- <folder> [url]`. The server at the URL
 * must have the demo and run on this machine.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { answerHelp } from '../src/commands/usage.ts';
import { launchBrowser } from '../test/support/browser.ts';

const USAGE = 'Usage: npm run console:pictures -- <folder> [url]';

answerHelp(USAGE);

const [folder = 'data/pictures', url = 'http://127.0.0.1:4000', nameFilter = ''] =
  process.argv.slice(2);
if (folder.startsWith('-')) {
  console.error(USAGE);
  process.exit(2);
}
const WIDE = { width: 1200, height: 860 };
const PHONE = { width: 360, height: 740 };
/** The time in which the page draws its plots and live lines. */
const SETTLE_MS = 800;

const PAGES = [
  'overview',
  'connections',
  'destinations',
  'events',
  'operations',
  'installations',
  'integrations',
  'integrations/crm-sync',
  'routes',
  'groups',
  'providers',
  'agents',
  'contract',
  'configuration',
  'settings',
];

interface Variant {
  name: string;
  viewport: typeof WIDE;
  colorScheme: 'light' | 'dark';
}

const VARIANTS: Variant[] = [
  { name: 'light', viewport: WIDE, colorScheme: 'light' },
  { name: 'dark', viewport: WIDE, colorScheme: 'dark' },
  { name: 'phone', viewport: PHONE, colorScheme: 'light' },
];

async function takePicture(page: Page, name: string): Promise<void> {
  await page.waitForFunction(() => document.querySelector('.loading') === null);
  await page.waitForTimeout(SETTLE_MS);
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

async function takeConsolePictures(
  browser: Browser,
  { name, viewport, colorScheme }: Variant,
): Promise<void> {
  const page = await browser.newPage({ viewport, colorScheme });
  page.on('pageerror', (error) => console.error(`${page.url()}: ${error.stack}`));
  await page.goto(`${url}/console`);
  await page.getByRole('button', { name: 'Open demo' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  for (const path of PAGES.filter((candidate) => candidate.includes(nameFilter))) {
    await page.goto(`${url}/console/demo/${path === 'overview' ? '' : path}`);
    await page.locator('main h1').waitFor();
    await takePicture(page, `${path.replace('/', '-')}-${name}`);
  }
  await page.close();
}

const CREATE_SESSION_TOKEN = `mutation CreateSessionToken { createSessionToken(input: { projectIdOrName: "demo", groupRef: "pictures",
  groupName: "Pictures Inc.", consumerRef: "pat", integrations: ["crm-sync"] }) { connectUrl } }`;

async function takeConnectPicture(browser: Browser): Promise<void> {
  const { apiKey } = await (await fetch(`${url}/console/demo.json`)).json();
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const body = JSON.stringify({ query: CREATE_SESSION_TOKEN });
  const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body });
  const { data } = await response.json();
  const page = await browser.newPage({ viewport: { width: 640, height: 620 } });
  await page.goto(data.createSessionToken.connectUrl);
  const connectButton = page.getByRole('button', { name: 'Connect Sandbox CRM', exact: true });
  const startButton = page.getByRole('button', { name: 'Start' });
  await connectButton.or(startButton).waitFor();
  if (await connectButton.isVisible()) {
    await connectButton.click();
    await page.getByRole('button', { name: 'Approve' }).click();
    await startButton.waitFor();
  }
  await takePicture(page, 'connect');
}

mkdirSync(folder, { recursive: true });
const browser = await launchBrowser();
for (const variant of VARIANTS) await takeConsolePictures(browser, variant);
if ('connect'.includes(nameFilter)) await takeConnectPicture(browser);
await browser.close();
