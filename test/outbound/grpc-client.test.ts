import { Metadata, Server, ServerCredentials, type ServiceError, status } from '@grpc/grpc-js';
import { expect, onTestFinished, test } from 'vitest';
import { createOutbound, type OutboundOptions } from '../../src/outbound/client.ts';
import {
  createCertificate,
  hasOpenssl,
  type ServerCertificate,
  trustCertificate,
} from '../support/outbound/certificates.ts';
import {
  createLookup,
  PRIVATE_ADDRESSES,
  PRIVATE_HOSTS,
} from '../support/outbound/private-addresses.ts';

const CALL_MS = 10_000;
const passBytes = (value: Buffer) => value;
const ECHO_METHOD = {
  path: '/test.Echo/Echo',
  requestStream: false,
  responseStream: false,
  requestSerialize: passBytes,
  requestDeserialize: passBytes,
  responseSerialize: passBytes,
  responseDeserialize: passBytes,
};

function createTestOutbound(options: Partial<OutboundOptions> = {}) {
  const client = createOutbound({
    allowedPrivateTargets: ['127.0.0.1/32'],
    alwaysAllowedOrigins: () => [],
    ...options,
  });
  onTestFinished(() => client[Symbol.asyncDispose]());
  return client;
}

interface EchoServerOptions {
  tls?: ServerCertificate;
  address?: string;
}

/** Starts a server that responds with the request's bytes and records the host of each call. */
async function startEchoServer({ tls, address = '127.0.0.1:0' }: EchoServerOptions = {}) {
  const hosts: string[] = [];
  const server = new Server();
  server.addService(
    { Echo: ECHO_METHOD },
    {
      Echo(call: { getHost(): string; request: Buffer }, response: (e: null, b: Buffer) => void) {
        hosts.push(call.getHost());
        response(null, call.request);
      },
    },
  );
  const credentials = tls
    ? ServerCredentials.createSsl(null, [{ private_key: tls.key, cert_chain: tls.certificate }])
    : ServerCredentials.createInsecure();
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync(address, credentials, (error, boundPort) =>
      error ? reject(error) : resolve(boundPort),
    ),
  );
  onTestFinished(() => server.forceShutdown());
  return { port, hosts };
}

/** Calls the echo server, and returns its response or the error of the call. */
async function callEcho(url: string, options: Partial<OutboundOptions> = {}) {
  const client = await createTestOutbound(options).openGrpc(url);
  onTestFinished(() => client.close());
  return new Promise<string | ServiceError>((resolve) =>
    client.makeUnaryRequest(
      ECHO_METHOD.path,
      passBytes,
      passBytes,
      Buffer.from('hello'),
      new Metadata(),
      { deadline: Date.now() + CALL_MS },
      (error, response) => resolve(error ?? String(response)),
    ),
  );
}

test.each(PRIVATE_HOSTS)('refuses the literal private address %s', async (host) => {
  const client = createTestOutbound({ allowedPrivateTargets: [] });
  for (const protocol of ['http', 'https']) {
    const opening = client.openGrpc(`${protocol}://${host}:9`);
    await expect(opening).rejects.toMatchObject({ kind: 'REFUSED_ADDRESS' });
  }
});

test.each(PRIVATE_ADDRESSES)('refuses a name that resolves to %s', async (address) => {
  const client = createTestOutbound({ allowedPrivateTargets: [], lookup: createLookup(address) });
  await expect(client.openGrpc('https://pubsub.example:7443')).rejects.toMatchObject({
    kind: 'REFUSED_ADDRESS',
    message: expect.stringContaining('ALLOWED_PRIVATE_TARGETS'),
  });
});

test('calls only addresses of the allow-list without TLS', async () => {
  const { port, hosts } = await startEchoServer();
  expect(await callEcho(`http://127.0.0.1:${port}`)).toBe('hello');
  expect(hosts).toEqual([`127.0.0.1:${port}`]);
  const client = createTestOutbound({ lookup: createLookup('203.0.114.1') });
  const opening = client.openGrpc('http://pubsub.example');
  await expect(opening).rejects.toMatchObject({ kind: 'REFUSED_ADDRESS' });
});

test('connects only to the resolved addresses that pass the check, under the original name', async () => {
  const { port, hosts } = await startEchoServer();
  const forbiddenServer = await startEchoServer({ address: `127.0.0.2:${port}` });
  const lookup = createLookup('::1', '127.0.0.2', '127.0.0.1');
  expect(await callEcho(`http://pubsub.example:${port}`, { lookup })).toBe('hello');
  expect(hosts).toEqual([`pubsub.example:${port}`]);
  expect(forbiddenServer.hosts).toEqual([]);
});

test('resolves a name once, so that a later address is not used', async () => {
  const { port, hosts } = await startEchoServer();
  const forbiddenServer = await startEchoServer({ address: `127.0.0.2:${port}` });
  const addresses = ['127.0.0.1', '127.0.0.2'];
  let lookups = 0;
  const lookup = async () => {
    lookups += 1;
    return [{ address: addresses.shift() ?? '127.0.0.2', family: 4 }];
  };
  expect(await callEcho(`http://rebinding.example:${port}`, { lookup })).toBe('hello');
  expect([lookups, hosts.length, forbiddenServer.hosts.length]).toEqual([1, 1, 0]);
});

test('calls an always allowed origin on a private address, but no other port', async () => {
  const [permittedServer, otherServer] = [await startEchoServer(), await startEchoServer()];
  const url = `http://127.0.0.1:${permittedServer.port}`;
  const rules = { allowedPrivateTargets: [], alwaysAllowedOrigins: () => [url] };
  expect(await callEcho(url, rules)).toBe('hello');
  const opening = createTestOutbound(rules).openGrpc(`http://127.0.0.1:${otherServer.port}`);
  await expect(opening).rejects.toMatchObject({ kind: 'REFUSED_ADDRESS' });
});

test.skipIf(!hasOpenssl)('requires a trusted certificate for the name', async () => {
  const tls = createCertificate('pubsub.example');
  const { port, hosts } = await startEchoServer({ tls });
  const lookup = createLookup('127.0.0.1');
  const refusal = { code: status.UNAVAILABLE };
  expect(await callEcho(`https://pubsub.example:${port}`, { lookup })).toMatchObject(refusal);
  onTestFinished(trustCertificate(tls));
  expect(await callEcho(`https://pubsub.example:${port}`, { lookup })).toBe('hello');
  expect(await callEcho(`https://other.example:${port}`, { lookup })).toMatchObject(refusal);
  expect(hosts).toEqual([`pubsub.example:${port}`]);
});

test.skipIf(!hasOpenssl)('never sends a TLS call in clear text', async () => {
  const { port, hosts } = await startEchoServer();
  const response = await callEcho(`https://127.0.0.1:${port}`);
  expect(response).toMatchObject({ code: status.UNAVAILABLE });
  expect(hosts).toEqual([]);
});
