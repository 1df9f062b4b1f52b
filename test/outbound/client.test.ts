import type { LookupAddress } from 'node:dns';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createOutbound, type OutboundOptions } from '../../src/outbound/client.ts';
import type { OutboundError } from '../../src/outbound/error.ts';
import type { OutboundRequest } from '../../src/outbound/exchange.ts';
import { PRIVATE_ANSWERS, PRIVATE_HOSTS } from '../support/outbound/private-addresses.ts';
import { type Behaviour, startReceiver } from '../support/receiver.ts';

const LOOPBACK = ['127.0.0.1/32'];

function outbound(options: Partial<OutboundOptions> = {}) {
  const client = createOutbound({
    allowedPrivateTargets: LOOPBACK,
    alwaysAllowedOrigins: () => [],
    ...options,
  });
  onTestFinished(() => client[Symbol.asyncDispose]());
  return client;
}

function get(url: string, options: Partial<OutboundRequest> = {}): OutboundRequest {
  return { method: 'GET', url, headers: {}, timeoutMs: 5_000, responseBytesMax: 1_024, ...options };
}

async function receiverThat(behaviour: Behaviour) {
  const receiver = await startReceiver();
  onTestFinished(() => receiver[Symbol.asyncDispose]());
  receiver.behave('hook', behaviour);
  return { receiver, url: receiver.url('hook') };
}

async function serving(handler: Parameters<typeof createServer>[1], host = '127.0.0.1') {
  const server: Server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  });
  return `http://${host}:${(server.address() as AddressInfo).port}`;
}

async function failureOf(sending: Promise<unknown>): Promise<OutboundError> {
  return sending.then(
    () => expect.unreachable('It was answered.'),
    (error) => error as OutboundError,
  );
}

test.each(PRIVATE_HOSTS)('the private address %s is refused as a literal', async (host) => {
  const client = outbound({ allowedPrivateTargets: [] });
  for (const protocol of ['http', 'https']) {
    const failure = await failureOf(client.send(get(`${protocol}://${host}:9/`)));
    expect(failure).toMatchObject({ name: 'OutboundError', kind: 'REFUSED_ADDRESS' });
  }
});

test.each(PRIVATE_ANSWERS)('a name that stands for %s is refused', async (address) => {
  const client = outbound({ allowedPrivateTargets: [], lookup: answering(address) });
  const failure = await failureOf(client.send(get('https://hooks.example/')));
  expect(failure.kind).toBe('REFUSED_ADDRESS');
  expect(failure.message).toBe(
    "The address of hooks.example is not permitted: ALLOWED_PRIVATE_TARGETS doesn't hold it.",
  );
});

function answering(...addresses: string[]) {
  return async (): Promise<LookupAddress[]> =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
}

test('an address of the allow-list is reached, by literal and by name', async () => {
  const { receiver, url } = await receiverThat({ status: 200 });
  const client = outbound({ lookup: answering('127.0.0.1') });
  expect(await client.send(get(url))).toMatchObject({ status: 200, truncated: false });
  const byName = url.replace('127.0.0.1', 'receiver.example');
  expect(await client.send(get(byName))).toMatchObject({ status: 200 });
  expect(receiver.received('hook')).toHaveLength(2);
});

test('of several addresses only those that pass the check are connected to', async () => {
  const { receiver, url } = await receiverThat({ status: 200 });
  const client = outbound({ lookup: answering('::1', '10.0.0.1', '127.0.0.1') });
  const answer = await client.send(get(url.replace('127.0.0.1', 'receiver.example')));
  expect(answer.status).toBe(200);
  expect(receiver.received('hook')).toHaveLength(1);
});

test('a name that changes its address after the check gains nothing', async () => {
  const permitted = await serving((_, response) => response.end('permitted'));
  const { port } = new URL(permitted);
  const hidden = createServer((_, response) => response.end('hidden'));
  await new Promise<void>((resolve) => hidden.listen(Number(port), '127.0.0.2', resolve));
  onTestFinished(() => void hidden.close());

  const answers = ['127.0.0.1', '127.0.0.2'];
  let lookups = 0;
  const client = outbound({
    lookup: async () => {
      lookups += 1;
      return [{ address: answers.shift() ?? '127.0.0.2', family: 4 }];
    },
  });
  const url = `http://rebinding.example:${port}/`;
  // The first connection is closed with its answer, so that the second request looks up again.
  const first = await client.send(get(url, { headers: { connection: 'close' } }));
  expect(first.body.toString()).toBe('permitted');
  expect(lookups).toBe(1);
  expect(await failureOf(client.send(get(url)))).toMatchObject({ kind: 'REFUSED_ADDRESS' });
  expect(lookups).toBe(2);
});

test('an own origin is reached though its address is private, and other ports of it are not', async () => {
  const own = await serving((_, response) => response.end('own'));
  const other = await serving((_, response) => response.end('other'));
  const client = outbound({ allowedPrivateTargets: [], alwaysAllowedOrigins: () => [own] });
  expect((await client.send(get(`${own}/path?query=1`))).body.toString()).toBe('own');
  expect(await failureOf(client.send(get(other)))).toMatchObject({ kind: 'REFUSED_ADDRESS' });
});

test('plain http goes to allowed addresses only', async () => {
  const client = outbound({ lookup: answering('203.0.114.1') });
  const failure = await failureOf(client.send(get('http://hooks.example/')));
  expect(failure.kind).toBe('REFUSED_ADDRESS');
});

test.each([
  'ftp://hooks.example/',
  'file:///etc/passwd',
  'data:text/plain,x',
  'https://user:password@hooks.example/',
  'https://user@hooks.example/',
  'no url',
])('%s is not called', async (url) => {
  const failure = await failureOf(outbound().send(get(url)));
  expect(failure.kind).toBe('REFUSED_ADDRESS');
  expect(failure.message).not.toContain('password@');
});

test('a redirect is an answer, and is not followed', async () => {
  const { receiver } = await receiverThat({ status: 200 });
  const origin = await serving((_, response) =>
    response.writeHead(302, { location: receiver.url('secret') }).end(),
  );
  const answer = await outbound().send(get(origin));
  expect(answer).toMatchObject({ status: 302, headers: { location: receiver.url('secret') } });
  expect(receiver.received('secret')).toEqual([]);
});

test('method, path, headers and body arrive as they were given', async () => {
  const seen: string[] = [];
  const origin = await serving(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url, headers } = request;
    seen.push(`${method} ${url} ${headers['x-name']} ${Buffer.concat(chunks)}`);
    response.writeHead(201, { 'X-Answer': 'yes' }).end('done');
  });
  const request = get(`${origin}/a%20b?c=d%26`, { method: 'POST', headers: { 'x-name': 'v' } });
  const answer = await outbound().send({ ...request, body: '{"ä":1}' });
  expect(seen).toEqual(['POST /a%20b?c=d%26 v {"ä":1}']);
  expect(answer.headers['x-answer']).toBe('yes');
  expect(answer.body.toString()).toBe('done');
});

test('an endless answer is cut where its status is enough, and lets go of its socket', async () => {
  const { url } = await receiverThat('ENDLESS');
  const client = outbound();
  const answer = await client.send(get(url));
  expect(answer).toMatchObject({ status: 200, truncated: true });
  expect(answer.body.length).toBe(1_024);
  await expect.poll(() => client.openSockets).toBe(0);
});

test('an endless answer is TOO_LARGE where the whole of it is wanted', async () => {
  const { url } = await receiverThat('ENDLESS');
  const client = outbound();
  const failure = await failureOf(client.send(get(url, { requiresWholeBody: true })));
  expect(failure).toMatchObject({
    kind: 'TOO_LARGE',
    message: 'The answer is larger than 1024 bytes.',
  });
  await expect.poll(() => client.openSockets).toBe(0);
});

test('no answer within the limit is a TIMEOUT, and lets go of the socket', async () => {
  const { url } = await receiverThat('HANG');
  const client = outbound();
  const failure = await failureOf(client.send(get(url, { timeoutMs: 50 })));
  expect(failure).toMatchObject({ kind: 'TIMEOUT', message: 'No whole answer within 0.05 s.' });
  await expect.poll(() => client.openSockets).toBe(0);
});

test('a body that stalls fails only where the whole of it is wanted', async () => {
  const origin = await serving((_, response) => response.writeHead(200).write('part'));
  const client = outbound();
  const answer = await client.send(get(origin, { timeoutMs: 50 }));
  expect(answer).toMatchObject({ status: 200, truncated: true });
  expect(answer.body.toString()).toBe('part');
  const whole = get(origin, { timeoutMs: 50, requiresWholeBody: true });
  expect(await failureOf(client.send(whole))).toMatchObject({ kind: 'TIMEOUT' });
});

test('a dropped connection is DISCONNECTED', async () => {
  const { url } = await receiverThat('DROP');
  const failure = await failureOf(outbound().send(get(url)));
  expect(failure.kind).toBe('DISCONNECTED');
});

test('an answer that is not HTTP is DISCONNECTED', async () => {
  const server = createTcpServer((socket) => socket.end('SSH-2.0-server\r\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const failure = await failureOf(outbound().send(get(`http://127.0.0.1:${port}/`)));
  expect(failure.kind).toBe('DISCONNECTED');
});

test('a closed port, an unknown name and a peer without TLS are UNREACHABLE', async () => {
  const { port } = new URL(await serving((_, response) => response.end()));
  const client = outbound({
    lookup: (name) =>
      name === 'unknown.example'
        ? Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }))
        : Promise.resolve([{ address: '127.0.0.1', family: 4 }]),
  });
  const kinds = await Promise.all(
    ['http://127.0.0.1:1/', 'https://unknown.example/', `https://plain.example:${port}/`].map(
      async (url) => await failureOf(client.send(get(url))),
    ),
  );
  expect(kinds.map(({ kind }) => kind)).toEqual(['UNREACHABLE', 'UNREACHABLE', 'UNREACHABLE']);
  expect(kinds[1]?.message).toBe('No connection could be made (ENOTFOUND).');
});

test('a signal ends a request', async () => {
  const { receiver, url } = await receiverThat('HANG');
  const client = outbound();
  const stop = new AbortController();
  const sending = client.send(get(url, { signal: stop.signal }));
  await receiver.arrived('hook', 1);
  stop.abort(new Error('stopping'));
  await expect(sending).rejects.toThrow('stopping');
  await expect(client.send(get(url, { signal: stop.signal }))).rejects.toThrow('stopping');
  await expect.poll(() => client.openSockets).toBe(0);
});

test('requests and sockets are bounded: what comes beyond waits, and is sent when there is room', async () => {
  const held: (() => void)[] = [];
  let underWay = 0;
  let mostUnderWay = 0;
  const origins = await Promise.all(
    Array.from({ length: 6 }, () =>
      serving((_, response) => {
        underWay += 1;
        mostUnderWay = Math.max(mostUnderWay, underWay);
        held.push(() => {
          underWay -= 1;
          response.end();
        });
      }),
    ),
  );
  const client = outbound({ socketsMax: 4 });
  const urls = Array.from({ length: 60 }, (_, index) => origins[index % 6] as string);
  const answers = Promise.all(urls.map((url) => client.send(get(url))));
  let answered = 0;
  let mostOpen = 0;
  while (answered < 60) {
    await expect.poll(() => held.length, { interval: 1 }).toBeGreaterThan(0);
    mostOpen = Math.max(mostOpen, client.openSockets);
    held.shift()?.();
    answered += 1;
  }
  expect((await answers).every(({ status }) => status === 200)).toBe(true);
  expect(mostUnderWay).toBe(4);
  expect(mostOpen).toBe(4);
});

test('waiting for a socket counts as time, and is UNREACHABLE', async () => {
  const { url } = await receiverThat('HANG');
  const client = outbound({ socketsMax: 1 });
  const first = failureOf(client.send(get(url, { timeoutMs: 200 })));
  const second = failureOf(client.send(get(url, { timeoutMs: 20 })));
  expect(await second).toMatchObject({ kind: 'UNREACHABLE' });
  expect(await first).toMatchObject({ kind: 'TIMEOUT' });
});

test('connections are used again', async () => {
  const ports = new Set<number | undefined>();
  const origin = await serving((request, response) => {
    ports.add(request.socket.remotePort);
    response.end();
  });
  const client = outbound();
  for (let i = 0; i < 20; i += 1) await client.send(get(origin));
  // Two: a connection is free again just after its answer.
  expect(ports.size).toBeLessThanOrEqual(2);
});
