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

test.each([
  '../openapi.json',
  'json',
  'static/swagger-ui-bundle.js',
  'static/swagger-ui.css',
])('compresses %s for browsers', async (path) => {
  const load = (encoding: string) =>
    fetch(`${origin}/v1/docs/${path}`, { headers: { 'accept-encoding': encoding } });
  const plain = await load('identity');
  expect(plain.headers.get('content-encoding')).toBeNull();
  expect(plain.headers.get('vary')).toContain('accept-encoding');
  const text = await plain.text();
  // The second response comes from memory.
  for (const compressed of [await load('gzip, br'), await load('gzip, br')]) {
    expect(compressed.headers.get('content-encoding')).toBe('br');
    expect(compressed.headers.get('vary')).toContain('accept-encoding');
    expect(Number(compressed.headers.get('content-length'))).toBeLessThan(text.length / 3);
    expect(await compressed.text()).toBe(text);
  }
});

test('answers a conditional request for a compressed file with 304', async () => {
  const url = `${origin}/v1/docs/static/swagger-ui-bundle.js`;
  // Without this header, `fetch` requests a response that is not from a cache.
  const headers = { 'accept-encoding': 'br', 'cache-control': 'max-age=0' };
  const first = await fetch(url, { headers });
  await first.arrayBuffer();
  const etag = String(first.headers.get('etag'));
  const second = await fetch(url, { headers: { ...headers, 'if-none-match': etag } });
  expect(second.status).toBe(304);
});
