import { createHmac } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { randomOf } from '../../faults/scenes/random.ts';
import { sharedApp, type Tenant } from '../../support/app.ts';
import { HOSTILE_JSON, HOSTILE_TEXTS } from '../../support/fuzz/fuzz-values.ts';
import { generate } from '../../support/scenes/connections.ts';
import { CREATE_INSTALLATION, contentFor, integrate } from '../../support/scenes/integrations.ts';
import { ALL_EVENTS, createSandboxApp } from '../../support/scenes/subscriptions.ts';

const REQUESTS = 1_000;
const SECRET = 'secret of the provider';
const SEED = Number(process.env.FUZZ_SEED ?? 1);
const TOLERANCE_SECONDS = 5 * 60;

const app = await sharedApp();
const { prisma } = app.app.services.database;
let url = '';
beforeAll(async () => {
  ({ url } = await app.app.start());
});

/** An installation that wants what would be sent: what is not kept is kept from it by the ingress alone. */
async function subscribe(tenant: Tenant) {
  const { projectId } = tenant;
  const { id: providerAppId } = await createSandboxApp(tenant, { webhookSecret: SECRET });
  await integrate(app, tenant, contentFor('crm', { subscribe: { objects: [ALL_EVENTS] } }));
  const { id: account } = await generate(tenant, { apiKey: 'sandbox-key' });
  const input = { projectIdOrName: projectId, integrationIdOrName: 'crm', groupRef: 'acme' };
  await tenant.query(CREATE_INSTALLATION, { input });
  await prisma.objectSubscription.updateMany({
    where: { projectId },
    data: { providerAppId, account, status: 'ACTIVE', dueTime: null },
  });
  return { providerAppId, account };
}

interface Sent {
  path: string;
  method: string;
  body: Buffer<ArrayBuffer>;
  headers: Record<string, string>;
}

const send = (path: string, request: Omit<Sent, 'path'>) => fetch(url + path, request);

function signature(body: Buffer, { secret = SECRET, late = 0 } = {}) {
  const seconds = Math.floor(Date.now() / 1_000) - late;
  const digest = createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex');
  return `t=${seconds},v1=${digest}`;
}

test(`of ${REQUESTS} forged, replayed, truncated, oversized and odd requests none is kept, and none fails`, async () => {
  const tenant = await app.tenant();
  const { providerAppId, account } = await subscribe(tenant);
  const random = randomOf(SEED);
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const path = `/webhooks/sandbox/${providerAppId}`;
  const eventOf = (more: object = {}) => ({
    ...{ id: crypto.randomUUID(), type: 'contacts.deleted', account, objectName: 'contacts' },
    ...{ recordId: '1', occurredAt: new Date().toISOString(), ...more },
  });
  const bytes = (...events: unknown[]) => Buffer.from(JSON.stringify({ events }));
  const signed = (body: Buffer<ArrayBuffer>, how = {}): Sent => {
    const headers = { 'x-sandbox-signature': signature(body, how) };
    return { path, method: 'POST', body, headers };
  };
  const cutAt = (body: Buffer<ArrayBuffer>) =>
    body.subarray(0, Math.floor(random() * (body.length - 1)));
  const large = bytes(eventOf({ recordId: 'x'.repeat(1024 * 1024) }));
  const kinds: Record<string, () => Sent> = {
    forged: () => signed(bytes(eventOf()), { secret: `${SECRET}${pick(HOSTILE_TEXTS)}!` }),
    replayed: () => {
      const late = TOLERANCE_SECONDS + 5 + Math.floor(random() * 1e6);
      return signed(bytes(eventOf()), { late: pick([late, -late]) });
    },
    truncated: () => {
      const whole = signed(bytes(eventOf()));
      return { ...whole, body: cutAt(whole.body) };
    },
    truncatedAndSigned: () => signed(cutAt(bytes(eventOf()))),
    changed: () => {
      const { body, ...whole } = signed(bytes(eventOf()));
      const other = Buffer.from(body);
      const place = Math.floor(random() * other.length);
      other[place] = (other[place] ?? 0) ^ (1 + Math.floor(random() * 255));
      return { ...whole, body: other };
    },
    oversized: () => signed(large),
    oddSignature: () => {
      const { headers: _none, ...whole } = signed(bytes(eventOf()));
      const seconds = Math.floor(Date.now() / 1_000);
      const odd = ['', 't=,v1=', `t=${seconds}`, `t=${seconds},v1=`, 't=9e99,v1=00', 'v1=ff,t=1'];
      const zeros = `t=${seconds},v1=${'0'.repeat(64)}`;
      return { ...whole, headers: { 'x-sandbox-signature': pick([...odd, zeros]) } };
    },
    oddBody: () =>
      signed(Buffer.from(JSON.stringify(pick<unknown>([...HOSTILE_JSON, 7, [], null])))),
    oddBytes: () =>
      signed(Buffer.from(Array.from({ length: 64 }, () => Math.floor(random() * 256)))),
    oddEvent: () => {
      const member = pick(['id', 'type', 'account', 'objectName', 'recordId', 'occurredAt']);
      return signed(
        bytes(eventOf(), eventOf({ [member]: pick<unknown>([7, null, [], {}, 'x'.repeat(600)]) })),
      );
    },
    oddTime: () =>
      signed(bytes(eventOf({ occurredAt: pick(['0000-00-00', '+275760-09-13T00:00:00Z', '']) }))),
    strangersAccount: () => signed(bytes(eventOf({ account: pick(HOSTILE_TEXTS).slice(0, 256) }))),
    strangersObject: () =>
      signed(bytes(eventOf({ objectName: pick(HOSTILE_TEXTS).slice(0, 128) }))),
    unwantedType: () =>
      signed(bytes(eventOf({ type: pick(['contacts.merged', 'x', '__proto__']) }))),
    compressed: () => {
      const { headers, ...whole } = signed(bytes(eventOf()));
      return { ...whole, headers: { ...headers, 'content-encoding': pick(['gzip', 'br', 'x']) } };
    },
    elsewhere: () => {
      const other = path.replace(/.{4}$/, '0000');
      const paths = [other, `${path}/more`, '/webhooks/sandbox/x', '/webhooks/x/x', `${path}%00`];
      const hubspot = path.replace('sandbox', 'hubspot');
      return { ...signed(bytes(eventOf())), path: pick([...paths, hubspot, '/webhooks//']) };
    },
    otherMethod: () => ({ ...signed(bytes(eventOf())), method: pick(['PUT', 'PATCH', 'DELETE']) }),
  };
  /** They are what the provider may send, and nobody wants them: taken, and not kept. */
  const harmless = ['strangersAccount', 'strangersObject', 'unwantedType'];
  const names = Object.keys(kinds);
  for (let index = 0; index < REQUESTS; index += 1) {
    const name = names[index % names.length] as string;
    const { path: at, ...request } = (kinds[name] as () => Sent)();
    const { status } = await send(at, request);
    const about = `request ${index}, ${name}, seed ${SEED}`;
    expect(status, about).toBeLessThan(500);
    if (!harmless.includes(name)) expect(status, about).toBeGreaterThanOrEqual(400);
  }
  const { projectId } = tenant;
  expect(await prisma.providerEvent.count({ where: { projectId } })).toBe(0);
  // The ingress still works, and would have kept what is sound.
  const { path: at, ...sound } = signed(bytes(eventOf()));
  expect((await send(at, sound)).status).toBe(204);
  expect(await prisma.providerEvent.count({ where: { projectId } })).toBe(1);
});
