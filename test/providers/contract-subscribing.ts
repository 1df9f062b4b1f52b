/** The provider contract for receiving events. */
import { expect } from 'vitest';
import { type EventRequests, MalformedEventsError } from '../../src/providers/subscribing.ts';
import {
  type AddCheck,
  type ContractSubject,
  requireCapability,
  type Skip,
  storeTexts,
} from './contract-subject.ts';

export function checkSubscribing(check: AddCheck): void {
  check('reads records by their ids, and omits missing ones', async (subject, skip) => {
    const readRecords = requireCapability(subject, 'readRecords', skip);
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

  check('can read the records of its events', async (subject, skip) => {
    requireCapability(subject, 'subscribe', skip);
    expect(subject.provider.capabilities.readRecords).toBeDefined();
  });

  check(
    'rejects unsigned requests of any form',
    async (subject, skip) => {
      const { isSigned } = getRequests(subject, skip);
      for (const body of ['', '{}', '[]', '{"events":[]}', '\0', 'x'.repeat(10_000)]) {
        for (const headers of [
          {},
          { 'content-type': 'application/json' },
          ...MALFORMED_SIGNATURES,
        ]) {
          const request = {
            method: 'POST',
            url: 'https://x.test/',
            headers,
            body: Buffer.from(body),
          };
          expect(isSigned(request, ['the secret'], new Date())).toBe(false);
        }
      }
    },
    'provider',
  );

  check(
    'throws MalformedEvents for an unexpected body',
    async (subject, skip) => {
      const { parseEvents } = getRequests(subject, skip);
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
    },
    'provider',
  );
}

/** Skips the test if the provider's events arrive by a stream. */
function getRequests(subject: ContractSubject, skip: Skip): EventRequests {
  const { requests } = requireCapability(subject, 'subscribe', skip);
  return requests ?? skip(`${subject.provider.name} streams its events`);
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
