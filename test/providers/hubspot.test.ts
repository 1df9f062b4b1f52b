import { expect, test } from 'vitest';
import { createHubspotProvider } from '../../src/providers/hubspot/hubspot-provider.ts';
import type { PageRead, RecordPage } from '../../src/providers/moving-records.ts';
import type { ProviderErrorKind } from '../../src/providers/provider-error.ts';
import {
  createHubspotFailure,
  type HubspotServer,
  startHubspotServer,
} from '../support/providers/hubspot-server.ts';
import { createHubspotError } from '../support/providers/hubspot-store.ts';
import { createPlainSession } from '../support/providers/provider-session.ts';
import { type ContractSubject, testProviderContract } from './contract.ts';
import { atMinute, catchFailure, indexByName } from './contract-subject.ts';

const ACCESS_TOKEN = 'hubspot-token';
const { describeObject, readPage, writeRecord, writeBatch, deleteRecord } = getCapabilities();

testProviderContract('hubspot', async (): Promise<ContractSubject> => {
  const server = await startHubspotServer({ token: ACCESS_TOKEN });
  return {
    provider: createHubspotProvider({ baseUrl: server.url }),
    session: createSession(server),
    secret: ACCESS_TOKEN,
    objectName: 'contacts',
    textField: 'firstname',
    createValidRecord: (text) => ({ firstname: text }),
    invalidRecord: { firstname: 'Ada', email: 'no address' },
    missingId: '999999',
    pageSizeMin: 10,
    hasChangeTimes: true,
    newFieldName: 'hobby',
    countRecords: () => server.store.listRecords('contacts').length,
    storeRecords: (records) =>
      records.map(({ record, changedAt }) => server.store.create('contacts', record, changedAt).id),
    failRequests: (fault) => {
      if (fault === 'DROPPED_CONNECTION') return server.failNext(fault, Infinity);
      const wait = 'retryAfterSeconds' in fault && { 'retry-after': `${fault.retryAfterSeconds}` };
      server.failNext(createHubspotFailure(fault.status, { ...wait }), Infinity);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
});

function getCapabilities() {
  const { capabilities } = createHubspotProvider();
  return capabilities as Required<typeof capabilities>;
}

function createSession(server: HubspotServer) {
  return createPlainSession(server.url, { authorization: `Bearer ${ACCESS_TOKEN}` });
}

test('uses another host for the API and for the consent page', () => {
  expect(createHubspotProvider()).toMatchObject({
    baseUrl: 'https://api.hubapi.com',
    oauth2: {
      authorizeUrl: 'https://app.hubspot.com/oauth/authorize',
      tokenUrl: 'https://api.hubapi.com/oauth/v1/token',
    },
  });
  expect(createHubspotProvider({ baseUrl: 'http://127.0.0.1:9/' })).toMatchObject({
    baseUrl: 'http://127.0.0.1:9',
    oauth2: {
      authorizeUrl: 'http://127.0.0.1:9/oauth/authorize',
      tokenUrl: 'http://127.0.0.1:9/oauth/v1/token',
    },
  });
});

test('lists all records, and searches for changed ones', async () => {
  await using server = await startHubspotServer();
  const read = { objectName: 'deals', fields: ['id', 'dealname', 'amount'], pageSize: 500 };
  server.store.create('deals', { dealname: 'Big' }, atMinute(1));
  const { records, estimatedTotal } = await readPage(createSession(server), read);
  expect(records[0]?.fields).toEqual({ id: '1001', dealname: 'Big', amount: null });
  expect(records[0]?.raw).toMatchObject({ archived: false, createdAt: atMinute(1).toISOString() });
  // The list has no total, so a separate search counts.
  expect(estimatedTotal).toBe(1);
  expect(
    await readPage(createSession(server), { ...read, since: atMinute(0), until: atMinute(2) }),
  ).toEqual({
    records,
    nextCursor: null,
    estimatedTotal: 1,
  });
  const [list, _count, search] = server.requests;
  expect(Object.fromEntries(list?.query ?? [])).toEqual({
    limit: '100',
    properties: 'dealname,amount',
    archived: 'false',
  });
  expect(search).toMatchObject({ method: 'POST', path: '/crm/v3/objects/deals/search' });
  expect(search?.body).toEqual({
    filterGroups: [
      {
        filters: [
          { propertyName: 'hs_lastmodifieddate', operator: 'GTE', value: `${+atMinute(0)}` },
          { propertyName: 'hs_lastmodifieddate', operator: 'LTE', value: `${+atMinute(2)}` },
        ],
      },
    ],
    sorts: [{ propertyName: 'hs_object_id', direction: 'ASCENDING' }],
    properties: ['dealname', 'amount'],
    limit: 200,
  });
});

test('searches for records with filters, even without a time', async () => {
  await using server = await startHubspotServer();
  for (const dealstage of ['won', 'lost']) server.store.create('deals', { dealstage, amount: '5' });
  const read = { objectName: 'deals', fields: ['dealstage'], pageSize: 1 };
  const filters = [
    { fieldName: 'dealstage', value: 'won' },
    { fieldName: 'amount', value: 5 },
  ];
  const { records, estimatedTotal } = await readPage(createSession(server), { ...read, filters });
  expect(records.map(({ fields }) => fields)).toEqual([{ dealstage: 'won' }]);
  expect(estimatedTotal).toBe(1);
  expect(server.requests[0]?.body).toMatchObject({
    filterGroups: [
      {
        filters: [
          { propertyName: 'dealstage', operator: 'EQ', value: 'won' },
          { propertyName: 'amount', operator: 'EQ', value: '5' },
        ],
      },
    ],
  });
});

test('searches instead of listing if the field names are too long for a URL', async () => {
  await using server = await startHubspotServer();
  server.store.create('deals', { dealname: 'Big' });
  const fields = [
    'dealname',
    ...Array.from({ length: 400 }, (_, index) => `a_rather_long_name_${index}`),
  ];
  const { records } = await readPage(createSession(server), {
    objectName: 'deals',
    fields,
    pageSize: 1,
  });
  expect(records[0]?.fields.dealname).toBe('Big');
  expect(server.requests[0]?.path).toBe('/crm/v3/objects/deals/search');
  expect(server.requests[0]?.body).not.toHaveProperty('filterGroups');
});

test('finds changed contacts by the property lastmodifieddate', async () => {
  await using server = await startHubspotServer();
  await readPage(createSession(server), {
    objectName: 'contacts',
    fields: ['email'],
    pageSize: 1,
    since: atMinute(0),
  });
  expect(server.requests[0]?.body).toMatchObject({
    filterGroups: [{ filters: [{ propertyName: 'lastmodifieddate', operator: 'GTE' }] }],
  });
});

test(
  'reads past the search limit of 10,000 hits, and counts them once',
  { tags: ['all/rows'] },
  async () => {
    await using server = await startHubspotServer();
    const ids = Array.from(
      { length: 10_350 },
      (_, n) => server.store.create('deals', { dealname: `deal ${n}` }, atMinute(1)).id,
    );
    const pages = await readPages(server, {
      objectName: 'deals',
      fields: ['dealname'],
      // The page size does not divide 10,000, so the last page would cross the limit.
      pageSize: 190,
      since: atMinute(0),
    });
    expect(pages.flatMap(({ records }) => records.map(({ id }) => id))).toEqual(ids);
    expect(new Set(pages.map(({ estimatedTotal }) => estimatedTotal))).toEqual(new Set([10_350]));
  },
);

test('returns all other records when one changes between pages', async () => {
  await using server = await startHubspotServer({ now: () => atMinute(9) });
  const deals = ['one', 'two', 'three'].map((dealname) =>
    server.store.create('deals', { dealname }, atMinute(1)),
  );
  const window = { since: atMinute(0), until: atMinute(2) };
  const read = { objectName: 'deals', fields: ['dealname'], pageSize: 1, ...window };
  const [changedDeal] = deals;
  const { nextCursor, estimatedTotal } = await readPage(createSession(server), read);
  if (changedDeal) server.store.update('deals', changedDeal, { dealname: 'changed' });
  const laterPages = await readPages(server, { ...read, cursor: nextCursor ?? '' });
  expect(laterPages.flatMap(({ records }) => records.map(({ fields }) => fields.dealname))).toEqual(
    ['two', 'three'],
  );
  expect(laterPages.map((page) => page.estimatedTotal)).toEqual([estimatedTotal, estimatedTotal]);
});

test('continues after an empty page, and returns the same cursor if it repeats', async () => {
  await using server = await startHubspotServer();
  const ids = [1, 2, 3].map((n) => server.store.create('deals', {}, atMinute(n)).id);
  const read = { objectName: 'deals', fields: [], pageSize: 1, since: atMinute(0) };
  const { nextCursor } = await readPage(createSession(server), read);
  server.failNext({ status: 200, body: { total: 2, results: [], paging: createPaging('1') } });
  const laterPages = await readPages(server, { ...read, cursor: nextCursor ?? '' });
  // The server has returned an empty page in place of one record.
  expect(laterPages.map(({ records }) => records.map(({ id }) => id))).toEqual([[], [ids[2]]]);
  const repeatedPage = { status: 200, body: { total: 2, results: [], paging: createPaging('1') } };
  server.failNext(repeatedPage, 2);
  // The caller of `readPage` compares the cursors, and ends a read whose cursor repeats.
  const emptyPage = await readPage(createSession(server), { ...read, cursor: nextCursor ?? '' });
  const cursor = emptyPage.nextCursor ?? '';
  expect((await readPage(createSession(server), { ...read, cursor })).nextCursor).toBe(cursor);
});

function createPaging(after: string) {
  return { next: { after } };
}

test('throws CURSOR_GONE for a cursor that HubSpot does not accept', async () => {
  await using server = await startHubspotServer();
  const read = { objectName: 'contacts', fields: ['email'], pageSize: 1 };
  const position = { by: 'search', aboveId: null, pastEmpty: 'abc', total: 1 };
  const cursor = JSON.stringify(position);
  const changed = { ...read, since: atMinute(0), cursor };
  expect((await catchFailure(readPage(createSession(server), changed))).kind).toBe('CURSOR_GONE');
  // A list has other cursors than a search, so the connector does not send this one.
  expect((await catchFailure(readPage(createSession(server), { ...read, cursor }))).kind).toBe(
    'CURSOR_GONE',
  );
  expect(server.requests).toHaveLength(1);
});

test('creates a record with its associations', async () => {
  await using server = await startHubspotServer();
  const types = [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId: 3 }];
  const associations = [{ to: { id: '42' }, types }];
  const record = { dealname: 'Big' };
  const write = { type: 'CREATE', objectName: 'deals', record, associations } as const;
  const outcome = await writeRecord(createSession(server), write);
  expect(outcome).toMatchObject({ success: true, data: { dealname: 'Big', hs_object_id: '1001' } });
  await writeBatch(createSession(server), {
    type: 'CREATE',
    objectName: 'deals',
    records: [{ record, associations }],
    allOrNone: false,
  });
  expect(server.store.listRecords('deals').map((deal) => deal.associations)).toEqual([
    associations,
    associations,
  ]);
  const update = { ...write, type: 'UPDATE', record: { id: '1001' } } as const;
  const refusal = await catchFailure(writeRecord(createSession(server), update));
  expect(refusal).toMatchObject({
    kind: 'BAD_REQUEST',
    message: expect.stringContaining('associations'),
  });
});

test('returns a message for each refused value', async () => {
  await using server = await startHubspotServer();
  server.store.create('contacts', { email: 'ada@example.com' });
  const listErrors = async (record: Record<string, unknown>) =>
    (await writeRecord(createSession(server), { type: 'CREATE', objectName: 'contacts', record }))
      .errors;
  expect(await listErrors({ nope: 1, createdate: 'now' })).toEqual([
    'Property "nope" does not exist',
    '"createdate" is a read only property; its value cannot be set.',
  ]);
  expect(await listErrors({ email: 'ada@example.com' })).toEqual([
    'Contact already exists. Existing ID: 1001',
  ]);
});

test('returns an outcome if HubSpot reports that the record to delete is missing', async () => {
  await using server = await startHubspotServer();
  server.failNext({
    status: 404,
    body: createHubspotError('resource not found', 'OBJECT_NOT_FOUND'),
  });
  const removal = { objectName: 'contacts', id: '42' };
  expect(await deleteRecord(createSession(server), removal)).toEqual({
    success: false,
    recordId: '42',
    data: null,
    errors: ['resource not found'],
  });
});

test('never lets a name or an id change the request path', async () => {
  await using server = await startHubspotServer();
  const { id } = server.store.create('contacts', { firstname: 'Ada' });
  const { kind } = await catchFailure(
    writeRecord(createSession(server), { type: 'CREATE', objectName: '../contacts', record: {} }),
  );
  expect(kind).toBe('MISSING_OBJECT');
  const removal = { objectName: 'deals', id: `../contacts/${id}` };
  expect(await deleteRecord(createSession(server), removal)).toMatchObject({ success: false });
  expect(server.requests).toEqual([]);
});

test('maps HubSpot field types to value types', async () => {
  await using server = await startHubspotServer();
  const contacts = await describeObject(createSession(server), 'contacts');
  expect(contacts.displayName).toBe('Contacts');
  const fields = indexByName(contacts.fields);
  const types = Object.entries(fields).map(([name, field]) => [name, field.valueType]);
  expect(Object.fromEntries(types)).toMatchObject({
    firstname: 'STRING',
    lifecyclestage: 'SINGLE_SELECT',
    hs_persona: 'SINGLE_SELECT',
    hs_buying_role: 'MULTI_SELECT',
    hs_email_optout: 'BOOLEAN',
    vip: 'BOOLEAN',
    hubspot_owner_id: 'REFERENCE',
    associatedcompanyid: 'REFERENCE',
    score: 'FLOAT',
    birthday: 'OTHER',
    createdate: 'DATETIME',
    hs_calendar: 'OTHER',
  });
  expect(fields.hs_buying_role).toEqual({
    fieldName: 'hs_buying_role',
    displayName: 'hs_buying_role label',
    valueType: 'MULTI_SELECT',
    providerType: 'enumeration.checkbox',
    readOnly: false,
    isCustom: false,
    isRequired: false,
    values: [
      { value: 'BUDGET_HOLDER', displayValue: 'BUDGET_HOLDER label' },
      { value: 'CHAMPION', displayValue: 'CHAMPION label' },
    ],
    referenceTo: null,
  });
  expect(fields.email).toMatchObject({ isRequired: true });
  expect(fields.createdate).toMatchObject({ readOnly: true });
  expect(fields.vip).toMatchObject({ isCustom: true, values: null });
  expect(fields.hubspot_owner_id).toMatchObject({ referenceTo: ['users'] });
  expect(fields.associatedcompanyid).toMatchObject({ referenceTo: ['companies'] });
});

test('takes the values of a stage from the pipelines, and describes it without values if they are forbidden', async () => {
  await using server = await startHubspotServer();
  const { fields } = await describeObject(createSession(server), 'deals');
  expect(indexByName(fields).dealstage).toMatchObject({
    isRequired: true,
    values: [
      { value: 'appointmentscheduled', displayValue: 'Appointment Scheduled' },
      { value: 'closedwon', displayValue: 'Closed Won' },
    ],
  });
  const [properties] = server.requests.splice(0);
  server.failNext({ status: 200, body: { results: server.store.getObject('deals').properties } });
  server.failNext(createHubspotFailure(403), 2);
  const withoutLabels = await describeObject(createSession(server), 'deals');
  expect(withoutLabels.displayName).toBeNull();
  expect(indexByName(withoutLabels.fields).dealstage).toMatchObject({
    isRequired: false,
    values: [],
  });
  expect(properties?.path).toBe('/crm/v3/properties/deals/');
});

test.each<[number, 'read' | 'write', ProviderErrorKind]>([
  [423, 'read', 'RETRYABLE'],
  [477, 'read', 'MIGRATING'],
  [502, 'read', 'RATE_LIMITED'],
  [503, 'read', 'API_DISABLED'],
  [504, 'read', 'RATE_LIMITED'],
  // After a gateway timeout the outcome of a write is unknown.
  [502, 'write', 'SERVER_ERROR'],
  [504, 'write', 'SERVER_ERROR'],
])('maps a %i after a %s to %s', async (status, purpose, kind) => {
  await using server = await startHubspotServer();
  server.failNext(createHubspotFailure(status));
  const attempt =
    purpose === 'read'
      ? readPage(createSession(server), { objectName: 'contacts', fields: [], pageSize: 1 })
      : writeRecord(createSession(server), { type: 'CREATE', objectName: 'contacts', record: {} });
  expect((await catchFailure(attempt)).kind).toBe(kind);
});

test('waits as long as HubSpot requests, in seconds or until a date', async () => {
  await using server = await startHubspotServer();
  const readRetryAfterMs = async (status: number, headers: Record<string, string>) => {
    server.failNext(createHubspotFailure(status, headers));
    return (await catchFailure(describeObject(createSession(server), 'contacts'))).retryAfterMs;
  };
  const date = 'Thu, 01 Jan 2026 12:00:00 GMT';
  expect(await readRetryAfterMs(477, { 'retry-after': '86400' })).toBe(86_400_000);
  expect(
    await readRetryAfterMs(429, { date, 'retry-after': 'Thu, 01 Jan 2026 12:00:30 GMT' }),
  ).toBe(30_000);
  expect(
    await readRetryAfterMs(429, { date, 'retry-after': 'Thu, 01 Jan 2026 11:00:00 GMT' }),
  ).toBe(0);
  expect(await readRetryAfterMs(429, { 'retry-after': 'soon' })).toBeNull();
  expect(await readRetryAfterMs(423, {})).toBe(2_000);
});

test('reports a missing field when a read names an unknown property', async () => {
  await using server = await startHubspotServer();
  const message = 'Property "nope" does not exist';
  const context = { propertyName: ['nope'] };
  const details = [{ message, code: 'PROPERTY_DOESNT_EXIST', context }];
  server.failNext({
    status: 400,
    body: createHubspotError('Invalid', 'VALIDATION_ERROR', details),
  });
  const read = { objectName: 'contacts', fields: ['nope'], pageSize: 1 };
  expect(await catchFailure(readPage(createSession(server), read))).toMatchObject({
    kind: 'MISSING_FIELD',
    message: `HubSpot returned 400: ${message}`,
  });
});

test('reports a malformed response as RETRYABLE for a read and as unknown outcome for a write', async () => {
  await using server = await startHubspotServer();
  server.failNext({ status: 200, body: '<html>Welcome to the proxy</html>' }, 2);
  const read = { objectName: 'contacts', fields: ['email'], pageSize: 1 };
  const readFailure = await catchFailure(readPage(createSession(server), read));
  expect(readFailure).toMatchObject({ kind: 'RETRYABLE', isOutcomeUnknown: false });
  const write = { type: 'CREATE', objectName: 'contacts', record: {} } as const;
  const writeFailure = await catchFailure(writeRecord(createSession(server), write));
  expect(writeFailure).toMatchObject({ kind: 'DISCONNECTED', isOutcomeUnknown: true });
});

async function readPages(server: HubspotServer, read: PageRead): Promise<RecordPage[]> {
  const pages: RecordPage[] = [];
  let { cursor } = read;
  do {
    const page = await readPage(createSession(server), { ...read, cursor });
    pages.push(page);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return pages;
}
