/** Tests batches at a vendor without a batch request, which get a request for each record. */
import { expect, test } from 'vitest';
import type { BatchWrite } from '../../../src/providers/moving-records.ts';
import {
  type ServedResponse,
  startProviderServer,
} from '../../support/providers/provider-server.ts';
import { createPlainSession } from '../../support/providers/provider-session.ts';
import { catchFailure } from '../contract-subject.ts';
import { createThingsProvider, POSITION } from './things.ts';

const provider = createThingsProvider({
  list: { paging: { kind: 'cursor', parameter: POSITION, next: '/next' } },
  errors: { messages: ['/error'] },
  behavior: { rateLimits: [{ status: 429, waitMs: 9_000 }] },
  create: { method: 'POST', path: '/things', responseRecord: '/thing' },
  update: { method: 'PATCH', path: '/things/{id}', responseRecord: '/thing' },
  idempotency: { header: 'idempotency-key', keyLifetimeMs: 60_000 },
});

const WRITTEN: ServedResponse = { status: 200, body: { thing: { id: 1 } } };
const REFUSED: ServedResponse = { status: 400, body: { error: 'no such n' } };
const LIMITED: ServedResponse = { status: 429, body: { error: 'slow down' } };
const FAILED: ServedResponse = { status: 502, body: '<html>' };

const records = [1, 2, 3, 4].map((n) => ({ record: { n } }));
const update: Partial<BatchWrite> = {
  type: 'UPDATE',
  records: records.map(({ record }) => ({ record: { ...record, id: String(record.n) } })),
};

/** Starts a server that returns the responses in order, and repeats the last one. */
async function startVendor(...responses: ServedResponse[]) {
  let requestCount = 0;
  const server = await startProviderServer(() => {
    requestCount += 1;
    return responses[Math.min(requestCount, responses.length) - 1] as ServedResponse;
  });
  const session = createPlainSession(server.url);
  return {
    server,
    writeBatch: async (write: Partial<BatchWrite> = {}) =>
      provider.capabilities.writeBatch!(session, {
        type: 'CREATE',
        objectName: 'things',
        records,
        allOrNone: false,
        ...write,
      }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const UNSENT = {
  success: false,
  errors: ['Not attempted, because an earlier record failed'],
  failure: 'NOT_EXECUTED',
};

test('returns the outcomes of the records until the vendor fails', async () => {
  await using vendor = await startVendor(WRITTEN, REFUSED, LIMITED);
  expect(await vendor.writeBatch()).toMatchObject([
    { success: true, recordId: '1' },
    { success: false, errors: ['no such n'] },
    {
      success: false,
      errors: [expect.stringContaining('It was not written: ')],
      failure: 'NOT_EXECUTED',
    },
    UNSENT,
  ]);
  expect(vendor.server.requests).toHaveLength(3);
});

test('marks a record that may have been written after others', async () => {
  await using vendor = await startVendor(WRITTEN, FAILED);
  expect(await vendor.writeBatch(update)).toMatchObject([
    { success: true },
    { success: false, recordId: '2', failure: 'UNKNOWN' },
    { ...UNSENT, recordId: '3' },
    { ...UNSENT, recordId: '4' },
  ]);
});

test('throws if the first record was not written, so that the batch is retried', async () => {
  await using vendor = await startVendor(LIMITED);
  expect(await catchFailure(vendor.writeBatch())).toMatchObject({ kind: 'RATE_LIMITED' });
  expect(vendor.server.requests).toHaveLength(1);
});

test('reports which records were not sent if the first one may have been created', async () => {
  await using vendor = await startVendor(FAILED);
  expect(await vendor.writeBatch()).toMatchObject([
    { success: false, recordId: null, failure: 'UNKNOWN' },
    UNSENT,
    UNSENT,
    UNSENT,
  ]);
  expect(vendor.server.requests).toHaveLength(1);
});

test.each<[string, Partial<BatchWrite>]>([
  ['the first update', update],
  ['the first creation with an idempotency key', { idempotencyKey: 'task.0' }],
  ['the only record', { records: records.slice(0, 1) }],
])('throws the error of %s if its outcome is unknown', async (_, write) => {
  await using vendor = await startVendor(FAILED);
  expect(await catchFailure(vendor.writeBatch(write))).toMatchObject({ isOutcomeUnknown: true });
  expect(vendor.server.requests).toHaveLength(1);
});
