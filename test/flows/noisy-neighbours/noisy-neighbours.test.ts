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

const CALLER_SHARE = 4;
const ATTACK_REQUESTS = 10 * CALLER_SHARE;
const LIMITS = {
  LIMIT_REQUESTS: 4 * CALLER_SHARE,
  LIMIT_PROJECT_REQUESTS: 2 * CALLER_SHARE,
  LIMIT_CALLER_REQUESTS: CALLER_SHARE,
  LIMIT_RUNNING: CALLER_SHARE,
  LIMIT_HEAVY_COST: 200,
  LIMIT_HEAVY: 2,
  LIMIT_CALLER_HEAVY: 1,
  LIMIT_PROVIDER_REQUESTS: 4 * CALLER_SHARE,
  LIMIT_PROJECT_PROVIDER_REQUESTS: 2 * CALLER_SHARE,
  LIMIT_CALLER_PROVIDER_REQUESTS: CALLER_SHARE,
  LIMIT_CONNECTION_REQUESTS: CALLER_SHARE,
  LIMIT_SOCKETS: 4 * CALLER_SHARE,
  LIMIT_PROJECT_SOCKETS: 2 * CALLER_SHARE,
  LIMIT_CALLER_SOCKETS: CALLER_SHARE,
  LIMIT_PROCESS_SUBSCRIPTIONS: 4 * CALLER_SHARE,
  LIMIT_PROJECT_SUBSCRIPTIONS: 2 * CALLER_SHARE,
  LIMIT_SUBSCRIPTIONS: CALLER_SHARE,
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
    // With a longer time, the stop waits for the attacker's requests.
    SHUTDOWN_MS: '1000',
    ...Object.fromEntries(Object.entries(LIMITS).map(([name, value]) => [name, String(value)])),
  },
  providers: [crm],
});
const { url } = await app.app.start();
const { shares } = app.app.services;

const attacker = await app.createTenant('attacker');
const quiet = await app.createTenant('quiet');
for (const [tenant, apiKey] of [
  [attacker, 'attacker'],
  [quiet, 'quiet'],
] as const) {
  await generateConnection(tenant, { provider: 'crm', apiKey });
}

/** Makes the provider respond to the attacker's account only after `release`, and to other accounts immediately. */
function hangForAttacker(): { release(): void } {
  const heldResponses: ServerResponse[] = [];
  let isReleased = false;
  upstream.setHandler((req, res) => {
    const isHeld = req.headers.authorization === 'Key attacker' && !isReleased;
    if (isHeld) heldResponses.push(res);
    else res.end('{}');
  });
  return {
    release() {
      isReleased = true;
      for (const res of heldResponses) res.end('{}');
    },
  };
}

const GET_OBJECT_METADATA = `query ObjectMetadata($project: String!, $name: String!) {
  objectMetadata(projectIdOrName: $project, provider: "crm", objectName: $name, groupRef: "acme") { name }
}`;
const LIGHT_QUERY = 'query Light { viewer { project { id } } }';

/**
 * Sends `count` requests. Half of `CALLER_SHARE` run concurrently, which the limits always permit to the
 * quiet tenant.
 */
async function sendAll(count: number, send: () => Promise<{ status: number }>): Promise<number[]> {
  const statuses: number[] = [];
  for (let request = 0; request < count; request += CALLER_SHARE / 2) {
    const halfStatuses = await Promise.all(Array.from({ length: CALLER_SHARE / 2 }, send));
    statuses.push(...halfStatuses.map(({ status }) => status));
  }
  return statuses;
}

async function expectQuietIsServed(): Promise<void> {
  expect(await sendAll(ATTACK_REQUESTS, () => quiet.request(LIGHT_QUERY))).toEqual(
    Array(ATTACK_REQUESTS).fill(200),
  );
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
const waitForHeld = (name: Parameters<typeof shares.get>[0], count: number) =>
  expect.poll(() => shares.get(name).held).toBe(count);

test('serves other callers while one caller requests metadata of a provider that never responds', async () => {
  const hanging = hangForAttacker();
  const person = await createEndUser(app, attacker);
  // Requests of a new token count for its network until the gateway has authenticated the token.
  await person.query('query Viewer { viewer { kind } }');
  const input = { project: attacker.projectId, name: 'contacts' };
  const refusals: GraphqlResponse[] = [];
  const attackRequests = Array.from({ length: ATTACK_REQUESTS }, async () => {
    const response = await person.request(GET_OBJECT_METADATA, input);
    if (response.status !== 200) refusals.push(response);
    return response.status;
  });
  await expect.poll(() => refusals.length).toBe(ATTACK_REQUESTS - CALLER_SHARE);
  // A request holds a slot of the caller until it waits for the provider, so either limit can refuse the others.
  expectRefused(refusals, ['LIMIT_CALLER_REQUESTS', 'LIMIT_CALLER_PROVIDER_REQUESTS']);
  // Waiting requests hold no slot, and share one request to the provider.
  await waitForHeld('requests', 0);
  expect(shares.get('providerRequests').held).toBe(CALLER_SHARE);
  // A refusal runs no statement besides authentication.
  const { result, statements } = await recordStatements(() =>
    person.request(GET_OBJECT_METADATA, input),
  );
  expectRefused([result], ['LIMIT_CALLER_PROVIDER_REQUESTS']);
  expect(statements.filter(({ text }) => !CALLER_STATEMENTS.test(text))).toEqual([]);

  await expectQuietIsServed();
  const quietTarget = { project: quiet.projectId, name: 'contacts' };
  expect((await quiet.query(GET_OBJECT_METADATA, quietTarget)).objectMetadata).toEqual({
    name: 'contacts',
  });

  hanging.release();
  expect((await Promise.all(attackRequests)).filter((status) => status === 200)).toHaveLength(
    CALLER_SHARE,
  );
  await waitForHeld('providerRequests', 0);
});

test('serves other callers while several callers send proxy requests to one connection', async () => {
  const hanging = hangForAttacker();
  const [target, quietTarget] = [
    await installProxy(app, attacker, { apiKey: 'attacker' }),
    await installProxy(app, quiet),
  ];
  const keys = await Promise.all(
    Array.from({ length: ATTACK_REQUESTS / CALLER_SHARE }, () =>
      attacker.createKey('read', 'records:write'),
    ),
  );
  for (const key of keys) await app.createClient({ 'x-api-key': key }).query(LIGHT_QUERY);
  const refusals: Response[] = [];
  const requests = keys.flatMap((key) =>
    Array.from({ length: CALLER_SHARE }, async () => {
      const response = await app.fetch(target.path, { headers: { 'x-api-key': key } });
      if (response.status !== 200) refusals.push(response);
      await response.text();
    }),
  );
  await expect.poll(() => refusals.length).toBe(ATTACK_REQUESTS - CALLER_SHARE);
  for (const { status, headers } of refusals) {
    expect(status).toBe(429);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  }
  await expectQuietIsServed();
  const headers = { 'x-api-key': quiet.apiKey };
  const statuses = await sendAll(ATTACK_REQUESTS, () => app.fetch(quietTarget.path, { headers }));
  expect(statuses).toEqual(Array(ATTACK_REQUESTS).fill(200));
  hanging.release();
  await Promise.all(requests);
  await waitForHeld('providerRequests', 0);
  await waitForHeld('requests', 0);
});

test('serves other callers while one caller sends expensive queries', async () => {
  const heavyQuery =
    'query Heavy { viewer { project { operations(first: 300) { edges { node { id } } } } } }';
  const keys = await Promise.all(Array.from({ length: 3 }, () => attacker.createKey('read')));
  const clients = keys.map((key) => app.createClient({ 'x-api-key': key }));
  for (const client of clients) await client.query(LIGHT_QUERY);
  const requests = clients.flatMap((client) =>
    Array.from({ length: ATTACK_REQUESTS }, () => client.request(heavyQuery)),
  );
  await expectQuietIsServed();
  const responses = await Promise.all(requests);
  for (const { status } of responses) expect([200, 429]).toContain(status);
  expect(responses.some(({ status }) => status === 200)).toBe(true);
  await waitForHeld('requests', 0);
});

test('serves other callers while one token opens too many sockets', async () => {
  const { token } = await createEndUser(app, attacker);
  const open = async (payload: object) => {
    const socket = await openSocket(url);
    socket.send({ type: 'connection_init', payload });
    return { ...socket, firstMessage: await Promise.race([socket.next(), socket.closed]) };
  };
  const attack = await Promise.all(
    Array.from({ length: ATTACK_REQUESTS }, () => open({ authorization: `Bearer ${token}` })),
  );
  const refusedSockets = attack.filter(({ firstMessage }) => 'code' in firstMessage);
  expect(refusedSockets).toHaveLength(ATTACK_REQUESTS - CALLER_SHARE);
  for (const { firstMessage } of refusedSockets) {
    expect(firstMessage.code).toBe(1013);
    expect(firstMessage.reason).toMatch(/^429 LIMIT_CALLER_SOCKETS, Retry-After: 1\. /);
  }
  const quietStreams = await Promise.all(
    Array.from({ length: CALLER_SHARE }, () => open({ 'x-api-key': quiet.apiKey })),
  );
  for (const { firstMessage } of quietStreams)
    expect(firstMessage).toEqual({ type: 'connection_ack' });
  for (const { socket } of [...attack, ...quietStreams]) socket.terminate();
  await waitForHeld('sockets', 0);
});

test('serves other callers while one caller opens too many subscriptions', async () => {
  const subscribe = ({ apiKey, projectId }: Tenant) =>
    openEventStream(fetchFrom(url), {
      query:
        'subscription NotificationEvents($id: String!) { notificationEvents(projectIdOrName: $id) { cursor } }',
      variables: { id: projectId },
      headers: { 'x-api-key': apiKey },
    });
  const attack = await Promise.all(
    Array.from({ length: ATTACK_REQUESTS }, () => subscribe(attacker)),
  );
  expect(attack.filter(({ status }) => status === 200)).toHaveLength(CALLER_SHARE);
  for (const { status, headers } of attack) {
    if (status !== 200) expect([status, headers.get('retry-after')]).toEqual([429, '1']);
  }
  const quietStreams = await Promise.all(
    Array.from({ length: CALLER_SHARE }, () => subscribe(quiet)),
  );
  expect(quietStreams.map(({ status }) => status)).toEqual(Array(CALLER_SHARE).fill(200));
  for (const stream of [...attack, ...quietStreams]) stream.close();
  await waitForHeld('subscriptions', 0);
});

test('returns 503 with the limit and Retry-After if the process is full', async () => {
  const { held, max } = shares.get('requests');
  const holders = Array.from({ length: max - held }, (_, index) => ({
    project: `holder ${index}`,
  }));
  for (const holder of holders) shares.get('requests').add(holder);
  const response = await quiet.request(LIGHT_QUERY);
  const rest = await app.fetch('/v1/orgs', { headers: { 'x-api-key': quiet.apiKey } });
  for (const holder of holders) shares.get('requests').release(holder);
  const problem = { status: 503, limit: 'LIMIT_REQUESTS', retryAfterSeconds: 1 };
  expect(response).toMatchObject({
    status: 503,
    errors: [{ extensions: { code: 'SERVICE_UNAVAILABLE', problem } }],
  });
  expect(rest.headers.get('retry-after')).toBe('1');
  expect(await rest.json()).toMatchObject(problem);
  await expectQuietIsServed();
});
