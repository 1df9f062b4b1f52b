/** What vendors tell of their own accord: taken if it is theirs, and told as it was meant. */
import { expect, test } from 'vitest';
import { DECLARED } from '../../../src/providers/declared/all.ts';
import type { SubscribeCapability, WebhookRequest } from '../../../src/providers/subscribing.ts';
import { startProviderServer } from '../../support/providers/provider-server.ts';
import { plainSession } from '../../support/providers/provider-session.ts';
import { WIRE_EVENTS } from '../../support/wire/events/all.ts';
import { VendorWebhooks, type WireWebhooks } from '../../support/wire/events/vendor-webhooks.ts';
import { hmac, type Sending, type WireEvents } from '../../support/wire/events/wire-events.ts';
import { failureOf } from '../contract-subject.ts';

const SECRET = 'the secret of the app';
const URL_OF_APP = 'https://gateway.example/webhooks/vendor/app_1';
const NOW = new Date('2026-01-01T12:00:00Z');
const KINDS = ['CREATE', 'UPDATE', 'DELETE'] as const;

const telling = DECLARED.flatMap((provider) => {
  const { subscribe } = provider.capabilities;
  return subscribe ? [{ name: provider.name, provider, subscribe }] : [];
});

test('every declaration of events has a vendor that was written without it', () => {
  expect(telling.map(({ name }) => name).toSorted()).toEqual(Object.keys(WIRE_EVENTS).toSorted());
});

interface Vendor {
  wire: WireEvents;
  subscribe: SubscribeCapability;
  account: string;
  /** As the vendor sends it to the address that it knows. */
  request(sending: Sending): WebhookRequest;
  /** What it signs with. */
  secret: string;
}

async function vendorOf(name: string, subscribe: SubscribeCapability): Promise<Vendor> {
  const wire = WIRE_EVENTS[name] as WireEvents;
  const { providerWorkspaceRef = null, facts = {} } = wire.connection ?? {};
  const account = subscribe.accountOf(
    { id: 'con_1', providerWorkspaceRef },
    (fact) => facts[fact] ?? null,
  );
  expect(account).not.toBeNull();
  const known = wire.connection
    ? { url: URL_OF_APP, secret: SECRET }
    : await subscribed(subscribe, wire, account ?? '');
  return {
    wire,
    subscribe,
    account: account ?? '',
    secret: known.secret,
    request: ({ headers, body }) => ({
      method: 'POST',
      url: known.url,
      headers,
      body: Buffer.from(body),
    }),
  };
}

/** What the vendor is told when a subscription is made. */
async function subscribed(
  { calls }: SubscribeCapability,
  { objectName, webhooks: api }: WireEvents,
  account: string,
) {
  const webhooks = new VendorWebhooks(api as WireWebhooks);
  await using server = await startProviderServer(
    (request) => webhooks.answer(request) ?? { status: 404 },
  );
  const kinds = [...KINDS];
  const wanted = { objectName, kinds, otherEvents: [], url: URL_OF_APP, secret: SECRET, account };
  const made = await calls?.setUp(plainSession(server.url), wanted);
  const [webhook] = webhooks.kept.values();
  if (!webhook) throw new Error('Nothing was made');
  expect(made).toEqual({ providerRef: webhook.id, expireTime: null });
  // With a secret of its own, no account can sign for another.
  expect(webhook.secret).not.toBe(SECRET);
  return webhook;
}

const named = telling.map(({ name, subscribe }) => [name, subscribe] as const);

test.each(named)('%s: what it signs is taken and told', async (name, subscribe) => {
  const { wire, account, request, secret } = await vendorOf(name, subscribe);
  const { isSigned, eventsOf } = subscribe.requests ?? {};
  const ids: string[] = [];
  for (const [n, kind] of KINDS.entries()) {
    if (wire.lacks?.includes(kind)) continue;
    expect(subscribe.kinds).toContain(kind);
    const sent = request(wire.send({ kind, n, at: NOW, secret }));
    expect(isSigned?.(sent, ['another', SECRET], NOW)).toBe(true);
    const events = eventsOf?.(sent) ?? [];
    expect(events).toMatchObject([
      { account, objectName: wire.objectName, recordId: wire.recordId, kind, association: null },
    ]);
    expect(events[0]?.time.getTime()).toBeCloseTo(NOW.getTime(), -1);
    expect(events[0]?.changedFields).toEqual(kind === 'UPDATE' ? (wire.changedFields ?? []) : []);
    const isWhole = wire.recordText !== undefined && kind !== 'DELETE';
    expect(events[0]?.record?.id ?? null).toBe(isWhole ? wire.recordId : null);
    // Sent again it is the same event.
    expect(eventsOf?.(sent)[0]?.nativeId).toBe(events[0]?.nativeId);
    ids.push(events[0]?.nativeId ?? '');
  }
  expect(new Set(ids).size).toBe(ids.length);
});

test.each(named)('%s: what is not its own is refused', async (name, subscribe) => {
  const { wire, request, secret } = await vendorOf(name, subscribe);
  const isSigned = subscribe.requests?.isSigned;
  const sending = wire.send({ kind: 'UPDATE', n: 1, at: NOW, secret });
  const sent = request(sending);
  expect(isSigned?.(sent, [SECRET], NOW)).toBe(true);
  expect(isSigned?.(sent, ['another'], NOW)).toBe(false);
  expect(isSigned?.({ ...sent, headers: {} }, [SECRET], NOW)).toBe(false);
  const isBodySigned = !('authorization' in sending.headers);
  const changed = request({ ...sending, body: `${sending.body} ` });
  expect(isSigned?.(changed, [SECRET], NOW)).toBe(!isBodySigned);
  const later = new Date(NOW.getTime() + 3_600_000);
  expect(isSigned?.(sent, [SECRET], later)).toBe(!wire.isDated);
});

test.each(
  named.filter(([name]) => !WIRE_EVENTS[name]?.connection),
)('%s: who signs for one account signs for no other', async (name, subscribe) => {
  const { wire, request, secret } = await vendorOf(name, subscribe);
  const sent = request(wire.send({ kind: 'UPDATE', n: 1, at: NOW, secret }));
  const url = sent.url.replace('con_1', 'con_2');
  expect(url).not.toBe(sent.url);
  expect(subscribe.requests?.isSigned({ ...sent, url }, [SECRET], NOW)).toBe(false);
  expect(subscribe.requests?.isSigned({ ...sent, url: URL_OF_APP }, [SECRET], NOW)).toBe(false);
});

test.each(
  named,
)('%s: a body of another form is told, another type is left out', async (name, subscribe) => {
  const { wire, request, secret } = await vendorOf(name, subscribe);
  const { eventsOf } = subscribe.requests ?? {};
  const { headers, body } = wire.send({ kind: 'UPDATE', n: 1, at: NOW, secret });
  for (const text of ['', '[]', '7', 'null', '{', body.slice(0, -3)]) {
    expect(() => eventsOf?.(request({ headers, body: text })), text).toThrow(/is not what/);
  }
  const elsewhere = { 'x-github-event': 'star', 'x-shopify-topic': 'carts/update' };
  const other = body.replaceAll(
    /customer\.updated|contact\.user\.updated|"UPDATE"|meeting\.updated|"Issue"|prospect\.updated|"deal"/g,
    (found) => (found.startsWith('"') ? '"new"' : 'new.kind'),
  );
  const isByHeader = 'x-github-event' in headers || 'x-shopify-topic' in headers;
  const sent = isByHeader
    ? request({ headers: { ...headers, ...elsewhere }, body })
    : request({ headers, body: other });
  expect(eventsOf?.(sent)).toEqual([]);
});

const withCalls = telling.filter(({ subscribe }) => subscribe.calls);

test.each(
  withCalls.map(({ name, subscribe }) => [name, subscribe] as const),
)('%s: a subscription is taken down once, and one that is gone is no error', async (name, {
  calls,
}) => {
  let status = 204;
  await using server = await startProviderServer(() => ({ status }));
  const session = plainSession(server.url);
  await calls?.takeDown(session, '9');
  expect(server.requests).toMatchObject([
    { method: 'DELETE', path: expect.stringMatching(/\/9$/) },
  ]);
  status = 404;
  await calls?.takeDown(session, '9');
  status = 403;
  expect(await failureOf(calls?.takeDown(session, '9') as Promise<void>)).toMatchObject({
    kind: 'FORBIDDEN',
  });
  expect(name).not.toBe('');
});

test('Zoom asks whether the address is ours, and is answered by its own secret', () => {
  const zoom = telling.find(({ name }) => name === 'zoom');
  const body = JSON.stringify({
    event: 'endpoint.url_validation',
    payload: { plainToken: 'qgg8vlvZRS6UYooatFL8Aw' },
    event_ts: NOW.getTime(),
  });
  const request = { method: 'POST', url: URL_OF_APP, headers: {}, body: Buffer.from(body) };
  expect(zoom?.subscribe.requests?.eventsOf(request)).toEqual([]);
  expect(zoom?.subscribe.requests?.answer?.(request, SECRET)).toEqual({
    status: 200,
    body: {
      plainToken: 'qgg8vlvZRS6UYooatFL8Aw',
      encryptedToken: hmac('sha256', SECRET, 'qgg8vlvZRS6UYooatFL8Aw'),
    },
  });
});

test('whose account it is, is asked where the token does not tell it', async () => {
  const answers: Record<string, unknown> = {
    linear: { data: { viewer: { id: 'u1' }, organization: { id: 'w1' } } },
    intercom: { type: 'admin', id: 'u1', app: { id_code: 'w1' } },
    zoom: { id: 'u1', account_id: 'w1' },
  };
  for (const [name, body] of Object.entries(answers)) {
    const provider = DECLARED.find((one) => one.name === name);
    await using server = await startProviderServer(() => ({ status: 200, body }));
    const identity = await provider?.capabilities.identify?.(plainSession(server.url), 'token');
    expect(identity, name).toEqual({ workspaceRef: 'w1', consumerRef: 'u1' });
  }
});
