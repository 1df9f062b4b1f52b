/** A wrong key or password is noticed when it is given, if the provider can be asked cheaply. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { sandboxProvider } from '../../src/providers/sandbox/sandbox-provider.ts';
import { sharedApp, testApp } from '../support/app.ts';
import { restTenant } from '../support/rest/rest-client.ts';
import { generate, keepEvents } from '../support/scenes/connections.ts';

const app = await sharedApp();

test('a wrong key or password makes a connection that says so, with its event', async () => {
  const tenant = await app.tenant();
  const events = await keepEvents(app, tenant);
  const basic = { username: 'ann', password: 'wrong' };
  const wrong = [
    await generate(tenant, { apiKey: 'wrong' }),
    await generate(tenant, { basicAuth: basic, groupRef: 'other' }),
  ];
  expect(wrong.map(({ status }) => status)).toEqual(['BAD_CREDENTIALS', 'BAD_CREDENTIALS']);
  const right = { ...basic, password: 'sandbox-password' };
  expect(await generate(tenant, { apiKey: 'sandbox-key', groupRef: 'a' })).toMatchObject({
    status: 'CREATED',
  });
  expect(await generate(tenant, { basicAuth: right, groupRef: 'b' })).toMatchObject({
    status: 'CREATED',
  });
  const told = (await events()).filter(({ eventType }) => eventType === 'CONNECTION_ERROR');
  expect(told.map(({ connectionId }) => connectionId)).toEqual(wrong.map(({ id }) => id));
  expect(told[0]?.data).toMatchObject({ errors: [expect.stringContaining('refused')] });
});

test('over REST too, and a new key replaces a wrong one', async () => {
  const rest = await restTenant(app);
  const body = { provider: 'sandbox', groupRef: 'acme', consumerRef: 'ann' };
  const path = `${rest.base}/connections`;
  const made = await rest.post(`${path}:generate`, { ...body, apiKey: 'wrong' });
  expect(made.status).toBe('bad_credentials');
  expect(await rest.get(`${path}/${made.id}`)).toMatchObject({ status: 'bad_credentials' });
  const change = async (apiKey: string) =>
    (await rest.patch(`${path}/${made.id}`, { updateMask: ['apiKey'], connection: { apiKey } }))
      .status;
  expect(await change('sandbox-key')).toBe('created');
  expect(await change('wrong again')).toBe('bad_credentials');
});

/** A server in the provider's place. */
async function place(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a provider that fails, is slow or is away refuses nothing', async () => {
  const failing = await place((_request, response) => void response.writeHead(500).end());
  const slow = await place(() => {});
  const addresses = [failing, slow, 'http://sandbox.test'];
  const others = addresses.map((url) =>
    testApp({
      providers: [sandboxProvider(() => url)],
      env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
    }),
  );
  for (const opening of others) {
    await using other = await opening;
    const connection = await generate(await other.tenant(), { apiKey: 'whatever' });
    expect(connection).toMatchObject({ status: 'CREATED' });
  }
});
