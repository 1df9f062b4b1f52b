/**
 * An attacker sends ten times its share next to a quiet tenant, whose requests all succeed.
 *
 * @module-tag all/rows
 */

import type { ServerResponse } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import { CALLER_STATEMENTS, recordStatements } from '../../support/database/statements.ts';
import { openEventStream } from '../../support/event-stream.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import { createEndUser } from '../../support/fixtures/end-users.ts';
import type { GraphqlResponse } from '../../support/graphql-client.ts';
import { fetchFrom } from '../../support/graphql-client.ts';
import {
  createCrmProvider,
  installProxy,
  startUpstream,
} from '../../support/rest/proxy-installation.ts';
import { openSocket } from '../../support/socket.ts';

const SHARE = 4;
const ATTACK = 10 * SHARE;
const LIMITS = {
  LIMIT_REQUESTS: 4 * SHARE,
  LIMIT_PROJECT_REQUESTS: 2 * SHARE,
  LIMIT_CALLER_REQUESTS: SHARE,
  LIMIT_RUNNING: SHARE,
  LIMIT_HEAVY_COST: 200,
  LIMIT_HEAVY: 2,
  LIMIT_CALLER_HEAVY: 1,
  LIMIT_PROVIDER_REQUESTS: 4 * SHARE,
  LIMIT_PROJECT_PROVIDER_REQUESTS: 2 * SHARE,
  LIMIT_CALLER_PROVIDER_REQUESTS: SHARE,
  LIMIT_CONNECTION_REQUESTS: SHARE,
  LIMIT_SOCKETS: 4 * SHARE,
  LIMIT_PROJECT_SOCKETS: 2 * SHARE,
  LIMIT_CALLER_SOCKETS: SHARE,
  LIMIT_PROCESS_SUBSCRIPTIONS: 4 * SHARE,
  LIMIT_PROJECT_SUBSCRIPTIONS: 2 * SHARE,
  LIMIT_SUBSCRIPTIONS: SHARE,
};

const upstream = await startUpstream();
afterAll(() => upstream[Symbol.asyncDispose]());
const crm = createCrmProvider(upstream.url, {
  capabilities: {
    proxy: true,
    async describeObject(session, name) {
      await session.send({ method: 'GET', path: `/describe/${name}` });
      return { name, displayName: name, fields: [], isPartial: false };
    },
  },
});
const app = await getSharedApp({
  env: {
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
    // The stop would wait longer for requests of the attacker.
    SHUTDOWN_MS: '1000',
    ...Object.fromEntries(Object.entries(LIMITS).map(([name, value]) => [name, String(value)])),
  },
  providers: [crm],
});
const { url } = await app.app.start();
const { shares } = app.app.services;

const attacker = await app.tenant('attacker');
const quiet = await app.tenant('quiet');
for (const [tenant, apiKey] of [
  [attacker, 'attacker'],
  [quiet, 'quiet'],
] as const) {
  await generateConnection(tenant, { provider: 'crm', apiKey });
}

/** Makes the provider respond to the attacker's account only after `release`, and to other accounts immediately. */
function hangForAttacker(): { release(): void } {
  const held: ServerResponse[] = [];
  let isReleased = false;
  upstream.setHandler((req, res) => {
    const isHeld = req.headers.authorization === 'Key attacker' && !isReleased;
    if (isHeld) held.push(res);
    else res.end('{}');
  });
  return {
    release() {
      isReleased = true;
      for (const res of held) res.end('{}');
    },
  };
}

const METADATA = `query ObjectMetadata($project: String!, $name: String!) {
  objectMetadata(projectIdOrName: $project, provider: "crm", objectName: $name, groupRef: "acme") { name }
}`;
const LIGHT = '{ viewer { project { id } } }';

/** Sends `count` requests, `SHARE` at a time: the number that the quiet tenant may have at the same time. */
async function sendAll(count: number, send: () => Promise<{ status: number }>): Promise<number[]> {
  const statuses: number[] = [];
  for (let request = 0; request < count; request += SHARE / 2) {
    const halfStatuses = await Promise.all(Array.from({ length: SHARE / 2 }, send));
    statuses.push(...halfStatuses.map(({ status }) => status));
  }
  return statuses;
}

async function expectQuietIsServed(): Promise<void> {
  expect(await sendAll(ATTACK, () => quiet.request(LIGHT))).toEqual(Array(ATTACK).fill(200));
}

function expectRefused(responses: readonly GraphqlResponse[], limits: readonly string[]): void {
  for (const { status, headers, errors } of responses) {
    expect(status).toBe(429);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    const { code, problem } = errors?.[0]?.extensions ?? {};
    expect(code).toBe('RATE_LIMITED');
    expect(limits).toContain(problem?.limit);
  }
}

/** Resolves when `count` slots of a share are held. */
const expectHeld = (name: Parameters<typeof shares.get>[0], count: number) =>
  expect.poll(() => shares.get(name).held, { timeout: 30_000 }).toBe(count);

test('serves others while one caller requests metadata of a provider that never responds', async () => {
  const hanging = hangForAttacker();
  const person = await createEndUser(app, attacker);
  // After this request, the caller is authenticated. Before, its requests count by their network.
  await person.query('{ viewer { kind } }');
  const input = { project: attacker.projectId, name: 'contacts' };
  const refused: GraphqlResponse[] = [];
  const attackRequests = Array.from({ length: ATTACK }, async () => {
    const response = await person.request(METADATA, input);
    if (response.status !== 200) refused.push(response);
    return response.status;
  });
  await expect.poll(() => refused.length, { timeout: 30_000 }).toBe(ATTACK - SHARE);
  // Until the first requests wait for the provider, they hold the slots of the caller.
  expectRefused(refused, ['LIMIT_CALLER_REQUESTS', 'LIMIT_CALLER_PROVIDER_REQUESTS']);
  // Waiting requests hold no slot, and share one request to the provider.
  await expectHeld('requests', 0);
  expect(shares.get('providerRequests').held).toBe(SHARE);
  // A refusal costs no work of the database, which the quiet tenant needs too.
  const { result, statements } = await recordStatements(() => person.request(METADATA, input));
  expectRefused([result], ['LIMIT_CALLER_PROVIDER_REQUESTS']);
  expect(statements.filter(({ text }) => !CALLER_STATEMENTS.test(text))).toEqual([]);

  await expectQuietIsServed();
  const quietTarget = { project: quiet.projectId, name: 'contacts' };
  expect((await quiet.query(METADATA, quietTarget)).objectMetadata).toEqual({ name: 'contacts' });

  hanging.release();
  expect((await Promise.all(attackRequests)).filter((status) => status === 200)).toHaveLength(
    SHARE,
  );
  await expectHeld('providerRequests', 0);
});

test('serves others while several callers send proxy requests to one connection', async () => {
  const hanging = hangForAttacker();
  const [target, ownTarget] = [
    await installProxy(app, attacker, { apiKey: 'attacker' }),
    await installProxy(app, quiet),
  ];
  const keys = await Promise.all(
    Array.from({ length: ATTACK / SHARE }, () => attacker.createKey('read', 'records:write')),
  );
  for (const key of keys) await app.client({ 'x-api-key': key }).query(LIGHT);
  const refused: Response[] = [];
  const requests = keys.flatMap((key) =>
    Array.from({ length: SHARE }, async () => {
      const response = await app.fetch(target.path, { headers: { 'x-api-key': key } });
      if (response.status !== 200) refused.push(response);
      await response.text();
    }),
  );
  await expect.poll(() => refused.length, { timeout: 30_000 }).toBe(ATTACK - SHARE);
  for (const { status, headers } of refused) {
    expect(status).toBe(429);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  }
  await expectQuietIsServed();
  const headers = { 'x-api-key': quiet.apiKey };
  const request = await sendAll(ATTACK, () => app.fetch(ownTarget.path, { headers }));
  expect(request).toEqual(Array(ATTACK).fill(200));
  hanging.release();
  await Promise.all(requests);
  await expectHeld('providerRequests', 0);
  await expectHeld('requests', 0);
});

test('serves others while one caller sends expensive queries', async () => {
  const heavy = '{ viewer { project { operations(first: 300) { edges { node { id } } } } } }';
  const keys = await Promise.all(Array.from({ length: 3 }, () => attacker.createKey('read')));
  const clients = keys.map((key) => app.client({ 'x-api-key': key }));
  for (const client of clients) await client.query(LIGHT);
  const requests = clients.flatMap((client) =>
    Array.from({ length: ATTACK }, () => client.request(heavy)),
  );
  await expectQuietIsServed();
  const responses = await Promise.all(requests);
  for (const { status } of responses) expect([200, 429]).toContain(status);
  expect(responses.some(({ status }) => status === 200)).toBe(true);
  await expectHeld('requests', 0);
});

test('serves others while one token opens too many sockets', async () => {
  const { token } = await createEndUser(app, attacker);
  const open = async (payload: object) => {
    const socket = await openSocket(url);
    socket.send({ type: 'connection_init', payload });
    return { ...socket, first: await Promise.race([socket.next(), socket.closed]) };
  };
  const attack = await Promise.all(
    Array.from({ length: ATTACK }, () => open({ authorization: `Bearer ${token}` })),
  );
  const refused = attack.filter(({ first }) => 'code' in first);
  expect(refused).toHaveLength(ATTACK - SHARE);
  for (const { first } of refused) {
    expect(first.code).toBe(1013);
    expect(first.reason).toMatch(/^429 LIMIT_CALLER_SOCKETS, Retry-After: 1\. /);
  }
  const ownStreams = await Promise.all(
    Array.from({ length: SHARE }, () => open({ 'x-api-key': quiet.apiKey })),
  );
  for (const { first } of ownStreams) expect(first).toEqual({ type: 'connection_ack' });
  for (const { socket } of [...attack, ...ownStreams]) socket.terminate();
  await expectHeld('sockets', 0);
});

test('serves others while one caller opens too many subscriptions', async () => {
  const subscribe = ({ apiKey, projectId }: Tenant) =>
    openEventStream(fetchFrom(url), {
      query:
        'subscription NotificationEvents($id: String!) { notificationEvents(projectIdOrName: $id) { cursor } }',
      variables: { id: projectId },
      headers: { 'x-api-key': apiKey },
    });
  const attack = await Promise.all(Array.from({ length: ATTACK }, () => subscribe(attacker)));
  expect(attack.filter(({ status }) => status === 200)).toHaveLength(SHARE);
  for (const { status, headers } of attack) {
    if (status !== 200) expect([status, headers.get('retry-after')]).toEqual([429, '1']);
  }
  const ownStreams = await Promise.all(Array.from({ length: SHARE }, () => subscribe(quiet)));
  expect(ownStreams.map(({ status }) => status)).toEqual(Array(SHARE).fill(200));
  for (const stream of [...attack, ...ownStreams]) stream.close();
  await expectHeld('subscriptions', 0);
});

test('returns 503 with the limit and Retry-After if the process is full', async () => {
  const { held, max } = shares.get('requests');
  const others = Array.from({ length: max - held }, (_, index) => ({ project: `other ${index}` }));
  for (const holder of others) shares.get('requests').add(holder);
  const response = await quiet.request(LIGHT);
  const rest = await app.fetch('/v1/orgs', { headers: { 'x-api-key': quiet.apiKey } });
  for (const holder of others) shares.get('requests').release(holder);
  const problem = { status: 503, limit: 'LIMIT_REQUESTS', retryAfterSeconds: 1 };
  expect(response).toMatchObject({
    status: 503,
    errors: [{ extensions: { code: 'SERVICE_UNAVAILABLE', problem } }],
  });
  expect(rest.headers.get('retry-after')).toBe('1');
  expect(await rest.json()).toMatchObject(problem);
  await expectQuietIsServed();
});
