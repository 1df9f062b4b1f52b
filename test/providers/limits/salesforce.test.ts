/** Tests reads that reach a limit of Salesforce: long URLs, large rows, and open queries. */
import { expect, test } from 'vitest';
import { getReadTiming } from '../../../src/providers/behavior.ts';
import { createSalesforceProvider } from '../../../src/providers/salesforce/salesforce-provider.ts';
import { MINUTE_MS } from '../../../src/work/durations.ts';
import { createPlainSession } from '../../support/providers/provider-session.ts';
import {
  type SalesforceServer,
  startSalesforceServer,
} from '../../support/providers/salesforce-server.ts';
import { atMinute, catchFailure } from '../contract-subject.ts';

const { readPage, readRecords, getBehavior } = getCapabilities();

function getCapabilities() {
  const { capabilities } = createSalesforceProvider();
  return capabilities as Required<typeof capabilities>;
}

function createSession(server: SalesforceServer) {
  return createPlainSession(server.url, { authorization: 'Bearer salesforce-token' });
}

/** Adds many fields with long names to accounts, and returns the names. */
function addFields(server: SalesforceServer): string[] {
  const { fields } = server.store.getObject('Account');
  const [field] = fields.filter(({ name }) => name === 'Name');
  if (!field) throw new Error('Accounts have no name.');
  const names = Array.from(
    { length: 400 },
    (_, n) => `A_field_with_a_name_of_forty_characters_${n}__c`,
  );
  fields.push(...names.map((name) => ({ ...field, name, nillable: true })));
  return names;
}

const COMPOSITE = 'POST /services/data/v60.0/composite';
const QUERY = 'GET /services/data/v60.0/query';

function listRequests({ requests }: SalesforceServer): string[] {
  return requests.map(({ method, path }) => `${method} ${path.replace(/query\/.*/, 'query/…')}`);
}

test('reads 400 columns, whose names are too long for a URL, page by page', async () => {
  await using server = await startSalesforceServer();
  const fields = ['Name', ...addFields(server)];
  server.queries.pageRowsMax = 2;
  const ids = [0, 1, 2].map((n) =>
    server.store.create('Account', { Name: `n${n}`, [fields[400] ?? '']: 'last' }),
  );
  const read = { objectName: 'Account', fields, pageSize: 200, since: atMinute(0) };
  const page = await readPage(createSession(server), read);
  expect(page.records).toHaveLength(2);
  expect(page.records[0]?.fields).toMatchObject({ Name: 'n0', [fields[400] ?? '']: 'last' });
  const lastPage = await readPage(createSession(server), {
    ...read,
    cursor: page.nextCursor ?? '',
  });
  expect(lastPage.records.map(({ id }) => id)).toEqual(ids.slice(2));
  expect(listRequests(server)).toEqual([COMPOSITE, `${QUERY}/…`]);
});

test('reads records by id if the names of the columns are too long for a URL', async () => {
  await using server = await startSalesforceServer();
  const fields = ['Name', ...addFields(server)];
  const ids = Array.from({ length: 20 }, () => server.store.create('Account', { Name: 'one' }));
  const records = await readRecords(createSession(server), { objectName: 'Account', fields, ids });
  expect(records.map(({ id }) => id)).toEqual(ids);
  expect(listRequests(server)).toEqual([COMPOSITE]);
});

test('searches by long values', async () => {
  await using server = await startSalesforceServer();
  const Name = '"quoted" '.repeat(1_200);
  const id = server.store.create('Account', { Name });
  const read = { objectName: 'Account', fields: ['Name'], pageSize: 200 };
  const filters = [{ fieldName: 'Name', value: Name }];
  const { records } = await readPage(createSession(server), { ...read, filters });
  expect(records.map((record) => record.id)).toEqual([id]);
  expect(listRequests(server)).toEqual([COMPOSITE]);
});

test('repeats a query inside a composite if the headers are longer than expected', async () => {
  await using server = await startSalesforceServer();
  const id = server.store.create('Account', { Name: 'one' });
  const read = { objectName: 'Account', fields: ['Name'], pageSize: 200 };
  for (const status of [414, 431]) {
    server.reset();
    server.failNext({ status, body: `<h1>Bad Message ${status}</h1>` });
    const { records } = await readPage(createSession(server), read);
    expect(records.map((record) => record.id)).toEqual([id]);
    expect(listRequests(server)).toEqual([QUERY, COMPOSITE]);
  }
});

test('reports the failure of a query inside a composite', async () => {
  await using server = await startSalesforceServer();
  const fields = ['Nope', ...addFields(server)];
  const read = { objectName: 'Account', fields, pageSize: 200 };
  expect(await catchFailure(readPage(createSession(server), read))).toMatchObject({
    kind: 'MISSING_FIELD',
    status: 400,
  });
});

test('reads all records by id although Salesforce returns few large rows on a page', async () => {
  await using server = await startSalesforceServer();
  const ids = Array.from({ length: 25 }, () => server.store.create('Account', { Name: 'one' }));
  server.queries.pageRowsMax = 10;
  const read = { objectName: 'Account', fields: ['Name'], ids };
  const records = await readRecords(createSession(server), read);
  expect(records.map(({ id }) => id)).toEqual(ids);
  const page = { totalSize: 25, done: false, records: [] };
  const nextRecordsUrl = '/services/data/v60.0/query/01g0-10';
  server.failNext({ status: 200, body: { ...page, nextRecordsUrl } }, Infinity);
  const failure = await catchFailure(readRecords(createSession(server), read));
  expect(failure.kind).toBe('RETRYABLE');
});

test.each([
  ['INVALID_QUERY_LOCATOR', 400],
  ['NOT_FOUND', 404],
])('restarts the read if Salesforce returns %s for a later page', async (errorCode, status) => {
  await using server = await startSalesforceServer();
  server.queries.pageRowsMax = 1;
  for (let n = 0; n < 2; n += 1) server.store.create('Account', { Name: 'one' });
  const read = { objectName: 'Account', fields: ['Name'], pageSize: 200 };
  const { nextCursor } = await readPage(createSession(server), read);
  server.failNext({ status, body: [{ message: 'invalid query locator', errorCode }] });
  const later = readPage(createSession(server), { ...read, cursor: nextCursor ?? '' });
  expect((await catchFailure(later)).kind).toBe('CURSOR_GONE');
});

test('restarts the read if ten other queries were opened in between', async () => {
  await using server = await startSalesforceServer();
  server.queries.pageRowsMax = 1;
  for (let n = 0; n < 2; n += 1) server.store.create('Account', { Name: 'one' });
  const read = { objectName: 'Account', fields: ['Name'], pageSize: 200 };
  const { nextCursor } = await readPage(createSession(server), read);
  for (let n = 0; n < 10; n += 1) await readPage(createSession(server), read);
  const later = readPage(createSession(server), { ...read, cursor: nextCursor ?? '' });
  expect((await catchFailure(later)).kind).toBe('CURSOR_GONE');
});

test('reads a record that changed at exactly the start of the window', async () => {
  await using server = await startSalesforceServer();
  const id = server.store.create('Account', { Name: 'one' }, { changedAt: atMinute(1) });
  const window = { since: atMinute(1), until: atMinute(1) };
  const read = { objectName: 'Account', fields: ['Name'], pageSize: 200, ...window };
  const { records } = await readPage(createSession(server), read);
  expect(records.map((record) => record.id)).toEqual([id]);
});

test('looks back at least as long as a transaction may take', () => {
  expect(getReadTiming(getBehavior('Account')).lookBackMs).toBeGreaterThan(10 * MINUTE_MS);
});

test('retries a query that took too long', async () => {
  await using server = await startSalesforceServer();
  const message = 'Your query request was running for too long.';
  server.failNext({ status: 400, body: [{ message, errorCode: 'QUERY_TIMEOUT' }] });
  const read = { objectName: 'Account', fields: ['Name'], pageSize: 200 };
  expect((await catchFailure(readPage(createSession(server), read))).kind).toBe('RETRYABLE');
});
