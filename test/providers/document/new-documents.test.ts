/**
 * Tests that documents describe vendors that the gateway has no code for: a keyed API with offsets, an OAuth API with
 * cursors and webhooks, and a GraphQL API.
 */
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { DeclaredProvider } from '../../../src/providers/declarative/declarative-provider.ts';
import { compileDocument } from '../../../src/providers/document/compile-document.ts';
import { readDocument } from '../../../src/providers/document/read-document.ts';
import { startProviderServer } from '../../support/providers/provider-server.ts';
import { createPlainSession } from '../../support/providers/provider-session.ts';
import { testProviderContract } from '../contract.ts';
import { prepareWireSubjects } from '../declared/wire-subject.ts';
import { brevo, jobber, webex } from './vendors/wires.ts';

const read = (name: string) =>
  readDocument(readFileSync(join(import.meta.dirname, 'vendors', `${name}.yaml`), 'utf8'));

for (const [name, wire] of Object.entries({ brevo, jobber, webex })) {
  const document = read(name);
  testProviderContract(document.name, prepareWireSubjects(document as DeclaredProvider, wire));
}

test('subscribes to events of a document, and accepts only signed ones', async () => {
  const { subscribe } = compileDocument(read('webex')).provider.capabilities;
  if (!subscribe?.calls || !subscribe.requests) throw new Error('x-webex sends no events');
  const bodies: Record<string, string>[] = [];
  await using server = await startProviderServer(({ body }) => {
    bodies.push(body as Record<string, string>);
    return { status: 200, body: { id: 'webhook-1' } };
  });
  await subscribe.calls.create(createPlainSession(server.url), {
    ...{ objectName: 'rooms', kinds: ['CREATE', 'UPDATE'], account: 'con_1', otherEvents: [] },
    ...{ url: 'https://gateway.example/hooks/1', secret: 'the secret of the app' },
  });
  const [webhook] = bodies;
  expect(webhook).toMatchObject({ resource: 'rooms', event: 'all' });
  const body = JSON.stringify({
    ...{ id: 'webhook-1', resource: 'rooms', event: 'created' },
    data: { id: 'room-1', lastActivity: '2026-01-01T12:00:00.000Z' },
  });
  const sign = (secret = '') => createHmac('sha1', secret).update(body).digest('hex');
  const receive = (signature: string) => ({
    ...{ method: 'POST', url: webhook?.targetUrl ?? '', body: Buffer.from(body) },
    headers: { 'x-spark-signature': signature },
  });
  const now = new Date('2026-01-01T12:00:01Z');
  const { isSigned, parseEvents } = subscribe.requests;
  const secrets = ['the secret of the app'];
  expect(isSigned(receive(sign(webhook?.secret)), secrets, now)).toBe(true);
  expect(isSigned(receive(sign('another secret')), secrets, now)).toBe(false);
  expect(parseEvents(receive(''), { now, subscription: null })).toMatchObject([
    { objectName: 'rooms', recordId: 'room-1', kind: 'CREATE', account: 'con_1' },
  ]);
});
