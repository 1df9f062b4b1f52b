import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasDocs } from '../../../src/server/docs/docs.ts';
import { createTestApp, getSharedApp } from '../../support/app.ts';
import { browserSkipReason, launchBrowser } from '../../support/browser.ts';

const folder = mkdtempSync(join(tmpdir(), 'gateway-start-'));
/** This path has characters that a shell, a JSON string and an HTML page must escape. */
const dataDir = join(folder, `Ada's "data" & <more>`);
mkdirSync(dataDir);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const app = await getSharedApp({ env: { DEMO: 'true', DATA_DIR: dataDir } });
let url: string;
beforeAll(async () => {
  ({ url } = await app.app.start());
});

const BROWSER_HEADERS = {
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
};

async function openPage() {
  const response = await fetch(`${url}/start`, { headers: BROWSER_HEADERS });
  return { response, text: await response.text() };
}

/** Returns the commands as a browser copies them. */
function listCommands(text: string): string[] {
  const blocks = [...text.matchAll(/<pre[^>]*>(.*?)<\/pre>/gs)].map(([, block]) => block as string);
  const unescapeHtml = (block: string) =>
    block.replace(/&#(\d+);/g, (_all, code: string) => String.fromCharCode(Number(code)));
  return blocks.map(unescapeHtml);
}

test("redirects a browser from / to the console, relative to a proxy's path", async () => {
  const response = await fetch(`${url}/`, { headers: BROWSER_HEADERS, redirect: 'manual' });
  expect([response.status, response.headers.get('location')]).toEqual([302, 'console']);
  expect(response.headers.get('vary')).toBe('Accept');
});

test('links to everything that the gateway serves', async () => {
  const { response, text } = await openPage();
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const addresses = [...text.matchAll(/href="([^"]+)"/g)].map(([, href]) => href as string);
  const { sandboxUrl } = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'));
  const docs = hasDocs() ? ['docs/'] : [];
  expect(addresses).toEqual([
    'console',
    'graphql',
    'v1/docs',
    'v1/openapi.json',
    ...docs,
    sandboxUrl,
  ]);
  for (const address of addresses) {
    const linked = await fetch(new URL(address, `${url}/`), { headers: BROWSER_HEADERS });
    expect([address, linked.status]).toEqual([address, 200]);
    await linked.text();
  }
  expect(text).toContain('demo.json');
  expect(text).not.toContain('<more>');
});

test('runs no script, loads nothing and forbids frames', async () => {
  const { response, text } = await openPage();
  const policy = response.headers.get('content-security-policy');
  expect(policy).toMatch(
    /^default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; style-src 'sha256-[^']+'$/,
  );
  expect(text).not.toMatch(/<script|<link|<img|\sstyle=|\son\w+=/);
});

test('shows the commands of the README', async () => {
  const readme = readFileSync(join(import.meta.dirname, '../../../README.md'), 'utf8');
  const commands = listCommands((await openPage()).text);
  expect(commands.length).toBe(3);
  const path = JSON.stringify(join(dataDir, 'demo.json')).replaceAll("'", "'\\''");
  for (const command of commands) {
    const commandInReadme = command.replaceAll(url, '$url').replaceAll(path, '"./data/demo.json"');
    expect(readme).toContain(commandInReadme);
  }
});

test('shows commands that run when a person copies them', async () => {
  const script = listCommands((await openPage()).text).join('\necho\n');
  const { stdout } = await promisify(execFile)('sh', ['-ec', script]);
  expect(stdout).toContain('"result":"');
  expect(stdout).toContain('"status":"SUCCEEDED"');
  expect(stdout).toContain('A deal');
  expect(stdout).toContain('"crm-sync"');
});

test('returns the links as JSON to programs, by GET and HEAD only', async () => {
  for (const init of [undefined, { headers: { accept: 'application/json' } }]) {
    const response = await fetch(`${url}/`, init);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual({
      console: `${url}/console`,
      graphql: `${url}/graphql`,
      rest: `${url}/v1`,
      openapi: `${url}/v1/openapi.json`,
      reference: `${url}/v1/docs`,
      ...(hasDocs() && { documentation: `${url}/docs/` }),
      sandbox: app.app.services.sandboxUrl(),
      health: `${url}/readyz`,
    });
  }
  expect((await fetch(`${url}/`, { method: 'HEAD' })).status).toBe(200);
  expect((await fetch(`${url}/`, { method: 'POST', headers: BROWSER_HEADERS })).status).toBe(404);
});

test('shows no key without the demo, and uses PUBLIC_URL', async () => {
  await using appWithoutDemo = await createTestApp({
    env: { PUBLIC_URL: 'https://gateway.example/' },
  });
  const text = await (await appWithoutDemo.fetch('/start', { headers: BROWSER_HEADERS })).text();
  expect(text).toContain('https://gateway.example/graphql');
  expect(text).not.toContain('demo');
  expect(listCommands(text)).toEqual([expect.stringContaining('curl -s https://gateway.example/')]);
});

test('links to the host of the request if HOST is 0.0.0.0, and logs a warning at the start', async () => {
  const startAndFetch = async (env: Record<string, string>) => {
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line) => lines.push(line) });
    await using openApp = await createTestApp({ env: { HOST: '0.0.0.0', ...env }, log });
    await openApp.app.start();
    const response = await openApp.fetch('/');
    const { origin } = new URL(response.url);
    const { console } = (await response.json()) as { console: string };
    expect(await (await openApp.fetch('/start', { headers: BROWSER_HEADERS })).text()).toContain(
      console,
    );
    const names = lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
    return { origin, console, isWarned: names.includes('public_url.missing') };
  };
  const withoutPublicUrl = await startAndFetch({});
  expect(withoutPublicUrl).toMatchObject({
    console: `${withoutPublicUrl.origin}/console`,
    isWarned: true,
  });
  expect(await startAndFetch({ PUBLIC_URL: 'https://gateway.example' })).toMatchObject({
    console: 'https://gateway.example/console',
    isWarned: false,
  });
});

test.skipIf(browserSkipReason)('fits narrow and wide screens, in light and dark', async () => {
  await using browser = await launchBrowser();
  const measureAppearance = async (width: number, colorScheme: 'light' | 'dark') => {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    const messages: string[] = [];
    page.on('console', (message) => messages.push(message.text()));
    await page.goto(`${url}/start`);
    const styles = await page.evaluate(() => ({
      background: getComputedStyle(document.body).backgroundColor,
      isTooWide: document.documentElement.scrollWidth > innerWidth,
    }));
    await page.close();
    return { ...styles, messages };
  };
  const [light, dark] = ['rgb(255, 255, 255)', 'rgb(20, 23, 27)'];
  for (const width of [360, 1200]) {
    const rest = { isTooWide: false, messages: [] };
    expect(await measureAppearance(width, 'light')).toEqual({ background: light, ...rest });
    expect(await measureAppearance(width, 'dark')).toEqual({ background: dark, ...rest });
  }
});
