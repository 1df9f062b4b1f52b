/** Tests batches of HubSpot: which outcome each record gets, and what one refused record does to the others. */
import { expect, test } from 'vitest';
import { createHubspotProvider } from '../../src/providers/hubspot/hubspot-provider.ts';
import type { BatchWrite } from '../../src/providers/moving-records.ts';
import {
  createHubspotFailure,
  type HubspotServer,
  startHubspotServer,
} from '../support/providers/hubspot-server.ts';
import { createHubspotError } from '../support/providers/hubspot-store.ts';
import { createPlainSession } from '../support/providers/provider-session.ts';
import { catchFailure } from './contract-subject.ts';

const ASSOCIATIONS = [
  { to: { id: '42' }, types: [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId: 3 }] },
];
const REFUSED_BATCH = {
  status: 400,
  body: createHubspotError('Property values were not valid', 'VALIDATION_ERROR'),
};

function createSession(server: HubspotServer) {
  return createPlainSession(server.url, { authorization: 'Bearer hubspot-token' });
}

function write(server: HubspotServer, batch: Omit<BatchWrite, 'objectName'>) {
  const { writeBatch } = createHubspotProvider().capabilities;
  if (!writeBatch) throw new Error('HubSpot has no batches');
  return writeBatch(createSession(server), { objectName: 'contacts', ...batch });
}

function createAll(server: HubspotServer, records: BatchWrite['records']) {
  return write(server, { type: 'CREATE', records, allOrNone: true });
}

function toEntries(records: Record<string, unknown>[]): BatchWrite['records'] {
  return records.map((record) => ({ record }));
}

function update(server: HubspotServer, records: BatchWrite['records']) {
  return write(server, { type: 'UPDATE', records, allOrNone: false });
}

function storeContacts(server: HubspotServer, names: string[]) {
  return names.map((firstname) => server.store.create('contacts', { firstname }).id);
}

function respondWithResults(server: HubspotServer, contents: object[], errors: object[] = []) {
  const results = contents.map((properties, index) => ({ id: `${index + 1}`, properties }));
  server.failNext({ status: errors.length > 0 ? 207 : 201, body: { results, errors } });
}

test('assigns the outcomes of a batch without trace ids', async () => {
  await using server = await startHubspotServer();
  const results = ['1', '3'].map((id) => ({ id, properties: { firstname: id } }));
  const context = { objectWriteTraceId: ['1'], existingId: ['7'] };
  server.failNext({
    status: 207,
    body: {
      status: 'COMPLETE',
      results,
      errors: [{ status: 'error', category: 'CONFLICT', message: 'Exists', context }],
      numErrors: 1,
    },
  });
  const outcomes = await write(server, {
    type: 'CREATE',
    records: [1, 2, 3].map((firstname) => ({ record: { firstname } })),
    allOrNone: false,
  });
  expect(outcomes.map(({ recordId, errors }) => [recordId, errors])).toEqual([
    ['1', []],
    [null, ['Exists']],
    ['3', []],
  ]);
});

test('returns the id of each record of an all-or-none create, whatever the order of the results', async () => {
  await using server = await startHubspotServer();
  const records = [
    { firstname: 'Ada' },
    { firstname: 'Ada', lastname: 'Byron' },
    { firstname: 'Ada', email: ' Ada@Example.com' },
    { firstname: 'Bob', score: 7, vip: true, lastname: null },
  ];
  const outcomes = await createAll(server, toEntries(records));
  expect(server.requests[0]?.body).toEqual({
    inputs: records.map((properties) => ({ properties })),
  });
  const written = outcomes.map(({ recordId }) => server.store.find('contacts', recordId ?? ''));
  expect(written).toMatchObject(records.map((properties) => ({ properties })));
});

test('returns ids of equal records in any order, but not if their associations differ', async () => {
  await using server = await startHubspotServer();
  const record = { firstname: 'Ada' };
  const equalOutcomes = await createAll(server, toEntries([record, record, { firstname: 'Bob' }]));
  const ids = equalOutcomes.map(({ recordId }) => recordId);
  expect(ids.slice(0, 2).toSorted()).toEqual(['1001', '1002']);
  expect(ids[2]).toBe('1003');
  const entries = [{ record }, { record, associations: ASSOCIATIONS }];
  expect(await createAll(server, entries)).toEqual(
    entries.map(() => ({ success: true, recordId: null, data: null, errors: [] })),
  );
});

test('finds ids although HubSpot changes values', async () => {
  await using server = await startHubspotServer();
  const createIds = async (records: Record<string, unknown>[], results: object[]) => {
    respondWithResults(server, results);
    const outcomes = await createAll(server, toEntries(records));
    expect(outcomes.map(({ success }) => success)).toEqual(records.map(() => true));
    return outcomes.map(({ recordId }) => recordId);
  };
  const records = [
    { lastname: 'A', birthday: '2000-01-01' },
    { lastname: 'B', birthday: '2000-01-02' },
  ];
  const results = [
    { lastname: 'B', birthday: '02-01-2000' },
    { lastname: 'A', birthday: '2000-01-01' },
  ];
  expect(await createIds(records, results)).toEqual(['2', '1']);
  const names = [{ lastname: 'A' }, { lastname: 'C' }];
  // The last result belongs to the last record.
  expect(await createIds(names, [{ lastname: 'Mc C' }, { lastname: 'A' }])).toEqual(['2', '1']);
  const changedNames = [{ lastname: 'Mc C' }, { lastname: 'Mc A' }];
  expect(await createIds(names, changedNames)).toEqual([null, null]);
});

test('reports that a record may be written if HubSpot does not say which one it refused', async () => {
  await using server = await startHubspotServer();
  const refused = { message: 'Exists' };
  respondWithResults(server, [{ firstname: 'Ada' }], [refused]);
  const records = [{ record: { firstname: 'Ada' } }, { record: { firstname: 'Ada' } }];
  const errors = [expect.stringContaining('does not say which records'), 'Exists'];
  expect(await write(server, { type: 'CREATE', records, allOrNone: false })).toMatchObject([
    { success: false, recordId: null, errors, failure: 'UNKNOWN' },
    { success: false, recordId: null, errors, failure: 'UNKNOWN' },
  ]);
});

test('refuses only the invalid record of an update', async () => {
  await using server = await startHubspotServer();
  const [idA = '', idB = ''] = storeContacts(server, ['Ada', 'Bob']);
  const outcomes = await update(server, [
    { record: { id: idA, lifecyclestage: 'unknown' } },
    { record: { id: '999999', firstname: 'Unknown' } },
    { record: { id: idB, firstname: 'Eve' } },
  ]);
  expect(outcomes).toMatchObject([
    { success: false, recordId: idA, errors: [expect.stringContaining('allowed options')] },
    { success: false, recordId: '999999', errors: [expect.stringContaining('Could not get')] },
    { success: true, recordId: idB, data: { firstname: 'Eve' } },
  ]);
  expect(server.requests).toHaveLength(1);
});

test('returns the own outcome of two updates of one record', async () => {
  await using server = await startHubspotServer();
  const [id = ''] = storeContacts(server, ['Ada']);
  const outcomes = await update(server, [
    { record: { id, email: 'no address' } },
    { record: { id, firstname: 'Eve' } },
  ]);
  expect(outcomes.map(({ success }) => success)).toEqual([false, true]);
});

test('assigns the results of an update without trace ids by id', async () => {
  await using server = await startHubspotServer();
  respondWithResults(server, [{ firstname: 'A' }, { firstname: 'B' }]);
  const records = ['2', '1'].map((id) => ({ record: { id, firstname: 'changed' } }));
  expect(await update(server, records)).toMatchObject([
    { success: true, recordId: '2', data: { firstname: 'B' } },
    { success: true, recordId: '1', data: { firstname: 'A' } },
  ]);
});

test('writes the records one by one if HubSpot refuses the whole batch', async () => {
  await using server = await startHubspotServer();
  const [idA = '', idB = ''] = storeContacts(server, ['Ada', 'Bob']);
  server.failNext(REFUSED_BATCH);
  const outcomes = await update(server, [
    { record: { id: idA, lifecyclestage: 'unknown' } },
    { record: { id: idB, firstname: 'Eve' } },
  ]);
  expect(outcomes).toMatchObject([
    { success: false, recordId: idA, errors: [expect.stringContaining('allowed options')] },
    { success: true, recordId: idB },
  ]);
  // HubSpot can't parse a request with a nested value.
  const records = [
    { record: { firstname: { nested: true } } },
    { record: { firstname: 'Cid' }, associations: ASSOCIATIONS },
  ];
  const created = await write(server, { type: 'CREATE', records, allOrNone: false });
  expect(created.map(({ success }) => success)).toEqual([false, true]);
  expect(server.store.find('contacts', created[1]?.recordId ?? '')?.associations).toEqual(
    ASSOCIATIONS,
  );
});

test('does not write single records of an all-or-none create or of a batch of one', async () => {
  await using server = await startHubspotServer();
  const outcomes = await createAll(
    server,
    toEntries([{ firstname: 'Ada' }, { email: 'no address' }]),
  );
  expect(outcomes.map(({ success }) => success)).toEqual([false, false]);
  server.failNext(REFUSED_BATCH);
  const [outcome] = await update(server, [{ record: { id: '1', firstname: 'Eve' } }]);
  expect(outcome).toMatchObject({ success: false, recordId: '1' });
  expect(server.requests).toHaveLength(2);
});

test('keeps the outcomes of single writes if a later one fails', async () => {
  await using server = await startHubspotServer();
  const [idA = ''] = storeContacts(server, ['Ada']);
  server.failNext(REFUSED_BATCH);
  server.failNext({ status: 200, body: { id: idA, properties: {} } });
  server.failNext(createHubspotFailure(429));
  const records = [idA, '2', '3'].map((id) => ({ record: { id, firstname: 'Eve' } }));
  expect(await update(server, records)).toMatchObject([
    { success: true, recordId: idA },
    { success: false, recordId: '2', errors: [expect.stringContaining('It was not written')] },
    { success: false, recordId: '3', errors: [expect.stringContaining('Not attempted')] },
  ]);
  server.failNext(REFUSED_BATCH);
  server.failNext(createHubspotFailure(429));
  expect(await catchFailure(update(server, records))).toMatchObject({ kind: 'RATE_LIMITED' });
});

test('refuses only the updates with associations or without an id', async () => {
  await using server = await startHubspotServer();
  const [idA = '', idB = ''] = storeContacts(server, ['Ada', 'Bob']);
  const refusedRecords = [
    { record: { id: idA, firstname: 'Eve' }, associations: ASSOCIATIONS },
    { record: { firstname: 'Unknown' } },
  ];
  const refusals = [
    { success: false, recordId: idA, errors: [expect.stringContaining('associations')] },
    { success: false, recordId: null, errors: [expect.stringContaining('needs the id')] },
  ];
  const validRecord = { record: { id: idB, firstname: 'Fay' }, associations: [] };
  const [associated, missing] = refusals;
  const records = [...refusedRecords.slice(0, 1), validRecord, ...refusedRecords.slice(1)];
  expect(await update(server, records)).toMatchObject([
    associated,
    { success: true, recordId: idB, data: { firstname: 'Fay' } },
    missing,
  ]);
  expect(server.requests).toHaveLength(1);
  expect(await update(server, refusedRecords)).toMatchObject(refusals);
  expect(server.requests).toHaveLength(1);
});
