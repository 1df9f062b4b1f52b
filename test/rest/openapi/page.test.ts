import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { sharedApp } from '../../support/app.ts';
import { launchBrowser, noBrowser } from '../../support/browser.ts';

/** The reference page as a person meets it, in a real browser. */
const app = await sharedApp();
const server = createServer((req, res) => app.app.rest.routing(req, res)).listen(0, '127.0.0.1');
await once(server, 'listening');
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

test('the reference page names nothing of another origin, and forbids it', async () => {
  const page = await fetch(`${origin}/v1/docs`);
  expect(page.status).toBe(200);
  const policy = page.headers.get('content-security-policy');
  expect(policy).toContain("default-src 'self'");
  expect(policy).not.toMatch(/https?:|\*/);
  expect(await page.text()).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
});

test.skipIf(noBrowser)('the reference page lists the endpoints and needs no internet', async () => {
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage();
    const foreign: string[] = [];
    const failed: string[] = [];
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.protocol.startsWith('http') && url.origin !== origin) foreign.push(request.url());
    });
    page.on('response', (response) => {
      if (response.status() >= 400) failed.push(response.url());
    });
    await page.goto(`${origin}/v1/docs`);
    const createTopic = page.locator('#operations-Topics-createTopic');
    await createTopic.locator('.opblock-summary').click();
    await createTopic.getByText('Needs the scope events:write').waitFor();
    expect({ foreign, failed }).toEqual({ foreign: [], failed: [] });
  } finally {
    await browser.close();
  }
});
