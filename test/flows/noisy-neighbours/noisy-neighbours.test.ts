/**
 * An attacker at ten times its share beside a quiet tenant: the quiet tenant's requests all succeed.
 *
 * @module-tag all/rows
 */
import type { ServerResponse } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { sharedApp, type Tenant } from '../../support/app.ts';
import { openEventStream } from '../../support/event-stream.ts';
import type { Answer } from '../../support/graphql-client.ts';
import { crmAt, proxyPath, startUpstream } from '../../support/rest/proxied.ts';
import { generate } from '../../support/scenes/connections.ts';
import { endUser } from '../../support/scenes/end-users.ts';
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
const crm = crmAt(upstream.url, {
  capabilities: {
    proxy: true,
    async describeObject(session, name) {
      await session.send({ method: 'GET', path: `/describe/${name}` });
      return { name, displayName: name, fields: [], isPartial: false };
    },
  },
});
const app = await sharedApp({
  env: {
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
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
  await generate(tenant, { provider: 'crm', apiKey });
}

/** The provider never answers the attacker's account until it is released; it answers every other. */
function hangForAttacker(): { release(): void } {
  const held: ServerResponse[] = [];
  let isReleased = false;
  upstream.behave((req, res) => {
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

const METADATA = `query ($project: String!, $name: String!) {
  objectMetadata(projectIdOrName: $project, provider: "crm", objectName: $name, groupRef: "acme") { name }
}`;
const SHORT = '{ viewer { project { id } } }';

/** So many requests, `SHARE` at a time: as many as the quiet tenant may have at once. */
async function ask(count: number, one: () => Promise<{ status: number }>): Promise<number[]> {
  const statuses: number[] = [];
  for (let asked = 0; asked < count; asked += SHARE / 2) {
    const some = await Promise.all(Array.from({ length: SHARE / 2 }, one));
    statuses.push(...some.map(({ status }) => status));
  }
  return statuses;
}

async function expectQuietIsServed(): Promise<void> {
  expect(await ask(ATTACK, () => quiet.request(SHORT))).toEqual(Array(ATTACK).fill(200));
}

function expectRefused(answers: readonly Answer[], limits: readonly string[]): void {
  for (const { status, headers, errors } of answers) {
    expect(status).toBe(429);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    const { code, problem } = errors?.[0]?.extensions ?? {};
    expect(code).toBe('RATE_LIMITED');
    expect(limits).toContain(problem?.limit);
  }
}

/** Resolves when so much of a share is held. */
const holding = (name: Parameters<typeof shares.of>[0], count: number) =>
  expect.poll(() => shares.of(name).held, { timeout: 30_000 }).toBe(count);

test('slots and provider queues: metadata of a provider that never answers', async () => {
  const hanging = hangForAttacker();
  const person = await endUser(app, attacker);
  // Known from here on: until then, requests count by their network.
  await person.query('{ viewer { kind } }');
  const given = { project: attacker.projectId, name: 'contacts' };
  const refused: Answer[] = [];
  const all = Array.from({ length: ATTACK }, async () => {
    const answer = await person.request(METADATA, given);
    if (answer.status !== 200) refused.push(answer);
    return answer.status;
  });
  await expect.poll(() => refused.length, { timeout: 30_000 }).toBe(ATTACK - SHARE);
  // Until the first ones wait for the provider, they hold the slots of the caller.
  expectRefused(refused, ['LIMIT_CALLER_REQUESTS', 'LIMIT_CALLER_PROVIDER_REQUESTS']);
  // Those that wait hold no slot, and share one request to the provider.
  await holding('requests', 0);
  expect(shares.of('providerRequests').held).toBe(SHARE);

  await expectQuietIsServed();
  const own = { project: quiet.projectId, name: 'contacts' };
  expect((await quiet.query(METADATA, own)).objectMetadata).toEqual({ name: 'contacts' });

  hanging.release();
  expect((await Promise.all(all)).filter((status) => status === 200)).toHaveLength(SHARE);
  await holding('providerRequests', 0);
});

test('the proxy: requests of several callers to one connection', async () => {
  const hanging = hangForAttacker();
  const [of, mine] = [
    await proxyPath(app, attacker, { apiKey: 'attacker' }),
    await proxyPath(app, quiet),
  ];
  const keys = await Promise.all(
    Array.from({ length: ATTACK / SHARE }, () => attacker.keyOf('read', 'records:write')),
  );
  for (const key of keys) await app.client({ 'x-api-key': key }).query(SHORT);
  const refused: Response[] = [];
  const all = keys.flatMap((key) =>
    Array.from({ length: SHARE }, async () => {
      const answer = await app.fetch(of.path, { headers: { 'x-api-key': key } });
      if (answer.status !== 200) refused.push(answer);
      await answer.text();
    }),
  );
  await expect.poll(() => refused.length, { timeout: 30_000 }).toBe(ATTACK - SHARE);
  for (const { status, headers } of refused) {
    expect(status).toBe(429);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  }
  await expectQuietIsServed();
  const headers = { 'x-api-key': quiet.apiKey };
  const asked = await ask(ATTACK, () => app.fetch(mine.path, { headers }));
  expect(asked).toEqual(Array(ATTACK).fill(200));
  hanging.release();
  await Promise.all(all);
  await holding('providerRequests', 0);
  await holding('requests', 0);
});

test('the processor: heavy queries', async () => {
  const heavy = '{ viewer { project { operations(first: 300) { edges { node { id } } } } } }';
  const keys = await Promise.all(Array.from({ length: 3 }, () => attacker.keyOf('read')));
  const clients = keys.map((key) => app.client({ 'x-api-key': key }));
  for (const client of clients) await client.query(SHORT);
  const all = clients.flatMap((client) =>
    Array.from({ length: ATTACK }, () => client.request(heavy)),
  );
  await expectQuietIsServed();
  const answers = await Promise.all(all);
  for (const { status } of answers) expect([200, 429]).toContain(status);
  expect(answers.some(({ status }) => status === 200)).toBe(true);
  await holding('requests', 0);
});

test('sockets of one token', async () => {
  const { token } = await endUser(app, attacker);
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
  const mine = await Promise.all(
    Array.from({ length: SHARE }, () => open({ 'x-api-key': quiet.apiKey })),
  );
  for (const { first } of mine) expect(first).toEqual({ type: 'connection_ack' });
  for (const { socket } of [...attack, ...mine]) socket.terminate();
  await holding('sockets', 0);
});

test('subscriptions of one caller', async () => {
  const subscribe = ({ apiKey, projectId }: Tenant) =>
    openEventStream((path, init) => fetch(`${url}${path}`, init), {
      query: 'subscription ($id: String!) { notificationEvents(projectIdOrName: $id) { cursor } }',
      variables: { id: projectId },
      headers: { 'x-api-key': apiKey },
    });
  const attack = await Promise.all(Array.from({ length: ATTACK }, () => subscribe(attacker)));
  expect(attack.filter(({ status }) => status === 200)).toHaveLength(SHARE);
  for (const { status, headers } of attack) {
    if (status !== 200) expect([status, headers.get('retry-after')]).toEqual([429, '1']);
  }
  const mine = await Promise.all(Array.from({ length: SHARE }, () => subscribe(quiet)));
  expect(mine.map(({ status }) => status)).toEqual(Array(SHARE).fill(200));
  for (const stream of [...attack, ...mine]) stream.leave();
  await holding('subscriptions', 0);
});

test('a process that is full answers 503, with the limit and when to try again', async () => {
  const { held, max } = shares.of('requests');
  const others = Array.from({ length: max - held }, (_, index) => ({ project: `other ${index}` }));
  for (const other of others) shares.of('requests').add(other);
  const answer = await quiet.request(SHORT);
  const rest = await app.fetch('/v1/orgs', { headers: { 'x-api-key': quiet.apiKey } });
  for (const other of others) shares.of('requests').release(other);
  const problem = { status: 503, limit: 'LIMIT_REQUESTS', retryAfterSeconds: 1 };
  expect(answer).toMatchObject({
    status: 503,
    errors: [{ extensions: { code: 'SERVICE_UNAVAILABLE', problem } }],
  });
  expect(rest.headers.get('retry-after')).toBe('1');
  expect(await rest.json()).toMatchObject(problem);
  await expectQuietIsServed();
});
