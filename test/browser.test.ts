import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** GraphiQL as a person meets it, in a real browser: the system's, since nothing is downloaded. */
const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executablePath = process.env.CHROMIUM_PATH ?? BROWSERS.find((path) => existsSync(path));
if (!executablePath) {
  console.warn(
    `No browser at ${BROWSERS.join(', ')}: the browser test is left out. Set CHROMIUM_PATH.`,
  );
}

const root = join(import.meta.dirname, '..');
const dataDir = mkdtempSync(join(tmpdir(), 'gateway-browser-'));
let stop: () => Promise<void>;
let url: string;
let browser: Browser;

beforeAll(async () => {
  if (!executablePath) return;
  const server = spawn(process.execPath, ['src/main.ts'], {
    cwd: root,
    env: { PATH: process.env.PATH, PORT: '0', DATA_DIR: dataDir },
  });
  stop = async () => {
    server.kill('SIGTERM');
    await once(server, 'exit');
  };
  const ready = Promise.withResolvers<void>();
  server.stdout.on('data', (chunk) => String(chunk).includes('"msg":"ready"') && ready.resolve());
  server.once('exit', () => ready.reject(new Error('The server ended before it was ready.')));
  await ready.promise;
  url = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')).url;
  browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });
}, 90_000);

afterAll(async () => {
  await browser?.close();
  await stop?.();
  rmSync(dataDir, { recursive: true, force: true });
});

async function openGraphiql(): Promise<{ page: Page; foreign: string[] }> {
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  const foreign: string[] = [];
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol.startsWith('http') && origin !== url) foreign.push(request.url());
  });
  await page.goto(`${url}/graphql`);
  await page.locator('.graphiql-execute-button').waitFor();
  return { page, foreign };
}

test.skipIf(!executablePath)(
  'GraphiQL needs no internet, and its first tab runs as it is',
  async () => {
    const { page, foreign } = await openGraphiql();
    expect(await page.locator('.graphiql-tab').count()).toBeGreaterThanOrEqual(6);
    await page.locator('.graphiql-execute-button').click();
    await page.locator('.result-window', { hasText: 'Demo CRM sync' }).waitFor();
    expect(foreign).toEqual([]);
    await page.close();
  },
);

test.skipIf(!executablePath)('a ready tab generates a connection', async () => {
  const { page } = await openGraphiql();
  await page.locator('.graphiql-tab', { hasText: 'GenerateConnection' }).click();
  await page.locator('.graphiql-execute-button').click();
  await page.locator('.result-window', { hasText: '"status": "CREATED"' }).waitFor();
  await page.close();
});
