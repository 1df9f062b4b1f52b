/** The provider contract for receiving events. */
import { expect, type TestContext, test } from 'vitest';
import { type EventRequests, MalformedEventsError } from '../../src/providers/subscribing.ts';
import {
  type ContractSubject,
  type CreateSubject,
  requireCapability,
  storeTexts,
} from './contract-subject.ts';

export function testSubscribing(createSubject: CreateSubject): void {
  test('reads records by their ids, and omits missing ones', async (context) => {
    await using subject = await createSubject();
    const readRecords = requireCapability(subject, 'readRecords', context);
    const ids = await storeTexts(subject, 3);
    const { objectName, textField, missingId } = subject;
    const read = { objectName, fields: [textField], ids: [...ids, missingId] };
    const records = await readRecords(subject.session, read);
    expect(records.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    for (const { fields, raw } of records) {
      expect(Object.keys(fields)).toEqual([textField]);
      expect(raw).not.toEqual({});
    }
  });

  test('can read the records of its events', async (context) => {
    await using subject = await createSubject();
    requireCapability(subject, 'subscribe', context);
    expect(subject.provider.capabilities.readRecords).toBeDefined();
  });

  test('rejects unsigned requests of any form', async (context) => {
    await using subject = await createSubject();
    const { isSigned } = getRequests(subject, context);
    for (const body of ['', '{}', '[]', '{"events":[]}', '\0', 'x'.repeat(10_000)]) {
      for (const headers of [{}, { 'content-type': 'application/json' }, ...MALFORMED_SIGNATURES]) {
        const request = {
          method: 'POST',
          url: 'https://x.test/',
          headers,
          body: Buffer.from(body),
        };
        expect(isSigned(request, ['the secret'], new Date())).toBe(false);
      }
    }
  });

  test('throws MalformedEvents for an unexpected body', async (context) => {
    await using subject = await createSubject();
    const { parseEvents } = getRequests(subject, context);
    for (const text of [
      '',
      'null',
      '7',
      '"text"',
      '{',
      '{"events":7}',
      '[7]',
      '{"events":[{}]}',
      '[{}]',
    ]) {
      const request = {
        method: 'POST',
        url: 'https://x.test/',
        headers: {},
        body: Buffer.from(text),
      };
      expect(() => parseEvents(request, { now: new Date(), subscription: null }), text).toThrow(
        MalformedEventsError,
      );
    }
  });
}

/** Skips the test if the provider's events arrive by a stream. */
function getRequests(subject: ContractSubject, context: TestContext): EventRequests {
  const { requests } = requireCapability(subject, 'subscribe', context);
  if (!requests) context.skip();
  return requests as EventRequests;
}

const MALFORMED_SIGNATURES = [
  '',
  'x',
  't=1,v1=',
  `t=${Date.now()},v1=${'0'.repeat(64)}`,
  'AAAA',
].map((signature) => ({
  'x-sandbox-signature': signature,
  'x-hubspot-signature-v3': signature,
  'x-hubspot-request-timestamp': String(Date.now()),
}));
