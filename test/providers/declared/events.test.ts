/** Tests that webhooks of vendors are accepted only with a valid signature, and parsed as the vendor documents them. */
import { expect, test } from 'vitest';
import { DECLARED } from '../../../src/providers/declared/all.ts';
import type {
  SubscribeCapability,
  WebhookContext,
  WebhookRequest,
} from '../../../src/providers/subscribing.ts';
import { startProviderServer } from '../../support/providers/provider-server.ts';
import { createPlainSession } from '../../support/providers/provider-session.ts';
import { WIRE_EVENTS } from '../../support/wire/events/all.ts';
import { FOREIGN_EVENTS } from '../../support/wire/events/foreign-events.ts';
import { VendorWebhooks, type WireWebhooks } from '../../support/wire/events/vendor-webhooks.ts';
import {
  hmac,
  type SignedRequest,
  type WireEvents,
} from '../../support/wire/events/wire-events.ts';
import { catchFailure } from '../contract-subject.ts';

const APP_SECRET = 'the secret of the app';
/** A secret in the format of the secrets that vendors create. */
const OTHER_SECRET = 'f0'.repeat(32);
const APP_URL = 'https://gateway.example/webhooks/vendor/app_1';
const NOW = new Date('2026-01-01T12:00:00Z');
const KINDS = ['CREATE', 'UPDATE', 'DELETE'] as const;

const senders = DECLARED.flatMap((provider) => {
  const { subscribe } = provider.capabilities;
  return subscribe?.requests ? [{ name: provider.name, provider, subscribe }] : [];
});

test('has a wire format for every declaration of events', () => {
  expect(senders.map(({ name }) => name).toSorted()).toEqual(Object.keys(WIRE_EVENTS).toSorted());
});

interface Vendor {
  wire: WireEvents;
  subscribe: SubscribeCapability;
  account: string;
  /** The request as the vendor sends it to its webhook URL. */
  request(signedRequest: SignedRequest): WebhookRequest;
  /** The secret that signs the request. */
  secret: string;
  /** The secret that the gateway knows. */
  knownSecret: string;
  context: WebhookContext;
}

async function startVendor(name: string, subscribe: SubscribeCapability): Promise<Vendor> {
  const wire = WIRE_EVENTS[name] as WireEvents;
  const { providerWorkspaceRef = null, metadata = {} } = wire.connection ?? {};
  const account =
    subscribe.findAccount(
      { id: 'con_1', providerWorkspaceRef },
      (name) => metadata[name] ?? null,
    ) ?? '';
  expect(account).not.toBe('');
  const { url, secret } = wire.webhooks
    ? await createSubscription(subscribe, { wire, api: wire.webhooks, account })
    : { url: APP_URL, secret: APP_SECRET };
  const hasOwnSecrets = subscribe.requests?.hasOwnSecrets;
  const subscription = hasOwnSecrets ? { account, objectName: wire.objectName } : null;
  return {
    wire,
    subscribe,
    account,
    secret,
    knownSecret: hasOwnSecrets ? secret : APP_SECRET,
    context: { now: NOW, subscription },
    request: ({ headers, body }) => ({ method: 'POST', url, headers, body: Buffer.from(body) }),
  };
}

/** Subscribes at the vendor. Returns the URL and the secret that the vendor stores. */
async function createSubscription(
  { calls, requests }: SubscribeCapability,
  { wire, api, account }: { wire: WireEvents; api: WireWebhooks; account: string },
) {
  const webhooks = new VendorWebhooks(api);
  await using vendor = await startProviderServer(
    async (request) => (await webhooks.serve(request)) ?? wire.serve?.(request) ?? { status: 404 },
  );
  await using gateway = await startProviderServer(({ method, headers }) => {
    const greeting = { method, url: APP_URL, headers, body: Buffer.from('{}') };
    return requests?.respondToHandshake?.(greeting) ?? { status: 401 };
  });
  const { objectName } = wire;
  const url = `${gateway.url}/webhooks/vendor/app_1`;
  const options = {
    objectName,
    kinds: [...KINDS],
    otherEvents: [],
    url,
    secret: APP_SECRET,
    account,
  };
  const creation = await calls?.create(createPlainSession(vendor.url), options);
  const storedWebhooks = [...webhooks.webhooks.values()];
  const secrets = storedWebhooks.map(({ secret }) => secret);
  expect(creation).toEqual({
    providerRef: storedWebhooks.map(({ id }) => id).join(' '),
    expireTime: null,
    ...(requests?.hasOwnSecrets && { secrets }),
  });
  const [webhook] = storedWebhooks;
  // If webhooks shared a secret, one account could sign events of another.
  expect(webhook?.secret).not.toBe(APP_SECRET);
  return webhook ?? { url: '', secret: '' };
}

test.each(senders)('$name: accepts its signed events and parses them', async ({
  name,
  subscribe,
}) => {
  const { wire, account, request, secret, knownSecret, context } = await startVendor(
    name,
    subscribe,
  );
  const { isSigned, parseEvents } = subscribe.requests ?? {};
  const ids: string[] = [];
  for (const [sequence, kind] of KINDS.entries()) {
    if (wire.missingKinds?.includes(kind)) continue;
    expect(subscribe.kinds).toContain(kind);
    const sentRequest = request(wire.send({ kind, sequence, sentAt: NOW, secret }));
    expect(isSigned?.(sentRequest, [OTHER_SECRET, knownSecret], NOW)).toBe(true);
    const events = parseEvents?.(sentRequest, context) ?? [];
    expect(events).toMatchObject([
      { account, objectName: wire.objectName, recordId: wire.recordId, kind, association: null },
    ]);
    expect(events[0]?.time.getTime()).toBeCloseTo(NOW.getTime(), -1);
    expect(events[0]?.changedFields).toEqual(kind === 'UPDATE' ? (wire.changedFields ?? []) : []);
    const hasRecord = wire.recordText !== undefined && kind !== 'DELETE';
    expect(events[0]?.record?.id ?? null).toBe(hasRecord ? wire.recordId : null);
    // A repeated request has the same event id.
    expect(parseEvents?.(sentRequest, context)[0]?.nativeId).toBe(events[0]?.nativeId);
    ids.push(events[0]?.nativeId ?? '');
  }
  expect(new Set(ids).size).toBe(ids.length);
});

test.each(senders)('$name: rejects events with another signature', async ({ name, subscribe }) => {
  const { wire, request, secret, knownSecret } = await startVendor(name, subscribe);
  const isSigned = subscribe.requests?.isSigned;
  const signedRequest = wire.send({ kind: 'UPDATE', sequence: 1, sentAt: NOW, secret });
  const sentRequest = request(signedRequest);
  expect(isSigned?.(sentRequest, [knownSecret], NOW)).toBe(true);
  expect(isSigned?.(sentRequest, [OTHER_SECRET], NOW)).toBe(false);
  expect(isSigned?.({ ...sentRequest, headers: {} }, [knownSecret], NOW)).toBe(false);
  const isBodySigned = !('authorization' in signedRequest.headers);
  const changedRequest = request({ ...signedRequest, body: `${signedRequest.body} ` });
  expect(isSigned?.(changedRequest, [knownSecret], NOW)).toBe(!isBodySigned);
  const inAnHour = new Date(NOW.getTime() + 3_600_000);
  expect(isSigned?.(sentRequest, [knownSecret], inAnHour)).toBe(!wire.hasSignedTime);
});

test.each(
  senders.filter(
    ({ name, subscribe }) => !WIRE_EVENTS[name]?.connection && !subscribe.requests?.hasOwnSecrets,
  ),
)('$name: rejects a signature that was made for another account', async ({ name, subscribe }) => {
  const { wire, request, secret } = await startVendor(name, subscribe);
  const sentRequest = request(wire.send({ kind: 'UPDATE', sequence: 1, sentAt: NOW, secret }));
  const url = sentRequest.url.replace('con_1', 'con_2');
  expect(url).not.toBe(sentRequest.url);
  expect(subscribe.requests?.isSigned({ ...sentRequest, url }, [APP_SECRET], NOW)).toBe(false);
  expect(subscribe.requests?.isSigned({ ...sentRequest, url: APP_URL }, [APP_SECRET], NOW)).toBe(
    false,
  );
});

test.each(senders)('$name: ignores events that no integration can subscribe to', async ({
  name,
  subscribe,
}) => {
  const { request, context } = await startVendor(name, subscribe);
  for (const { headers = {}, body } of FOREIGN_EVENTS[name]?.(NOW) ?? []) {
    const text = JSON.stringify(body);
    const events = subscribe.requests?.parseEvents(request({ headers, body: text }), context);
    expect(events, text).toEqual([]);
  }
});

test.each([
  ['github', { 'x-github-event': 'issues' }, { issue: { number: 7 } }],
  ['github', {}, { action: 'opened', issue: { number: 7 } }],
  ['xero', {}, { events: [{ eventCategory: 'CONTACT', resourceId: '1' }] }],
  ['linear', {}, { action: 'create', data: { id: '1' } }],
  ['zoom', {}, { payload: { account_id: 'acc_1' } }],
])('%s: throws if an event could be of a declared type', (name, headers, body) => {
  const requests = senders.find((vendor) => vendor.name === name)?.subscribe.requests;
  const text = Buffer.from(JSON.stringify(body));
  const request = { method: 'POST', url: APP_URL, headers: { ...headers }, body: text };
  expect(() => requests?.parseEvents(request, { now: NOW, subscription: null })).toThrow(
    /An event does not have the documented format/,
  );
});

test.each(senders)('$name: throws for a malformed body, and ignores other event types', async ({
  name,
  subscribe,
}) => {
  const { wire, request, secret, context } = await startVendor(name, subscribe);
  const { parseEvents } = subscribe.requests ?? {};
  const { headers, body } = wire.send({ kind: 'UPDATE', sequence: 1, sentAt: NOW, secret });
  for (const text of ['', '[]', '7', 'null', '{', body.slice(0, -3)]) {
    expect(() => parseEvents?.(request({ headers, body: text }), context), text).toThrow(
      /does not have the documented format/,
    );
  }
  const otherHeaders = { 'x-github-event': 'star', 'x-shopify-topic': 'carts/update' };
  const otherBody = body.replaceAll(
    /customer\.updated|contact\.user\.updated|"UPDATE"|meeting\.updated|"Issue"|prospect\.updated|"deal"|"lead"|"project"|record\.updated|zen:event-type:ticket\.subject_changed/g,
    (match) => (match.startsWith('"') ? '"new"' : 'new.kind'),
  );
  const isByHeader = 'x-github-event' in headers || 'x-shopify-topic' in headers;
  const sentRequest = isByHeader
    ? request({ headers: { ...headers, ...otherHeaders }, body })
    : request({ headers, body: otherBody });
  expect(parseEvents?.(sentRequest, context)).toEqual([]);
});

const sendersWithCalls = senders.filter(({ subscribe }) => subscribe.calls);

test.each(
  sendersWithCalls,
)('$name: deletes a subscription, and ignores one that is missing at the vendor', async ({
  subscribe: { calls },
}) => {
  let status = 204;
  await using server = await startProviderServer(() => ({ status }));
  const session = createPlainSession(server.url);
  await calls?.delete(session, '9');
  expect(server.requests).toMatchObject([
    { method: 'DELETE', path: expect.stringMatching(/\/9\/?$/) },
  ]);
  status = 404;
  await calls?.delete(session, '9');
  status = 403;
  expect(await catchFailure(calls?.delete(session, '9') as Promise<void>)).toMatchObject({
    kind: 'FORBIDDEN',
  });
});

test.each(
  sendersWithCalls.filter(({ subscribe }) => subscribe.requests?.hasOwnSecrets),
)('$name: reports a subscription that is missing at the vendor', async ({
  subscribe: { calls },
}) => {
  let status = 200;
  await using server = await startProviderServer(() => ({ status, body: {} }));
  const session = createPlainSession(server.url);
  expect(await calls?.renew(session, '9')).toEqual({ providerRef: '9', expireTime: null });
  expect(server.requests).toMatchObject([
    { method: 'GET', path: expect.stringMatching(/\/9\/?$/) },
  ]);
  status = 404;
  expect(await calls?.renew(session, '9')).toBeNull();
  status = 503;
  expect(await catchFailure(calls?.renew(session, '9') as Promise<unknown>)).toMatchObject({
    isTemporary: true,
  });
});

test('declares the kinds of events that a vendor sends for an object', () => {
  const listKinds = (name: string, objectName: string) =>
    senders.find((vendor) => vendor.name === name)?.subscribe.listKinds?.(objectName);
  expect(listKinds('stripe', 'customers')).toEqual(['CREATE', 'UPDATE', 'DELETE']);
  expect(listKinds('stripe', 'charges')).toEqual([]);
  expect(listKinds('xero', 'Contacts')).toEqual(['CREATE', 'UPDATE']);
  // Custom objects have records like any other.
  expect(listKinds('attio', 'ships')).toEqual(['CREATE', 'UPDATE', 'DELETE']);
  expect(listKinds('attio', 'tasks')).toEqual([]);
});

test('attio: subscribes to notes without a filter, and identifies them by their ids', async () => {
  const { calls, requests } = senders.find(({ name }) => name === 'attio')?.subscribe ?? {};
  const webhooks = new VendorWebhooks(WIRE_EVENTS.attio?.webhooks as WireWebhooks);
  // The server responds only to requests for webhooks, because notes need no object id.
  await using server = await startProviderServer(
    async (request) => (await webhooks.serve(request)) ?? { status: 404 },
  );
  const options = { objectName: 'notes', kinds: [...KINDS], otherEvents: [], account: 'con_1' };
  await calls?.create(createPlainSession(server.url), { ...options, url: APP_URL, secret: '' });
  const types = ['note.created', 'note.updated', 'note-content.updated', 'note.deleted'];
  expect(server.requests.map(({ body }) => body)).toEqual([
    {
      data: {
        target_url: APP_URL,
        subscriptions: types.map((event_type) => ({ event_type, filter: null })),
      },
    },
  ]);
  const note = 'ff3f3bd4-40f4-4f80-8187-cd02385af424';
  const sentEvents = types.map((event_type) => ({
    event_type,
    id: { workspace_id: '14beef7a', note_id: note },
    parent_object_id: '97052eb9-e65e-443f-a297-f2d9a4a7f795',
    parent_record_id: 'bf071e1f-6035-429d-b874-d83ea64ea13b',
    actor: { type: 'workspace-member', id: '50cf242c' },
  }));
  const body = Buffer.from(JSON.stringify({ webhook_id: '23e42eaf', events: sentEvents }));
  const headers = { 'idempotency-key': 'key-1' };
  const request = { method: 'POST', url: APP_URL, headers, body };
  const subscription = { account: 'con_1', objectName: 'notes' };
  const events = requests?.parseEvents(request, { now: NOW, subscription }) ?? [];
  expect(events.map(({ kind, recordId }) => [kind, recordId])).toEqual(
    (['CREATE', 'UPDATE', 'UPDATE', 'DELETE'] as const).map((kind) => [kind, note]),
  );
  expect(new Set(events.map(({ nativeId }) => nativeId)).size).toBe(4);
});

test('asana: refuses a subscription per parent if the account has no parent', async () => {
  const { calls } = senders.find(({ name }) => name === 'asana')?.subscribe ?? {};
  await using server = await startProviderServer(() => ({ status: 200, body: { data: [] } }));
  const options = { objectName: 'projects', kinds: [...KINDS], otherEvents: [], account: 'con_1' };
  const creation = calls?.create(createPlainSession(server.url), {
    ...options,
    url: APP_URL,
    secret: '',
  });
  expect(await catchFailure(creation as Promise<unknown>)).toMatchObject({
    kind: 'BAD_REQUEST',
    message: expect.stringContaining('no access to a parent of projects'),
  });
  expect(server.requests.every(({ method }) => method === 'GET')).toBe(true);
});

test('zendeskSupport: rejects a signed timestamp in another format', () => {
  const zendesk = senders.find(({ name }) => name === 'zendeskSupport')?.subscribe.requests;
  const [name, body] = ['x-zendesk-webhook-signature', '{}'];
  const isSigned = (timestamp: string) => {
    const signature = hmac('sha256', OTHER_SECRET, timestamp + body, 'base64');
    const headers = { [name]: signature, [`${name}-timestamp`]: timestamp };
    const request = { method: 'POST', url: APP_URL, headers, body: Buffer.from(body) };
    return zendesk?.isSigned(request, [OTHER_SECRET], NOW);
  };
  expect(isSigned('2026-01-01T12:00:00Z')).toBe(true);
  expect(isSigned('2026-01-01T13:00:00.5+01:00')).toBe(true);
  for (const text of [
    '2026-01-01T12:00:00Z ({body})',
    '1767268800',
    'January 1, 2026 12:00 UTC',
    '',
  ]) {
    expect(isSigned(text), text).toBe(false);
  }
});

test('close: rejects signatures for a secret that decodes to no key', async () => {
  const close = senders.find(({ name }) => name === 'close')?.subscribe.requests;
  const wire = WIRE_EVENTS.close as WireEvents;
  const { headers, body } = wire.send({ kind: 'UPDATE', sequence: 1, sentAt: NOW, secret: '' });
  const request = { method: 'POST', url: APP_URL, headers, body: Buffer.from(body) };
  for (const secret of ['', 'no hex', 'f']) {
    expect(close?.isSigned(request, [secret], NOW)).toBe(false);
  }
});

test('zoom: responds to the validation of its URL with the secret that signed the request', () => {
  const requests = senders.find(({ name }) => name === 'zoom')?.subscribe.requests;
  const body = JSON.stringify({
    event: 'endpoint.url_validation',
    payload: { plainToken: 'qgg8vlvZRS6UYooatFL8Aw' },
    event_ts: NOW.getTime(),
  });
  const headers = WIRE_EVENTS.zoom?.sign(body, { secret: APP_SECRET, sentAt: NOW }) ?? {};
  const request = { method: 'POST', url: APP_URL, headers, body: Buffer.from(body) };
  expect(requests?.parseEvents(request, { now: NOW, subscription: null })).toEqual([]);
  // While the secret is rotated, Zoom still has the previous one.
  for (const secrets of [[APP_SECRET], [OTHER_SECRET, APP_SECRET]]) {
    expect(requests?.respond?.(request, secrets, NOW)).toEqual({
      status: 200,
      body: {
        plainToken: 'qgg8vlvZRS6UYooatFL8Aw',
        encryptedToken: hmac('sha256', APP_SECRET, 'qgg8vlvZRS6UYooatFL8Aw'),
      },
    });
  }
});

test('requests the account if the token does not name it', async () => {
  const responses: Record<string, unknown> = {
    linear: { data: { viewer: { id: 'u1' }, organization: { id: 'w1' } } },
    intercom: { type: 'admin', id: 'u1', app: { id_code: 'w1' } },
    zoom: { id: 'u1', account_id: 'w1' },
  };
  for (const [name, body] of Object.entries(responses)) {
    const provider = DECLARED.find((declaration) => declaration.name === name);
    await using server = await startProviderServer(() => ({ status: 200, body }));
    const identity = await provider?.capabilities.identify?.(
      createPlainSession(server.url),
      'token',
    );
    expect(identity, name).toEqual({ workspaceRef: 'w1', consumerRef: 'u1' });
  }
});
