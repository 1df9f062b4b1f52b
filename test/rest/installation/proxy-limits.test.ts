import { once } from 'node:events';
import { afterAll, expect, test } from 'vitest';
import { sharedApp } from '../../support/app.ts';
import { crmAt, proxyPath, startCalling, startUpstream } from '../../support/rest/proxied.ts';

const upstream = await startUpstream();
afterAll(() => upstream[Symbol.asyncDispose]());
const one = crmAt(upstream.url);
const app = await sharedApp({
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8', LIMIT_PROXY_MS: '700' },
  providers: [{ ...one, limits: { ...one.limits, concurrency: 1 } }],
});
const calling = await startCalling(app);
afterAll(() => calling[Symbol.asyncDispose]());

const tenant = await app.tenant();
const { path } = await proxyPath(app, tenant);
const headers = { 'x-api-key': tenant.apiKey };

/** Writes for as long as the other side takes it; answers how many bytes were taken. */
async function writeWithoutEnd(into: NodeJS.WritableStream): Promise<number> {
  let taken = 0;
  let isOpen = true;
  const gone = once(into, 'close').then(() => {
    isOpen = false;
  });
  into.on('error', () => {});
  while (isOpen) {
    taken += 10_000;
    if (!into.write('x'.repeat(10_000))) await Promise.race([once(into, 'drain'), gone]);
  }
  return taken;
}

test(
  'an answer without an end is cut off in time, and the next request has its turn',
  { tags: ['all/rows'] },
  async () => {
    upstream.behave((_req, res) => {
      res.writeHead(200);
      void writeWithoutEnd(res);
    });
    const { answered } = calling.open(path, { headers, body: '' });
    await expect((await answered).resume().toArray()).rejects.toThrow('aborted');
    upstream.behave((_req, res) => void res.end('next'));
    expect(await calling.ask(path, { headers })).toMatchObject({ status: 200, text: 'next' });
  },
);

test('a request without an end is ended in time', { tags: ['all/rows'] }, async () => {
  upstream.behave((req) => void req.resume());
  const chunked = { ...headers, 'transfer-encoding': 'chunked' };
  const { asking, answered } = calling.open(path, { method: 'POST', headers: chunked });
  void writeWithoutEnd(asking);
  const answer = await answered;
  const { status, reason } = JSON.parse(Buffer.concat(await answer.toArray()).toString());
  expect({ status, reason }).toEqual({ status: 504, reason: 'TIMEOUT' });
  asking.destroy();
});

test('a caller who reads nothing holds back the provider', async () => {
  const { promise: taken, resolve } = Promise.withResolvers<number>();
  upstream.behave((_req, res) => {
    res.writeHead(200);
    resolve(writeWithoutEnd(res));
  });
  const { asking, answered } = calling.open(path, { headers, body: '' });
  (await answered).pause();
  // What the sockets of both sides hold, and not what a provider can send in this time.
  expect(await taken).toBeLessThan(30_000_000);
  asking.destroy();
});

test('requests of one connection beyond its share wait for the answer that streams', async () => {
  const { promise: begun, resolve } = Promise.withResolvers<() => void>();
  upstream.behave((_req, res) => {
    res.writeHead(200).write('first');
    resolve(() => res.end());
  });
  const first = calling.open(path, { headers, body: '' });
  const finish = await begun;
  upstream.behave((_req, res) => void res.end('second'));
  const before = upstream.requests.length;
  const second = calling.ask(path, { headers });
  const answer = await first.answered;
  expect(upstream.requests.length).toBe(before);
  finish();
  await answer.toArray();
  expect(await second).toMatchObject({ text: 'second' });
});
