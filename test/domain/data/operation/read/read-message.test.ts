import { expect, test } from 'vitest';
import type { SerializedEntry } from '../../../../../src/domain/data/operation/read/delivered-entries.ts';
import {
  createPageMessages,
  MESSAGE_BYTES_MAX,
  type MessageHead,
  parseEntries,
  serializeEntries,
  serializeEntry,
} from '../../../../../src/domain/data/operation/read/read-message.ts';

const messageHead: MessageHead = {
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
  mappedObjectName: 'contacts',
  operationId: 'opr_1',
  operationTime: '2026-01-01T00:00:00.000Z',
  readType: 'backfill',
};
const plan = {
  fields: ['email', 'phone'],
  mappings: [{ fieldName: 'phone', mapToName: 'telephone' }],
  replacements: {},
  messageSize: null,
};

/** Returns the bodies of messages with the last records of a read. */
function createBodies(
  records: ReturnType<typeof createRecords>,
  { messageSize = null }: { messageSize?: number | null } = {},
) {
  const entries = records.map((record) => serializeEntry(record, plan));
  const page = { entries, isLast: true };
  return createPageMessages(messageHead, page, { ...plan, messageSize }).bodies;
}

function createRecords(count: number, note = '') {
  return Array.from({ length: count }, (_, index) => ({
    id: String(index),
    fields: { email: `${index}@example.test`, phone: null, other: 1 },
    raw: { id: String(index), note },
  }));
}

test('returns the selected fields of a record by both names, with the raw record', () => {
  const [body = ''] = createBodies(createRecords(1));
  expect(JSON.parse(body)).toEqual({
    ...messageHead,
    resultInfo: { type: 'inline', numRecords: 1 },
    result: [
      {
        id: '0',
        fields: { email: '0@example.test', phone: null },
        mappedFields: { telephone: null },
        raw: { id: '0', note: '' },
      },
    ],
  });
});

test('returns no message without records', () => {
  expect(createBodies([])).toEqual([]);
});

test('splits a page that exceeds the size of a message, in order and without loss', () => {
  const records = createRecords(100, 'ü'.repeat(5_000));
  const bodies = createBodies(records);
  expect(bodies).toHaveLength(4);
  for (const body of bodies) expect(Buffer.byteLength(body)).toBeLessThanOrEqual(MESSAGE_BYTES_MAX);
  const messages = bodies.map((body) => JSON.parse(body));
  expect(
    messages.flatMap(({ result }) => result.map(({ raw }: { raw: { id: string } }) => raw.id)),
  ).toEqual(records.map(({ id }) => id));
  for (const { resultInfo, result } of messages) expect(resultInfo.numRecords).toBe(result.length);
});

test('returns one message if it has exactly the maximum size', () => {
  const listBodyLengths = (length: number) =>
    createBodies(createRecords(2, 'x'.repeat(length))).map((body) => body.length);
  const fittingLength = 149_000;
  const [size = 0] = listBodyLengths(fittingLength);
  const paddingMax = fittingLength + Math.floor((MESSAGE_BYTES_MAX - size) / 2);
  expect(listBodyLengths(paddingMax)).toHaveLength(1);
  expect(listBodyLengths(paddingMax + 2)).toHaveLength(2);
});

test('returns a separate message for a record that exceeds the maximum size', () => {
  const [small, large] = [createRecords(1), createRecords(1, 'x'.repeat(MESSAGE_BYTES_MAX))];
  const bodies = createBodies([...small, ...large, ...small]);
  expect(bodies.map((body) => JSON.parse(body).result.length)).toEqual([1, 1, 1]);
});

const listSizes = (bodies: string[]) => bodies.map((body) => JSON.parse(body).result.length);

test("returns messages of the integration's page size, with the remaining records in the last message", () => {
  expect(listSizes(createBodies(createRecords(120), { messageSize: 50 }))).toEqual([50, 50, 20]);
});

test('keeps records that do not fill a message for the next page', () => {
  const smallPages = { ...plan, messageSize: 50 };
  const createPage = (waitingEntries: SerializedEntry[], isLast: boolean) => {
    const pageEntries = createRecords(70).map((record) => serializeEntry(record, plan));
    const page = { entries: [...waitingEntries, ...pageEntries], isLast };
    return createPageMessages(messageHead, page, smallPages);
  };
  const firstPage = createPage([], false);
  expect([listSizes(firstPage.bodies), firstPage.waitingEntries.length]).toEqual([[50], 20]);
  const secondPage = createPage(firstPage.waitingEntries, false);
  expect([listSizes(secondPage.bodies), secondPage.waitingEntries.length]).toEqual([[50], 40]);
  const restored = parseEntries(serializeEntries(secondPage.waitingEntries));
  expect(restored).toEqual(secondPage.waitingEntries);
  expect(listSizes(createPage(restored, true).bodies)).toEqual([50, 50, 10]);
  expect(serializeEntries([])).toBeNull();
});
