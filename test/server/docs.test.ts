/** Tests the documentation site at /docs, with and without a build. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { registerDocs } from '../../src/server/docs/docs.ts';
import { getSharedApp } from '../support/app.ts';
import { browserSkipReason, launchBrowser } from '../support/browser.ts';
import { ROOT } from '../support/documents.ts';
import { PROCESS_ENV } from '../support/process/process-env.ts';

const app = await getSharedApp();

/** Starts a server for the site in an empty folder, to which the test may write files. */
async function startSiteServer() {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-docs-'));
  const server = fastify();
  await server.register((scope) => registerDocs(scope, folder), { prefix: '/docs' });
  onTestFinished(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { folder, server, get: (url: string) => server.inject({ url }) };
}

function writeFiles(folder: string, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

test('shows the command that builds the site if it is not built', async () => {
  const { get } = await startSiteServer();
  for (const path of ['/docs/', '/docs/scale', '/docs/assets/app.js']) {
    const { statusCode, headers, body } = await get(path);
    expect([statusCode, headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect(body).toContain('npm run docs');
  }
});

test('serves pages without their extension, index pages of folders, and linked files', async () => {
  const { folder, get } = await startSiteServer();
  writeFiles(folder, {
    'index.html': 'home',
    '404.html': 'not found',
    'scale.html': 'scale',
    'providers/index.html': 'providers',
    'providers/zoom.html': 'zoom',
    'files/LICENSE': 'MIT',
    'files/ops/alerts.yaml': 'groups',
  });
  const redirect = await get('/docs');
  expect([redirect.statusCode, redirect.headers.location]).toEqual([302, 'docs/']);
  const texts: Record<string, string> = {
    '/docs/': 'home',
    '/docs/scale': 'scale',
    '/docs/scale.html': 'scale',
    '/docs/providers/': 'providers',
    '/docs/providers/zoom': 'zoom',
    '/docs/files/LICENSE': 'MIT',
    '/docs/files/ops/alerts.yaml': 'groups',
  };
  for (const [path, text] of Object.entries(texts)) {
    const { statusCode, body, headers } = await get(path);
    expect([path, statusCode, body, headers['cache-control']]).toEqual([
      path,
      200,
      text,
      'no-cache',
    ]);
  }
  for (const path of ['/docs/none', '/docs/assets/none.js']) {
    const { statusCode, body } = await get(path);
    expect([path, statusCode, body]).toEqual([path, 404, 'not found']);
  }
  expect((await get('/docs/..%2f..%2fpackage.json')).statusCode).toBe(403);
});

test('lets clients cache assets, and permits no other origin and no inline script', async () => {
  const { folder, get } = await startSiteServer();
  writeFiles(folder, { 'index.html': 'home', '404.html': '', 'assets/app.1a2b.js': 'script' });
  const asset = await get('/docs/assets/app.1a2b.js');
  expect(asset.headers['cache-control']).toBe('public, max-age=31536000, immutable');
  for (const path of ['/docs/', '/docs/assets/app.1a2b.js', '/docs/none']) {
    const policy = String((await get(path)).headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self' 'sha256-");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/http|\*|unsafe-eval/);
  }
});

test('serves the site at /docs', async () => {
  const { status, headers } = await app.fetch('/docs');
  expect([status, headers.get('location')]).toEqual([302, 'docs/']);
});

const VITEPRESS = join(ROOT, 'docs/node_modules/vitepress/bin/vitepress.js');
/** The build takes half a minute on a quiet machine. */
const BUILD_MS = 300_000;
const skipReason =
  browserSkipReason ??
  (existsSync(VITEPRESS)
    ? null
    : 'The packages of docs/ are missing: `npm run docs` installs them.');
if (skipReason) console.warn(`The documentation is not opened in a browser. ${skipReason}`);

/** Builds the site of the current documents, because a site that a user built may be older. */
test.skipIf(skipReason)(
  'works in a browser without requests to another origin',
  { tags: ['all/process'], timeout: BUILD_MS },
  async () => {
    const { folder, server } = await startSiteServer();
    const build = [VITEPRESS, 'build', 'docs', '--outDir', folder];
    await promisify(execFile)(process.execPath, build, { cwd: ROOT, env: PROCESS_ENV });
    const url = await server.listen();
    await using browser = await launchBrowser();
    const page = await browser.newPage();
    const problems: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    page.on('request', (request) => {
      const target = new URL(request.url());
      if (target.protocol.startsWith('http') && target.origin !== new URL(url).origin) {
        problems.push(request.url());
      }
    });
    page.on('response', (response) => {
      if (response.status() >= 400) problems.push(response.url());
    });
    await page.goto(`${url}/docs`);
    await page.getByRole('heading', { name: 'Integration gateway' }).waitFor();
    const icon = await page.locator('link[rel="icon"]').getAttribute('href');
    const iconResponse = await page.request.get(`${url}${icon}`);
    expect(iconResponse.headers()['content-type']).toBe('image/svg+xml');
    await page.locator('.VPSwitchAppearance').first().click();
    await page.getByRole('button', { name: 'Search' }).first().click();
    await page.getByRole('searchbox').fill('backfill');
    await page.locator('.results a').first().click();
    await page.waitForURL(/\/docs\/\w/);
    await page.goto(`${url}/docs/providers/#declared-providers`);
    await page.getByRole('link', { name: 'Zoom', exact: true }).last().click();
    await page.getByRole('heading', { name: 'Zoom', level: 1 }).waitFor();
    expect(problems).toEqual([]);
  },
);
