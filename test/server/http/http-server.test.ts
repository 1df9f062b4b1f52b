/** A server that stops answers what it has taken, and lets nobody hold it up. */
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { listen } from '../../../src/server/http/http-server.ts';

const HOST = { host: '127.0.0.1', port: 0 };
/** Longer than the test may take. */
const WITHIN_MS = 600_000;

test('clients that ask on and on over kept connections are answered, and sent away', async () => {
  let taken = 0;
  const { url, stop } = await listen(async (_request, response) => {
    taken += 1;
    await sleep(5);
    response.end('ok');
  }, HOST);
  const agent = new Agent({ keepAlive: true });
  const ask = () =>
    new Promise<boolean>((resolve) => {
      const request = get(url, { agent }, (response) => {
        response.on('error', () => resolve(false)).resume();
        response.on('end', () => resolve(response.complete));
      });
      // A connection that was closed as quiet may have had a request on its way, which nobody took.
      request.on('error', () => resolve(false));
    });
  let answered = 0;
  const clients = Array.from({ length: 8 }, async () => {
    while (await ask()) answered += 1;
  });
  await expect.poll(() => answered).toBeGreaterThan(50);
  await stop(WITHIN_MS);
  await Promise.all(clients);
  expect(answered).toBe(taken);
  agent.destroy();
});

test('while it drains, everybody is answered and sent elsewhere for the next request', async () => {
  const { url, stop, drain } = await listen((_request, response) => response.end('ok'), HOST);
  const agent = new Agent({ keepAlive: true });
  const ask = () =>
    new Promise<string | undefined>((resolve, reject) => {
      const request = get(url, { agent }, (response) => {
        response.resume().on('end', () => resolve(response.headers.connection));
      });
      request.on('error', reject);
    });
  expect(await ask()).toBe('keep-alive');
  drain();
  expect(await ask()).toBe('close');
  expect(await ask()).toBe('close');
  await stop(WITHIN_MS);
  agent.destroy();
});
