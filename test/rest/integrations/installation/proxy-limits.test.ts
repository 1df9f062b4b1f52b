import { once } from 'node:events';
import { afterAll, expect, test } from 'vitest';
import { getSharedApp } from '../../../support/app.ts';
import {
  createCrmProvider,
  installProxy,
  startRawClient,
  startUpstream,
} from '../../../support/rest/proxy-installation.ts';

const upstream = await startUpstream();
afterAll(() => upstream[Symbol.asyncDispose]());
const crmProvider = createCrmProvider(upstream.url);
const app = await getSharedApp({
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8', LIMIT_PROXY_MS: '700' },
  providers: [{ ...crmProvider, limits: { ...crmProvider.limits, concurrency: 1 } }],
});
const rawClient = await startRawClient(app);
afterAll(() => rawClient[Symbol.asyncDispose]());

const tenant = await app.createTenant();
const { path } = await installProxy(app, tenant);
const headers = { 'x-api-key': tenant.apiKey };

/** Writes until the other side stops reading. Returns the number of accepted bytes. */
async function writeWithoutEnd(stream: NodeJS.WritableStream): Promise<number> {
  let writtenBytes = 0;
  let isOpen = true;
  const closed = once(stream, 'close').then(() => {
    isOpen = false;
  });
  stream.on('error', () => {});
  while (isOpen) {
    writtenBytes += 10_000;
    if (!stream.write('x'.repeat(10_000))) await Promise.race([once(stream, 'drain'), closed]);
  }
  return writtenBytes;
}

test(
  'aborts an endless response after the time limit, and continues with the next request',
  { tags: ['all/rows'] },
  async () => {
    upstream.setHandler((_req, res) => {
      res.writeHead(200);
      void writeWithoutEnd(res);
    });
    const { incoming } = rawClient.open(path, { headers, body: '' });
    await expect((await incoming).resume().toArray()).rejects.toThrow('aborted');
    upstream.setHandler((_req, res) => void res.end('next'));
    expect(await rawClient.send(path, { headers })).toMatchObject({ status: 200, text: 'next' });
  },
);

test(
  'returns 504 for an endless request after the time limit',
  { tags: ['all/rows'] },
  async () => {
    upstream.setHandler((req) => void req.resume());
    const chunked = { ...headers, 'transfer-encoding': 'chunked' };
    const { outgoing, incoming } = rawClient.open(path, { method: 'POST', headers: chunked });
    void writeWithoutEnd(outgoing);
    const response = await incoming;
    const { status, reason } = JSON.parse(Buffer.concat(await response.toArray()).toString());
    expect({ status, reason }).toEqual({ status: 504, reason: 'TIMEOUT' });
    outgoing.destroy();
  },
);

test('applies back pressure to the provider if the caller does not read', async () => {
  const { promise: writtenBytes, resolve } = Promise.withResolvers<number>();
  upstream.setHandler((_req, res) => {
    res.writeHead(200);
    resolve(writeWithoutEnd(res));
  });
  const { outgoing, incoming } = rawClient.open(path, { headers, body: '' });
  (await incoming).pause();
  // The sockets of both sides hold this much. A provider could send far more in this time.
  expect(await writtenBytes).toBeLessThan(30_000_000);
  outgoing.destroy();
});

test('delays further requests of a connection while a response streams', async () => {
  const { promise: begun, resolve } = Promise.withResolvers<() => void>();
  upstream.setHandler((_req, res) => {
    res.writeHead(200).write('first');
    resolve(() => res.end());
  });
  const firstExchange = rawClient.open(path, { headers, body: '' });
  const finish = await begun;
  upstream.setHandler((_req, res) => void res.end('second'));
  const requestCount = upstream.requests.length;
  const secondResponse = rawClient.send(path, { headers });
  const response = await firstExchange.incoming;
  expect(upstream.requests.length).toBe(requestCount);
  finish();
  await response.toArray();
  expect(await secondResponse).toMatchObject({ text: 'second' });
});
