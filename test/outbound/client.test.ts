import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createOutbound, type OutboundOptions } from '../../src/outbound/client.ts';
import type { OutboundRequest } from '../../src/outbound/exchange.ts';
import type { OutboundError } from '../../src/outbound/outbound-error.ts';
import {
  createLookup,
  PRIVATE_ADDRESSES,
  PRIVATE_HOSTS,
} from '../support/outbound/private-addresses.ts';
import { type Behavior, startReceiver } from '../support/receiver.ts';
import { serve } from '../support/wire/serve.ts';

const LOOPBACK = ['127.0.0.1/32'];

function createTestOutbound(options: Partial<OutboundOptions> = {}) {
  const client = createOutbound({
    allowedPrivateTargets: LOOPBACK,
    alwaysAllowedOrigins: () => [],
    ...options,
  });
  onTestFinished(() => client[Symbol.asyncDispose]());
  return client;
}

function createGet(url: string, options: Partial<OutboundRequest> = {}): OutboundRequest {
  return { method: 'GET', url, headers: {}, timeoutMs: 5_000, responseBytesMax: 1_024, ...options };
}

async function startReceiverWith(behavior: Behavior) {
  const receiver = await startReceiver();
  onTestFinished(() => receiver[Symbol.asyncDispose]());
  receiver.setBehavior('hook', behavior);
  return { receiver, url: receiver.getUrl('hook') };
}

/** Stops the timers of requests, so that a slow machine does not end a request before its connection is open. */
function stopTimers() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

async function startServer(handler: RequestListener, host?: string): Promise<string> {
  const { url, stop } = await serve(handler, host);
  onTestFinished(stop);
  return url;
}

async function catchFailure(pendingResponse: Promise<unknown>): Promise<OutboundError> {
  return pendingResponse.then(
    () => expect.unreachable('The request succeeded.'),
    (error) => error as OutboundError,
  );
}

test.each(PRIVATE_HOSTS)('refuses the literal private address %s', async (host) => {
  const client = createTestOutbound({ allowedPrivateTargets: [] });
  for (const protocol of ['http', 'https']) {
    const failure = await catchFailure(client.send(createGet(`${protocol}://${host}:9/`)));
    expect(failure).toMatchObject({ name: 'OutboundError', kind: 'REFUSED_ADDRESS' });
  }
});

test.each(PRIVATE_ADDRESSES)('refuses a name that resolves to %s', async (address) => {
  const client = createTestOutbound({ allowedPrivateTargets: [], lookup: createLookup(address) });
  const failure = await catchFailure(client.send(createGet('https://hooks.example/')));
  expect(failure.kind).toBe('REFUSED_ADDRESS');
  expect(failure.message).toBe(
    'The address of hooks.example is not permitted: ALLOWED_PRIVATE_TARGETS does not contain it.',
  );
});

test('reaches an address of the allow-list, by literal and by name', async () => {
  const { receiver, url } = await startReceiverWith({ status: 200 });
  const client = createTestOutbound({ lookup: createLookup('127.0.0.1') });
  expect(await client.send(createGet(url))).toMatchObject({ status: 200, truncated: false });
  const urlWithName = url.replace('127.0.0.1', 'receiver.example');
  expect(await client.send(createGet(urlWithName))).toMatchObject({ status: 200 });
  expect(receiver.listMessages('hook')).toHaveLength(2);
});

test('connects only to the resolved addresses that pass the check', async () => {
  const { receiver, url } = await startReceiverWith({ status: 200 });
  const client = createTestOutbound({ lookup: createLookup('::1', '10.0.0.1', '127.0.0.1') });
  const response = await client.send(createGet(url.replace('127.0.0.1', 'receiver.example')));
  expect(response.status).toBe(200);
  expect(receiver.listMessages('hook')).toHaveLength(1);
});

test('refuses a name that resolves to another address on a later connection', async () => {
  const permittedOrigin = await startServer((_, response) => response.end('permitted'));
  const { port } = new URL(permittedOrigin);
  const forbiddenServer = createServer((_, response) => response.end('hidden'));
  await new Promise<void>((resolve) => forbiddenServer.listen(Number(port), '127.0.0.2', resolve));
  onTestFinished(() => void forbiddenServer.close());

  const addresses = ['127.0.0.1', '127.0.0.2'];
  let lookups = 0;
  const client = createTestOutbound({
    lookup: async () => {
      lookups += 1;
      return [{ address: addresses.shift() ?? '127.0.0.2', family: 4 }];
    },
  });
  const url = `http://rebinding.example:${port}/`;
  // The first connection closes with its response, so that the second request resolves the name again.
  const firstResponse = await client.send(createGet(url, { headers: { connection: 'close' } }));
  expect(firstResponse.body.toString()).toBe('permitted');
  expect(lookups).toBe(1);
  expect(await catchFailure(client.send(createGet(url)))).toMatchObject({
    kind: 'REFUSED_ADDRESS',
  });
  expect(lookups).toBe(2);
});

test('reaches an always allowed origin on a private address, but no other port', async () => {
  const allowedServer = await startServer((_, response) => response.end('allowed'));
  const otherServer = await startServer((_, response) => response.end('other'));
  const client = createTestOutbound({
    allowedPrivateTargets: [],
    alwaysAllowedOrigins: () => [allowedServer],
  });
  expect((await client.send(createGet(`${allowedServer}/path?query=1`))).body.toString()).toBe(
    'allowed',
  );
  expect(await catchFailure(client.send(createGet(otherServer)))).toMatchObject({
    kind: 'REFUSED_ADDRESS',
  });
});

test('sends plain HTTP only to allowed addresses', async () => {
  const client = createTestOutbound({ lookup: createLookup('203.0.114.1') });
  const failure = await catchFailure(client.send(createGet('http://hooks.example/')));
  expect(failure.kind).toBe('REFUSED_ADDRESS');
});

test.each([
  'ftp://hooks.example/',
  'file:///etc/passwd',
  'data:text/plain,x',
  'https://user:password@hooks.example/',
  'https://user@hooks.example/',
  'no url',
])('refuses the URL %s', async (url) => {
  const failure = await catchFailure(createTestOutbound().send(createGet(url)));
  expect(failure.kind).toBe('REFUSED_ADDRESS');
  expect(failure.message).not.toContain('password@');
});

test('returns a redirect without following it', async () => {
  const { receiver } = await startReceiverWith({ status: 200 });
  const origin = await startServer((_, response) =>
    response.writeHead(302, { location: receiver.getUrl('secret') }).end(),
  );
  const response = await createTestOutbound().send(createGet(origin));
  expect(response).toMatchObject({ status: 302, headers: { location: receiver.getUrl('secret') } });
  expect(receiver.listMessages('secret')).toEqual([]);
});

test('sends method, path, headers and body unchanged', async () => {
  const requests: string[] = [];
  const origin = await startServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url, headers } = request;
    requests.push(`${method} ${url} ${headers['x-name']} ${Buffer.concat(chunks)}`);
    response.writeHead(201, { 'X-Answer': 'yes' }).end('done');
  });
  const request = createGet(`${origin}/a%20b?c=d%26`, {
    method: 'POST',
    headers: { 'x-name': 'v' },
  });
  const response = await createTestOutbound().send({ ...request, body: '{"ä":1}' });
  expect(requests).toEqual(['POST /a%20b?c=d%26 v {"ä":1}']);
  expect(response.headers['x-answer']).toBe('yes');
  expect(response.body.toString()).toBe('done');
});

test('truncates an endless response if the caller needs only the status, and closes the socket', async () => {
  const { url } = await startReceiverWith('ENDLESS');
  const client = createTestOutbound();
  const response = await client.send(createGet(url));
  expect(response).toMatchObject({ status: 200, truncated: true });
  expect(response.body.length).toBe(1_024);
  await expect.poll(() => client.openSockets).toBe(0);
});

test('fails with TOO_LARGE if the caller requires the whole body of an endless response', async () => {
  const { url } = await startReceiverWith('ENDLESS');
  const client = createTestOutbound();
  const failure = await catchFailure(client.send(createGet(url, { requiresWholeBody: true })));
  expect(failure).toMatchObject({
    kind: 'TOO_LARGE',
    message: 'The response is larger than 1024 bytes.',
  });
  await expect.poll(() => client.openSockets).toBe(0);
});

test('fails with TIMEOUT and closes the socket if no response arrives in time', async () => {
  const { receiver, url } = await startReceiverWith('HANG');
  const client = createTestOutbound();
  stopTimers();
  const pendingFailure = catchFailure(client.send(createGet(url, { timeoutMs: 50 })));
  await receiver.waitForMessages('hook', 1);
  vi.advanceTimersByTime(50);
  expect(await pendingFailure).toMatchObject({
    kind: 'TIMEOUT',
    message: 'No complete response within 0.05 s.',
  });
  await expect.poll(() => client.openSockets).toBe(0);
});

test('fails for a stalled body only if the caller requires the whole body', async () => {
  const { promise: secondRequest, resolve: onSecondRequest } = Promise.withResolvers<void>();
  let requestCount = 0;
  const origin = await startServer((_, response) => {
    response.writeHead(200).write('part');
    requestCount += 1;
    if (requestCount === 2) onSecondRequest();
  });
  const client = createTestOutbound();
  // Long enough for the first bytes to arrive on a busy machine.
  const response = await client.send(createGet(origin, { timeoutMs: 1_000 }));
  expect(response).toMatchObject({ status: 200, truncated: true });
  expect(response.body.toString()).toBe('part');
  stopTimers();
  const request = createGet(origin, { timeoutMs: 50, requiresWholeBody: true });
  const pendingFailure = catchFailure(client.send(request));
  await secondRequest;
  vi.advanceTimersByTime(50);
  expect(await pendingFailure).toMatchObject({ kind: 'TIMEOUT' });
});

test('fails with DISCONNECTED if the peer drops the connection', async () => {
  const { url } = await startReceiverWith('DROP');
  const failure = await catchFailure(createTestOutbound().send(createGet(url)));
  expect(failure.kind).toBe('DISCONNECTED');
});

test('fails with DISCONNECTED if the response is not HTTP', async () => {
  const server = createTcpServer((socket) => socket.end('SSH-2.0-server\r\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const failure = await catchFailure(
    createTestOutbound().send(createGet(`http://127.0.0.1:${port}/`)),
  );
  expect(failure.kind).toBe('DISCONNECTED');
});

test('fails with UNREACHABLE for a closed port, an unknown name and a peer without TLS', async () => {
  const { port } = new URL(await startServer((_, response) => response.end()));
  const client = createTestOutbound({
    lookup: (name) =>
      name === 'unknown.example'
        ? Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }))
        : Promise.resolve([{ address: '127.0.0.1', family: 4 }]),
  });
  const kinds = await Promise.all(
    ['http://127.0.0.1:1/', 'https://unknown.example/', `https://plain.example:${port}/`].map(
      async (url) => await catchFailure(client.send(createGet(url))),
    ),
  );
  expect(kinds.map(({ kind }) => kind)).toEqual(['UNREACHABLE', 'UNREACHABLE', 'UNREACHABLE']);
  expect(kinds[1]?.message).toBe('No connection could be made (ENOTFOUND).');
});

test('ends a request when its signal aborts', async () => {
  const { receiver, url } = await startReceiverWith('HANG');
  const client = createTestOutbound();
  const abortController = new AbortController();
  const pendingResponse = client.send(createGet(url, { signal: abortController.signal }));
  await receiver.waitForMessages('hook', 1);
  abortController.abort(new Error('stopping'));
  await expect(pendingResponse).rejects.toThrow('stopping');
  await expect(client.send(createGet(url, { signal: abortController.signal }))).rejects.toThrow(
    'stopping',
  );
  await expect.poll(() => client.openSockets).toBe(0);
});

test('limits requests and sockets, and queues further requests', async () => {
  const finishers: (() => void)[] = [];
  let activeRequests = 0;
  let activeRequestsMax = 0;
  const origins = await Promise.all(
    Array.from({ length: 6 }, () =>
      startServer((_, response) => {
        activeRequests += 1;
        activeRequestsMax = Math.max(activeRequestsMax, activeRequests);
        finishers.push(() => {
          activeRequests -= 1;
          response.end();
        });
      }),
    ),
  );
  const client = createTestOutbound({ socketsMax: 4 });
  const urls = Array.from({ length: 60 }, (_, index) => origins[index % 6] as string);
  const responses = Promise.all(urls.map((url) => client.send(createGet(url))));
  let completedRequests = 0;
  let openSocketsMax = 0;
  while (completedRequests < 60) {
    await expect.poll(() => finishers.length, { interval: 1 }).toBeGreaterThan(0);
    openSocketsMax = Math.max(openSocketsMax, client.openSockets);
    finishers.shift()?.();
    completedRequests += 1;
  }
  expect((await responses).every(({ status }) => status === 200)).toBe(true);
  expect(activeRequestsMax).toBe(4);
  expect(openSocketsMax).toBe(4);
});

test('fails with UNREACHABLE if the wait for a socket takes too long', async () => {
  const { receiver, url } = await startReceiverWith('HANG');
  const client = createTestOutbound({ socketsMax: 1 });
  stopTimers();
  const failureOfFirst = catchFailure(client.send(createGet(url, { timeoutMs: 200 })));
  await receiver.waitForMessages('hook', 1);
  const failureOfSecond = catchFailure(client.send(createGet(url, { timeoutMs: 20 })));
  vi.advanceTimersByTime(200);
  expect(await failureOfSecond).toMatchObject({ kind: 'UNREACHABLE' });
  expect(await failureOfFirst).toMatchObject({ kind: 'TIMEOUT' });
});

test('reuses connections', async () => {
  const ports = new Set<number | undefined>();
  const origin = await startServer((request, response) => {
    ports.add(request.socket.remotePort);
    response.end();
  });
  const client = createTestOutbound();
  for (let count = 0; count < 20; count += 1) await client.send(createGet(origin));
  // A connection becomes free shortly after its response, so a second one may open.
  expect(ports.size).toBeLessThanOrEqual(2);
});
