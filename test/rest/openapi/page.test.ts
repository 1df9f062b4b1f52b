/** The reference page as HTML. test/browser opens it in a browser. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';

const app = await getSharedApp();
const server = createServer((req, res) => app.app.rest.routing(req, res)).listen(0, '127.0.0.1');
await once(server, 'listening');
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

test('loads nothing from other origins, and forbids it', async () => {
  const page = await fetch(`${origin}/v1/docs`);
  expect(page.status).toBe(200);
  const policy = page.headers.get('content-security-policy');
  expect(policy).toContain("default-src 'self'");
  expect(policy).not.toMatch(/https?:|\*/);
  expect(await page.text()).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
});
