import { expect, test } from 'vitest';
import {
  entriesOf,
  MESSAGE_BYTES_MAX,
  type MessageHead,
  pageMessages,
  storedEntries,
} from '../../../../src/domain/operation/read/read-message.ts';

const head: MessageHead = {
  action: 'read',
  projectId: 'prj_1',
  provider: 'sandbox',
  groupRef: 'acme',
  groupName: 'Acme',
  installationId: 'ins_1',
  installationUpdateTime: '2026-01-01T00:00:00.000Z',
  consumerRef: 'ann',
  consumerName: 'Ann',
  objectName: 'people',
  rawObjectName: 'contacts',
  operationId: 'opr_1',
  operationTime: '2026-01-01T00:00:00.000Z',
  readType: 'backfill',
};
const plan = {
  fields: ['email', 'phone'],
  mappings: [{ fieldName: 'phone', mapToName: 'telephone' }],
  words: {},
  messageSize: null,
};

/** The bodies for records of which no more come. */
function bodiesOf(
  records: ReturnType<typeof recordsOf>,
  { messageSize = null }: { messageSize?: number | null } = {},
) {
  const told = { waiting: [], records, isLast: true };
  return pageMessages(head, told, { ...plan, messageSize }).bodies;
}

function recordsOf(count: number, note = '') {
  return Array.from({ length: count }, (_, index) => ({
    id: String(index),
    fields: { email: `${index}@example.test`, phone: null, other: 1 },
    raw: { id: String(index), note },
  }));
}

test('a record has its selected fields by both names, and what the provider sent', () => {
  const [body = ''] = bodiesOf(recordsOf(1));
  expect(JSON.parse(body)).toEqual({
    ...head,
    resultInfo: { type: 'inline', numRecords: 1 },
    result: [
      {
        fields: { email: '0@example.test', phone: null },
        mappedFields: { telephone: null },
        raw: { id: '0', note: '' },
      },
    ],
  });
});

test('no records make no message', () => {
  expect(bodiesOf([])).toEqual([]);
});

test('a page that is too large for a message becomes several, in its order and whole', () => {
  const records = recordsOf(100, 'ü'.repeat(5_000));
  const bodies = bodiesOf(records);
  expect(bodies).toHaveLength(4);
  for (const body of bodies) expect(Buffer.byteLength(body)).toBeLessThanOrEqual(MESSAGE_BYTES_MAX);
  const parsed = bodies.map((body) => JSON.parse(body));
  expect(
    parsed.flatMap(({ result }) => result.map(({ raw }: { raw: { id: string } }) => raw.id)),
  ).toEqual(records.map(({ id }) => id));
  for (const { resultInfo, result } of parsed) expect(resultInfo.numRecords).toBe(result.length);
});

test('a message of exactly the largest size is one message', () => {
  const sizeWith = (length: number) =>
    bodiesOf(recordsOf(2, 'x'.repeat(length))).map((body) => body.length);
  const fits = 149_000;
  const [size = 0] = sizeWith(fits);
  const most = fits + Math.floor((MESSAGE_BYTES_MAX - size) / 2);
  expect(sizeWith(most)).toHaveLength(1);
  expect(sizeWith(most + 2)).toHaveLength(2);
});

test('a record that is too large alone is sent alone', () => {
  const [small, large] = [recordsOf(1), recordsOf(1, 'x'.repeat(MESSAGE_BYTES_MAX))];
  const bodies = bodiesOf([...small, ...large, ...small]);
  expect(bodies.map((body) => JSON.parse(body).result.length)).toEqual([1, 1, 1]);
});

const sizesOf = (bodies: string[]) => bodies.map((body) => JSON.parse(body).result.length);

test('a message has as many records as the integration wants, and the last one the rest', () => {
  expect(sizesOf(bodiesOf(recordsOf(120), { messageSize: 50 }))).toEqual([50, 50, 20]);
});

test('what does not fill a message waits for the next page', () => {
  const wanted = { ...plan, messageSize: 50 };
  const page = (waiting: string[], isLast: boolean) =>
    pageMessages(head, { waiting, records: recordsOf(70), isLast }, wanted);
  const first = page([], false);
  expect([sizesOf(first.bodies), first.waiting.length]).toEqual([[50], 20]);
  const second = page(first.waiting, false);
  expect([sizesOf(second.bodies), second.waiting.length]).toEqual([[50], 40]);
  const kept = entriesOf(storedEntries(second.waiting));
  expect(kept).toEqual(second.waiting);
  expect(sizesOf(page(kept, true).bodies)).toEqual([50, 50, 10]);
  expect(storedEntries([])).toBeNull();
});
