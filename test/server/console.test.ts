/**
 * Tests responses below /console without a browser: files, their caching, their security policy, and the demo's
 * sign-in.
 */
import { readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { decodeJwt } from 'jose';
import { beforeAll, expect, test, vi } from 'vitest';
import { ServiceUnavailable } from '../../src/kernel/errors.ts';
import { isFromThisMachine } from '../../src/server/console/demo-sign-in.ts';
import { hasDocs } from '../../src/server/docs/docs.ts';
import { getSharedApp } from '../support/app.ts';

const BUILD_MS = 120_000;
// Without this setting, the app would wait longer for responses whose bodies the tests do not read when it stops.
const app = await getSharedApp({ env: { DEMO: 'true', SHUTDOWN_MS: '1000' } });
let url: string;
beforeAll(async () => {
  ({ url } = await app.app.start());
  // The first request builds missing or outdated files.
  await (await fetch(`${url}/console`)).text();
}, BUILD_MS);

const listAssets = (html: string) =>
  [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path as string);

test.each([
  '/console',
  '/console/',
  '/console/demo',
  '/console/demo/connections/con_1',
])('serves a page at %s whose assets are below /console', async (path) => {
  const response = await fetch(url + path);
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/html; charset=utf-8',
  ]);
  const assets = listAssets(await response.text()).map((asset) => new URL(asset, url + path));
  expect(assets.length).toBeGreaterThanOrEqual(3);
  for (const { pathname, href } of assets) {
    expect(pathname).toMatch(/^\/console\/(assets\/|icon\.svg)/);
    expect((await fetch(href)).status).toBe(200);
  }
});

test('puts the version and whether the documentation is built into the page', async () => {
  const { version } = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'),
  );
  const [, attributes] = /<html([^>]*)>/.exec(await (await fetch(`${url}/console`)).text()) ?? [];
  expect(attributes).toContain(` data-version="${version}"`);
  expect(attributes?.includes(' data-docs')).toBe(hasDocs());
});

test('allows no inline script, no other origin and no frame', async () => {
  const response = await fetch(`${url}/console`);
  const policy = response.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'; script-src 'self';");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/unsafe|http|\*/);
  const html = (await response.text()).replace(`data-redirect-url="${url}/oauth/callback"`, '');
  expect(html).not.toMatch(/<script>|<style|\son\w+=|https?:/);
});

test('serves immutable, compressed assets and a revalidated page', async () => {
  const page = await fetch(`${url}/console`);
  const etag = page.headers.get('etag') ?? '';
  expect(page.headers.get('cache-control')).toBe('no-cache');
  const revalidated = await fetch(`${url}/console`, { headers: { 'if-none-match': etag } });
  expect(revalidated.status).toBe(304);
  const script = listAssets(await page.text()).find((path) => path.endsWith('.js')) as string;
  const scriptUrl = new URL(script, `${url}/console`);
  const sizes = [];
  for (const encoding of ['br', 'gzip', 'identity']) {
    const response = await fetch(scriptUrl, { headers: { 'accept-encoding': encoding } });
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(response.headers.get('content-encoding')).toBe(
      encoding === 'identity' ? null : encoding,
    );
    sizes.push((await response.text()).length);
  }
  expect(new Set(sizes).size).toBe(1);
  expect((await fetch(`${url}/console/assets/none.js`)).status).toBe(404);
  expect((await fetch(`${url}/console/..%2f..%2fpackage.json`)).headers.get('content-type')).toBe(
    'text/html; charset=utf-8',
  );
});

test('lets only the allowed origins of a project embed the connect page in a frame', async () => {
  const { projectId, apiKey } = JSON.parse(
    readFileSync(join(app.app.services.config.DATA_DIR, 'demo.json'), 'utf8'),
  );
  const fetchFramePolicy = async (query: string) => {
    const response = await fetch(`${url}/connect${query}`);
    expect(response.status).toBe(200);
    const [asset] = listAssets(await response.text());
    expect((await fetch(new URL(asset ?? '', `${url}/connect`))).status).toBe(200);
    return /frame-ancestors ([^;]+)/.exec(
      response.headers.get('content-security-policy') ?? '',
    )?.[1];
  };
  expect(await fetchFramePolicy('')).toBe("'none'");
  expect(await fetchFramePolicy(`?project=${projectId}`)).toBe("'none'");
  const query = `mutation UpdateProject { updateProject(input: { projectIdOrName: "${projectId}",
    allowedOrigins: ["https://app.example", "https://other.example:8443"] }) { project { id } } }`;
  await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  expect(await fetchFramePolicy(`?project=${projectId}`)).toBe(
    'https://app.example https://other.example:8443',
  );
  expect(await fetchFramePolicy('?project=prj_unknown')).toBe("'none'");
  expect((await fetch(`${url}/connect.js`)).headers.get('content-type')).toContain('javascript');
});

/** Sends a request with these headers. It does not use fetch, which cannot set Host. */
function sendRequest(path: string, headers: Record<string, string>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request(`${url}${path}`, { headers }, resolve).on('error', reject).end();
  });
}

async function fetchDemoStatus(headers: Record<string, string>): Promise<number | undefined> {
  const response = await sendRequest('/console/demo.json', headers);
  response.resume();
  return response.statusCode;
}

test("serves the demo's key only to a browser on this machine", async () => {
  const { port } = new URL(url);
  expect(await fetchDemoStatus({})).toBe(200);
  expect(await fetchDemoStatus({ host: `localhost:${port}` })).toBe(200);
  // A foreign host name that resolves to this machine (DNS rebinding).
  expect(await fetchDemoStatus({ host: 'evil.example' })).toBe(204);
  expect(await fetchDemoStatus({ 'x-forwarded-for': '198.51.100.7' })).toBe(204);
  const { apiKey, bearerToken } = await (await fetch(`${url}/console/demo.json`)).json();
  expect(apiKey).toMatch(/^ik_/);
  const { iat = 0, exp } = decodeJwt(bearerToken);
  expect(exp).toBe(iat + 3_600);
});

test.each([
  ['x-real-ip', '198.51.100.7'],
  ['via', '1.1 proxy'],
  ['forwarded', 'for=198.51.100.7'],
  ['x-forwarded-host', 'gateway.example'],
  ['x-forwarded-proto', 'https'],
  ['cf-connecting-ip', '198.51.100.7'],
  ['true-client-ip', '198.51.100.7'],
  ['x-amzn-trace-id', 'Root=1-67891233-abcdef012345678912345678'],
])('serves no demo key through a proxy that adds %s', async (name, value) => {
  expect(await fetchDemoStatus({ [name]: value })).toBe(204);
});

test.each([
  ['1.0', undefined, 204],
  ['1.1', undefined, 200],
  ['1.1', 'http://localhost:4000', 200],
  ['1.1', 'https://gateway.example', 204],
])('serves demo.json over HTTP/%s with PUBLIC_URL %s with status %s', async (httpVersion, publicUrl, status) => {
  const request = { headers: { host: '127.0.0.1' }, httpVersion, address: '127.0.0.1', publicUrl };
  expect(isFromThisMachine(request) ? 200 : 204).toBe(status);
});

test('serves no demo key to HTTP/1.0 and HTTP/0.9 requests', async () => {
  expect(await sendRaw('GET /console/demo.json HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n')).toMatch(
    /^HTTP\/1\.1 204 /,
  );
  // The second request line has no version, as HTTP/0.9 defines it.
  for (const head of ['GET /livez HTTP/0.9\r\nHost: 127.0.0.1\r\n\r\n', 'GET /livez\r\n\r\n']) {
    expect(await sendRaw(head)).toMatch(/^HTTP\/1\.1 505 /);
  }
});

/** Returns all bytes that the server sends until it closes the connection. */
async function sendRaw(head: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(head);
  return text(socket);
}

test('returns a page with status 400 for an invalid project in a connect link', async () => {
  const response = await fetch(`${url}/connect?project=%00`);
  expect([response.status, response.headers.get('content-type')]).toEqual([
    400,
    'text/html; charset=utf-8',
  ]);
  expect(await response.text()).toContain('This link is incomplete');
});

test('returns 503 for the connect page while the database is unavailable', async () => {
  const spy = vi
    .spyOn(app.app.services.database.reads, 'findProject')
    .mockRejectedValueOnce(
      new ServiceUnavailable('The database is away.', { cause: null, retryAfterSeconds: 1 }),
    );
  const response = await fetch(`${url}/connect?project=prj_1`);
  spy.mockRestore();
  expect([response.status, response.headers.get('content-type')]).toEqual([
    503,
    'text/html; charset=utf-8',
  ]);
  expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
});

test.each([
  '/graphql',
  '/graphql/projects/demo',
])('serves GraphiQL at %s with files that browsers keep', async (path) => {
  const response = await fetch(url + path, { headers: { accept: 'text/html' } });
  const assets = listAssets(await response.text()).map((asset) => new URL(asset, url + path));
  expect(assets.length).toBeGreaterThanOrEqual(3);
  for (const { pathname, href } of assets) {
    expect(pathname).toMatch(/^\/console\/(assets\/|icon\.svg)/);
    const { status, headers } = await fetch(href);
    expect(status).toBe(200);
    if (pathname.includes('/assets/')) expect(headers.get('cache-control')).toContain('immutable');
  }
});

test("puts the demo's key into GraphiQL's tabs only for a browser on this machine", async () => {
  const { port } = new URL(url);
  const { apiKey } = await (await fetch(`${url}/console/demo.json`)).json();
  const fetchPage = async (headers: Record<string, string>) => {
    const response = await sendRequest('/graphql', { accept: 'text/html', ...headers });
    expect(response.statusCode).toBe(200);
    const policy = response.headers['content-security-policy'];
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    const page = await text(response);
    expect(page).toContain('query Overview');
    return page;
  };
  expect(await fetchPage({})).toContain(apiKey);
  for (const [name, value] of [
    ['host', 'evil.example'],
    ['x-forwarded-for', '198.51.100.7'],
    ['origin', 'https://evil.example'],
    ['origin', `http://localhost:${port}`],
  ] as const) {
    expect(await fetchPage({ [name]: value })).not.toContain(apiKey);
  }
});

test('serves files that are built while the server runs', async () => {
  const distFolder = join(import.meta.dirname, '..', '..', 'console', 'dist');
  const name = 'assets/put-in-place.js';
  const touchFolder = () => utimesSync(distFolder, new Date(), new Date());
  expect((await fetch(`${url}/console/${name}`)).status).toBe(404);
  writeFileSync(join(distFolder, name), 'later');
  try {
    touchFolder();
    expect(await (await fetch(`${url}/console/${name}`)).text()).toBe('later');
  } finally {
    rmSync(join(distFolder, name));
    touchFolder();
  }
  expect((await fetch(`${url}/console/${name}`)).status).toBe(404);
});
