/**
 * Tests lists of changes and the pings that announce them, with an Airtable base that shares no code with the
 * declaration.
 */
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { DECLARED } from '../../../src/providers/declared/all.ts';
import type { EventList } from '../../../src/providers/subscribing.ts';
import { startProviderServer } from '../../support/providers/provider-server.ts';
import { createPlainSession } from '../../support/providers/provider-session.ts';
import {
  AirtableBase,
  type AirtableWebhook,
  signPing,
} from '../../support/wire/events/airtable-base.ts';
import { catchFailure } from '../contract-subject.ts';

const PING_URL = 'https://gateway.example/webhooks/airtable/app_1?subscription=con_1';
const NOW = new Date('2026-01-01T12:00:00Z');
const DAY_MS = 86_400_000;

const declaredLists = DECLARED.flatMap(({ name, capabilities }) => {
  const { subscribe } = capabilities;
  return subscribe?.list ? [{ name, subscribe, list: subscribe.list }] : [];
});

test('covers every declared list of events', () => {
  expect(declaredLists.map(({ name }) => name)).toEqual(['airtable']);
  expect(declaredLists[0]?.subscribe.kinds).toEqual(['CREATE', 'UPDATE', 'DELETE']);
});

const list = declaredLists[0]?.list as EventList;
const createSession = (url: string) =>
  createPlainSession(url, {}, { metadata: { base: 'appBase' } });
let base: AirtableBase;
let session: ReturnType<typeof createPlainSession>;
let requests: Awaited<ReturnType<typeof startProviderServer>>['requests'];

beforeEach(async () => {
  base = new AirtableBase();
  const server = await startProviderServer((request) => base.serve(request) ?? { status: 404 });
  onTestFinished(() => server[Symbol.asyncDispose]());
  requests = server.requests;
  session = createSession(server.url);
});

async function createWebhook(): Promise<AirtableWebhook> {
  const { providerRef, secret } = await list.createWebhook(session, PING_URL);
  const webhook = base.webhooks.get(providerRef);
  expect(webhook).toMatchObject({ url: PING_URL, macSecretBase64: secret });
  return webhook as AirtableWebhook;
}

const readList = (webhook: AirtableWebhook, position: string | null = null) =>
  list.read(session, { account: 'con_1', providerRef: webhook.id, position });

test('accepts a ping only if it is signed with the decoded secret', async () => {
  const webhook = await createWebhook();
  const { body, headers } = signPing(webhook, NOW);
  const request = { method: 'POST', url: PING_URL, headers, body: Buffer.from(body) };
  const { macSecretBase64: secret } = webhook;
  expect(list.isPing(request, secret, NOW)).toBe(true);
  expect(list.isPing(request, Buffer.alloc(32, 1).toString('base64'), NOW)).toBe(false);
  expect(list.isPing({ ...request, headers: {} }, secret, NOW)).toBe(false);
  expect(list.isPing({ ...request, body: Buffer.from(`${body} `) }, secret, NOW)).toBe(false);
  const mac = headers['x-airtable-content-mac'].replace('hmac-sha256=', '');
  for (const value of ['', mac, `hmac-sha1=${mac}`, `hmac-sha256=${mac.slice(2)}`]) {
    const otherRequest = { ...request, headers: { 'x-airtable-content-mac': value } };
    expect(list.isPing(otherRequest, secret, NOW), value).toBe(false);
  }
});

test('rejects pings for a secret that decodes to no key', () => {
  for (const macSecretBase64 of ['', '=', 'no base64', 'A', '====']) {
    const { body, headers } = signPing({ id: 'ach1', macSecretBase64 }, NOW);
    const request = { method: 'POST', url: PING_URL, headers, body: Buffer.from(body) };
    expect(list.isPing(request, macSecretBase64, NOW), macSecretBase64).toBe(false);
  }
});

test('returns an event for each change of a record, with a stable id', async () => {
  const webhook = await createWebhook();
  base.change({ tblTasks: { created: ['rec1', 'rec2'] }, tblOther: { changed: ['rec9'] } }, NOW);
  base.change({ tblTasks: { changed: ['rec1'], destroyed: ['rec2'] } }, NOW);
  const page = await readList(webhook);
  expect(page).toMatchObject({
    position: '3',
    hasMore: false,
    lastTime: NOW,
    incompleteUntil: null,
  });
  const changes = page.events.map(({ objectName, recordId, kind }) => [objectName, recordId, kind]);
  expect(changes).toEqual([
    ['tblTasks', 'rec1', 'CREATE'],
    ['tblTasks', 'rec2', 'CREATE'],
    ['tblOther', 'rec9', 'UPDATE'],
    ['tblTasks', 'rec1', 'UPDATE'],
    ['tblTasks', 'rec2', 'DELETE'],
  ]);
  expect(page.events[4]).toMatchObject({
    account: 'con_1',
    time: NOW,
    record: null,
    nativeType: 'destroyedRecordIds',
    raw: {
      baseTransactionNumber: 2,
      actionMetadata: { source: 'client' },
      changedTablesById: { tblTasks: { destroyedRecordIds: ['rec2'] } },
    },
  });
  const ids = page.events.map(({ nativeId }) => nativeId);
  expect(new Set(ids).size).toBe(5);
  const repeated = await readList(webhook, '2');
  expect(repeated.events.map(({ nativeId }) => nativeId)).toEqual(ids.slice(3));
  // Another webhook numbers its entries from one, so the ids of its events contain the webhook.
  await list.deleteWebhook(session, webhook.id);
  const otherWebhook = await createWebhook();
  base.change({ tblTasks: { created: ['rec1'] } }, NOW);
  expect(ids).not.toContain((await readList(otherWebhook)).events[0]?.nativeId);
});

test('reads a long list in pages, each from the end of the previous one', async () => {
  const webhook = await createWebhook();
  for (let n = 0; n < 120; n += 1) base.change({ tblTasks: { changed: [`rec${n}`] } }, NOW);
  const recordIds: unknown[] = [];
  let position: string | null = null;
  for (let hasMore = true; hasMore; ) {
    const page = await readList(webhook, position);
    recordIds.push(...page.events.map(({ recordId }) => recordId));
    ({ position, hasMore } = page);
  }
  expect(recordIds).toEqual(Array.from({ length: 120 }, (_none, n) => `rec${n}`));
  const reads = requests.filter(
    ({ method, path }) => method === 'GET' && path.endsWith('payloads'),
  );
  expect(reads.map(({ query }) => query.get('cursor'))).toEqual([null, '51', '101']);
  // The position stays the same without new events.
  expect(await readList(webhook, position)).toMatchObject({
    events: [],
    position: '121',
    hasMore: false,
    lastTime: null,
    incompleteUntil: null,
  });
});

test('reports a gap for changes that the vendor dropped or cannot list', async () => {
  const webhook = await createWebhook();
  const secondsLater = (n: number) => new Date(NOW.getTime() + n * 1_000);
  for (let n = 1; n <= 4; n += 1)
    base.change({ tblTasks: { changed: [`rec${n}`] } }, secondsLater(n));
  webhook.payloads.delete(1);
  webhook.payloads.delete(2);
  expect(await readList(webhook, '2')).toMatchObject({
    position: '5',
    incompleteUntil: secondsLater(3),
  });
  // A read from the start misses the first change, too.
  expect(await readList(webhook)).toMatchObject({ incompleteUntil: secondsLater(3) });
  expect(await readList(webhook, '3')).toMatchObject({ incompleteUntil: null });
  base.recordError(secondsLater(5));
  base.change({ tblTasks: { changed: ['rec6'] } }, secondsLater(6));
  const page = await readList(webhook, '5');
  expect(page).toMatchObject({ incompleteUntil: secondsLater(5), lastTime: secondsLater(6) });
  expect(page.events).toMatchObject([{ recordId: 'rec6' }]);
});

test('deletes a webhook whose creation had no response before it creates another', async () => {
  const otherWebhook = { url: 'https://elsewhere.example/' };
  base.serve({
    method: 'POST',
    path: '/v0/bases/appBase/webhooks',
    query: new URLSearchParams(),
    headers: {},
    body: {
      notificationUrl: otherWebhook.url,
      specification: { options: { filters: { dataTypes: ['tableData'] } } },
    },
  });
  const lostWebhook = await createWebhook();
  const webhook = await createWebhook();
  expect([...base.webhooks.values()]).toMatchObject([otherWebhook, { id: webhook.id }]);
  expect(base.webhooks.has(lostWebhook.id)).toBe(false);
  await list.deleteWebhook(session, webhook.id);
  await list.deleteWebhook(session, webhook.id);
  expect([...base.webhooks.values()]).toMatchObject([otherWebhook]);
});

test('renews and re-enables a webhook, and reports a missing or disabled one', async () => {
  const webhook = await createWebhook();
  webhook.areNotificationsEnabled = false;
  webhook.expirationTime = new Date(Date.now() + DAY_MS);
  expect(await list.renewWebhook(session, webhook.id)).toBe(true);
  expect(webhook.areNotificationsEnabled).toBe(true);
  expect(webhook.expirationTime.getTime()).toBeGreaterThan(Date.now() + 6 * DAY_MS);
  webhook.isHookEnabled = false;
  expect(await list.renewWebhook(session, webhook.id)).toBe(false);
  base.webhooks.clear();
  expect(await list.renewWebhook(session, webhook.id)).toBe(false);
});

test.each([
  ['HTML', '<html>'],
  ['an empty object', {}],
  ['no position', { payloads: [] }],
  ['a position that is not a number', { payloads: [], cursor: 'x' }],
  ['an object in place of the list', { payloads: {}, cursor: 1 }],
  ['an entry without a time', { payloads: [{}], cursor: 2 }],
  ['an entry that is not an object', { payloads: [7], cursor: 2 }],
])('throws a temporary failure for a response with %s', async (_name, body) => {
  await using server = await startProviderServer(() => ({ status: 200, body }));
  const position = { account: 'con_1', providerRef: 'ach1', position: '1' };
  const reading = list.read(createSession(server.url), position);
  expect(await catchFailure(reading)).toMatchObject({ kind: 'DISCONNECTED' });
});

test('ends the read if the list reports more entries and does not advance', async () => {
  const body = { payloads: [], cursor: 7, mightHaveMore: true };
  await using server = await startProviderServer(() => ({ status: 200, body }));
  const position = { account: 'con_1', providerRef: 'ach1', position: '7' };
  const page = await list.read(createSession(server.url), position);
  expect(page).toMatchObject({ position: '7', hasMore: false });
});
