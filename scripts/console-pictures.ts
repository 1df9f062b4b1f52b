/**
 * Pictures of the console: `npm run console:pictures -- <folder> [address]`. The server at the address has the demo and
 * runs on this machine.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const [folder = 'data/pictures', url = 'http://127.0.0.1:4000', only = ''] = process.argv.slice(2);
const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const WIDE = { width: 1280, height: 800 };
/** Plots and live lines are drawn after the page. */
const SETTLED_MS = 800;
const PHONE = { width: 360, height: 740 };

const PAGES = [
  '',
  'connections',
  'destinations',
  'events',
  'operations',
  'integrations',
  'routes',
  'groups',
  'providers',
  'settings',
];

interface Look {
  name: string;
  viewport: typeof WIDE;
  colorScheme: 'light' | 'dark';
}

const LOOKS: Look[] = [
  { name: 'light', viewport: WIDE, colorScheme: 'light' },
  { name: 'dark', viewport: WIDE, colorScheme: 'dark' },
  { name: 'phone', viewport: PHONE, colorScheme: 'light' },
];

async function takeAll(browser: Browser, { name, viewport, colorScheme }: Look): Promise<void> {
  const page = await browser.newPage({ viewport, colorScheme });
  page.on('console', (message) => {
    if (message.type() === 'error') console.error(`${page.url()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => console.error(`${page.url()}: ${error.stack}`));
  await page.goto(`${url}/console`);
  await page.getByRole('button', { name: 'Open the demo' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  for (const place of PAGES.filter((one) => one.includes(only))) {
    await page.goto(`${url}/console/demo/${place}`);
    await page.locator('main h1').waitFor();
    await page.waitForFunction(() => document.querySelector('.loading') === null);
    await page.waitForTimeout(SETTLED_MS);
    await page.screenshot({ path: join(folder, `${place || 'overview'}-${name}.png`) });
  }
  await page.close();
}

mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
for (const look of LOOKS) await takeAll(browser, look);
await browser.close();
