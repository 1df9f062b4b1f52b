/**
 * During an attack, even from its own address, a well-behaved client is served, and none of its requests is refused.
 */
import { randomBytes } from 'node:crypto';
import { request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { createTestApp, createTestDatabase, keepOpen } from '../support/app.ts';
import { ENCRYPTION_KEY } from '../support/process/encryption-key.ts';
import { type ClientReport, runClient } from './fixtures/attack/good-client.ts';
import {
  computeOpeningMs,
  KINDS,
  type Kind,
  startUnfinishedAttack,
} from './fixtures/attack/unfinished-attack.ts';
import { type Gateway, getDatabaseUrl, startGateway } from './fixtures/gateway.ts';
import { IS_SHORT } from './fixtures/settings.ts';

const BEFORE_MS = IS_SHORT ? 500 : 2_000;
/** Duration of an attack after its sockets are open. */
const ATTACK_MS = IS_SHORT ? 2_000 : 10_000;
/** The promised p99 of a well-behaved client. */
const P99_MS_MAX = 200;
/** Each size exceeds the server's limit of concurrent requests many times. */
const ATTACK_SIZES = IS_SHORT
  ? [
      { sockets: 1_000, addresses: 1 },
      { sockets: 1_500, addresses: 20 },
    ]
  : [
      { sockets: 5_000, addresses: 1 },
      { sockets: 20_000, addresses: 200 },
    ];
const KIND_COMBINATIONS: Kind[][] = IS_SHORT
  ? [[...KINDS]]
  : [...KINDS.map((kind) => [kind]), [...KINDS]];
const ATTACKS = KIND_COMBINATIONS.flatMap((kinds) =>
  ATTACK_SIZES.map((size) => ({ ...size, kinds })),
);
/** Wrong keys before the measurement. They exceed the limit of an address. */
const WRONG_KEYS = 61;
/** Rates of wrong keys during the measurement. */
const WRONG_KEYS_PER_SECOND = [2, 100];

interface Fixture {
  gateway: Gateway;
  apiKey: string;
  /** API keys of tenants that the gateway has not authenticated yet, one for each rate of wrong keys. */
  newKeys: string[];
  reportBefore: ClientReport;
}

async function startFixture(): Promise<Fixture> {
  const database = await createTestDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  await using app = await createTestApp({ env: { ENCRYPTION_KEY }, database: keepOpen(database) });
  const client = await app.createTenant();
  const newKeys: string[] = [];
  for (const _ of WRONG_KEYS_PER_SECOND) newKeys.push((await app.createTenant()).apiKey);
  const gateway = await startGateway({
    DATABASE_URL: await getDatabaseUrl(database),
    RATE_LIMIT_PER_SECOND: '1000000',
    RATE_LIMIT_BURST: '1000000',
  });
  // The first requests are slow, because their code is compiled.
  await runClient(BEFORE_MS, gateway.url, client.apiKey);
  const reportBefore = await runClient(BEFORE_MS, gateway.url, client.apiKey);
  return { gateway, reportBefore, apiKey: client.apiKey, newKeys };
}

/**
 * Expects that no request failed during the attack. The long form also expects the promised p99. In the short form, the
 * attackers share cores with the server.
 */
function expectServed(attack: object, { failures, p99Ms }: ClientReport): void {
  expect({ attack, failures }).toEqual({ attack, failures: {} });
  if (!IS_SHORT) expect(p99Ms, JSON.stringify(attack)).toBeLessThan(P99_MS_MAX);
}

test('serves a well-behaved client during unfinished requests from one address and from many', async () => {
  const { gateway, reportBefore, apiKey } = await startFixture();
  const { url } = gateway;
  for (const { sockets, addresses, kinds } of ATTACKS) {
    const ipAddresses = Array.from({ length: addresses }, (_, index) => `127.0.0.${index + 1}`);
    const stopWatching = await gateway.watchLoad();
    const attack = startUnfinishedAttack({ url, sockets, addresses: ipAddresses, kinds });
    const reportDuring = await runClient(computeOpeningMs(sockets) + ATTACK_MS, url, apiKey);
    const load = await stopWatching();
    const counts = attack.countSockets();
    await attack.stop();
    console.log({ kinds, sockets, addresses, reportBefore, reportDuring, counts, load });
    expect(counts.opened).toBeGreaterThanOrEqual(sockets);
    expectServed({ sockets, addresses, kinds }, reportDuring);
  }
});

/** Sends a new random key from the address of the well-behaved client. */
async function sendWrongKey(url: string): Promise<number> {
  const headers = {
    'content-type': 'application/json',
    'x-api-key': `ik_${randomBytes(32).toString('base64url')}`,
  };
  const body = JSON.stringify({ query: 'query Viewer { viewer { project { id } } }' });
  const response = await request(`${url}/graphql`, { method: 'POST', headers, body });
  await response.body.dump();
  return response.statusCode;
}

/**
 * Sends wrong keys at a constant rate. Returns a function that stops, and returns the number of responses by status.
 */
function floodWrongKeys(url: string, perSecond: number) {
  const statuses: Record<number, number> = {};
  const pendingRequests = new Set<Promise<void>>();
  const timer = setInterval(() => {
    const sent = sendWrongKey(url)
      .then((status) => {
        statuses[status] = (statuses[status] ?? 0) + 1;
      })
      .finally(() => pendingRequests.delete(sent));
    pendingRequests.add(sent);
  }, 1_000 / perSecond);
  onTestFinished(() => clearInterval(timer));
  return async () => {
    clearInterval(timer);
    await Promise.all(pendingRequests);
    return statuses;
  };
}

test('serves new valid keys during wrong keys from the same address', async () => {
  const { gateway, reportBefore, newKeys } = await startFixture();
  const { url } = gateway;
  const firstStatuses = await Promise.all(
    Array.from({ length: WRONG_KEYS }, () => sendWrongKey(url)),
  );
  expect(new Set(firstStatuses)).toEqual(new Set([401, 429]));
  for (const [index, newKey] of newKeys.entries()) {
    const perSecond = WRONG_KEYS_PER_SECOND[index] as number;
    const stopFlood = floodWrongKeys(url, perSecond);
    const reportDuring = await runClient(ATTACK_MS, url, newKey);
    const wrongKeyStatuses = await stopFlood();
    console.log({ perSecond, reportBefore, reportDuring, wrongKeyStatuses });
    expectServed({ perSecond }, reportDuring);
    expect(wrongKeyStatuses[429]).toBeGreaterThan(0);
  }
});
