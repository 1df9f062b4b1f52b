import { expect, test } from 'vitest';
import { listCapabilities } from '../../src/providers/contract.ts';
import type { ProviderErrorKind } from '../../src/providers/provider-error.ts';
import {
  createSalesforceJwtProvider,
  createSalesforceProvider,
} from '../../src/providers/salesforce/salesforce-provider.ts';
import { createPlainSession } from '../support/providers/provider-session.ts';
import {
  createSalesforceFailure,
  type SalesforceServer,
  startSalesforceServer,
} from '../support/providers/salesforce-server.ts';
import { type ContractSubject, testProviderContract } from './contract.ts';
import { atMinute, catchFailure, indexByName } from './contract-subject.ts';

const ACCESS_TOKEN = 'salesforce-token';
const { describeObject, readPage, writeRecord, writeBatch, deleteRecord } = getCapabilities();

for (const createProvider of [createSalesforceProvider, createSalesforceJwtProvider]) {
  testProviderContract(createProvider().name, () => createSubject(createProvider));
}

async function createSubject(
  createProvider: typeof createSalesforceProvider,
): Promise<ContractSubject> {
  const server = await startSalesforceServer({ token: ACCESS_TOKEN });
  return {
    provider: createProvider({ baseUrl: server.url }),
    session: createSession(server),
    secret: ACCESS_TOKEN,
    objectName: 'Account',
    textField: 'name',
    createValidRecord: (text) => ({ name: text }),
    invalidRecord: { website: 'https://example.com' },
    missingId: '001000000000999AAA',
    pageSizeMin: 200,
    hasChangeTimes: true,
    newFieldName: 'Hobby__c',
    countRecords: () => server.store.listRecords('Account').length,
    storeRecords: (records) =>
      records.map(({ record, changedAt }) => server.store.create('Account', record, { changedAt })),
    failRequests: (fault) => {
      if (fault === 'DROPPED_CONNECTION') return server.failNext(fault, Infinity);
      const headers = 'retryAfterSeconds' in fault && {
        'retry-after': `${fault.retryAfterSeconds}`,
      };
      server.failNext(createSalesforceFailure(fault.status, { ...headers }), Infinity);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function getCapabilities() {
  const { capabilities } = createSalesforceProvider();
  return capabilities as Required<typeof capabilities>;
}

function createSession(server: SalesforceServer) {
  return createPlainSession(server.url, { authorization: `Bearer ${ACCESS_TOKEN}` });
}

test('uses the host of the org, or the given base URL for all requests', () => {
  expect(createSalesforceProvider()).toMatchObject({
    baseUrl: 'https://{{workspace}}.my.salesforce.com',
    workspaceRequired: true,
    oauth2: {
      authorizeUrl: 'https://{{workspace}}.my.salesforce.com/services/oauth2/authorize',
      tokenUrl: 'https://{{workspace}}.my.salesforce.com/services/oauth2/token',
      sharedLogin: {
        authorizeUrl: 'https://login.salesforce.com/services/oauth2/authorize',
        tokenUrl: 'https://login.salesforce.com/services/oauth2/token',
      },
      authorizeParams: { prompt: 'login' },
      tokenFields: { workspaceRef: 'instance_url', consumerRef: 'id', scopes: 'scope' },
    },
  });
  expect(createSalesforceProvider({ baseUrl: 'http://127.0.0.1:9/' })).toMatchObject({
    baseUrl: 'http://127.0.0.1:9',
    oauth2: {
      authorizeUrl: 'http://127.0.0.1:9/services/oauth2/authorize',
      tokenUrl: 'http://127.0.0.1:9/services/oauth2/token',
    },
  });
});

test('has the same objects and capabilities with each way to sign in', () => {
  const { oauth2: _, modules: salesforceModules, ...salesforce } = createSalesforceProvider();
  const { custom, modules, ...withJwt } = createSalesforceJwtProvider();
  expect(listCapabilities(withJwt)).toEqual(listCapabilities(salesforce));
  expect(withJwt).toMatchObject({ features: salesforce.features, limits: salesforce.limits });
  expect(modules).toEqual(salesforceModules?.slice(0, 1));
  expect(custom?.grant).toMatchObject({
    tokenUrl: 'https://{{workspace}}.my.salesforce.com/services/oauth2/token',
  });
});

test('selects each column once, between times with milliseconds', async () => {
  await using server = await startSalesforceServer();
  await readPage(createSession(server), {
    objectName: 'Account',
    fields: ['id', 'name', 'Name', "$['BillingAddress']['Street']", 'BillingAddress.Street'],
    since: atMinute(0),
    until: new Date(atMinute(1).getTime() + 7),
    pageSize: 1,
  });
  expect(server.requests[0]).toMatchObject({
    method: 'GET',
    path: '/services/data/v60.0/query',
    headers: { 'sforce-query-options': 'batchSize=200' },
  });
  expect(server.requests[0]?.query.get('q')).toBe(
    'SELECT id,Name,BillingStreet FROM Account' +
      ' WHERE SystemModstamp >= 2026-01-01T12:00:00.000Z' +
      ' AND SystemModstamp <= 2026-01-01T12:01:00.007Z',
  );
});

test('selects only records that meet the filters, whatever their characters', async () => {
  await using server = await startSalesforceServer();
  const Name = "O'Neill \\ Sons = 1";
  server.store.create('Account', { Name });
  server.store.create('Account', { Name: 'Other' });
  const { records } = await readPage(createSession(server), {
    objectName: 'Account',
    fields: ['name'],
    filters: [{ fieldName: 'Name', value: Name }],
    pageSize: 1,
  });
  expect(records.map(({ fields }) => fields)).toEqual([{ name: Name }]);
  const query = (value: string | number | boolean) =>
    readPage(createSession(server), {
      objectName: 'Account',
      fields: [],
      filters: [{ fieldName: 'Name', value }],
      pageSize: 1,
    });
  await query(true);
  await query(7);
  expect(
    server.requests.map(({ query: parameters }) => parameters.get('q')?.split(' WHERE ')[1]),
  ).toEqual(["Name = 'O\\'Neill \\\\ Sons = 1'", 'Name = true', 'Name = 7']);
});

test('returns values under the requested names', async () => {
  await using server = await startSalesforceServer();
  const accountId = server.store.create('Account', { Name: 'Acme', BillingStreet: 'High St' });
  server.store.create('Contact', { LastName: 'Ada', AccountId: accountId });
  const contacts = await readPage(createSession(server), {
    objectName: 'contact',
    fields: ['lastname', 'account.name', "$['Account']['Name']", 'EMAIL'],
    pageSize: 200,
  });
  expect(contacts).toMatchObject({ estimatedTotal: 1, nextCursor: null });
  expect(contacts.records[0]?.fields).toEqual({
    lastname: 'Ada',
    'account.name': 'Acme',
    "$['Account']['Name']": 'Acme',
    EMAIL: null,
  });
  expect(contacts.records[0]?.raw).toMatchObject({
    attributes: { type: 'Contact' },
    Account: { Name: 'Acme' },
  });
  const fields = ['BillingAddress.Street'];
  const accounts = await readPage(createSession(server), {
    objectName: 'Account',
    fields,
    pageSize: 1,
  });
  expect(accounts.records[0]?.fields).toEqual({ 'BillingAddress.Street': 'High St' });
});

test.each([
  ['an object with a condition', { objectName: 'Account WHERE Name != null' }, 'MISSING_OBJECT'],
  ['an object with a path', { objectName: '../query' }, 'MISSING_OBJECT'],
  ['a field with a condition', { fields: ['Name FROM User WHERE Id != null'] }, 'MISSING_FIELD'],
  ['a subquery', { fields: ['(SELECT Id FROM Contacts)'] }, 'MISSING_FIELD'],
  ['several fields in brackets', { fields: ["$['Name'], Phone, $['Id']"] }, 'MISSING_FIELD'],
  ['a field without a name', { fields: [''] }, 'MISSING_FIELD'],
  ['a field with a long path', { fields: ['a.b.c.d.e.f.g'] }, 'MISSING_FIELD'],
  [
    'a cursor with a query',
    { cursor: '/services/data/v60.0/query/01g0-1?q=SELECT' },
    'CURSOR_GONE',
  ],
  ['a cursor of another host', { cursor: 'https://evil.example/services/data' }, 'CURSOR_GONE'],
])('sends no request to read %s', async (_, override, kind) => {
  await using server = await startSalesforceServer();
  const read = { objectName: 'Account', fields: ['Name'], pageSize: 200, ...override };
  expect((await catchFailure(readPage(createSession(server), read))).kind).toBe(kind);
  expect(server.requests).toEqual([]);
});

test('throws CURSOR_GONE if Salesforce has forgotten the query', async () => {
  await using server = await startSalesforceServer();
  const cursor = '/services/data/v60.0/query/01g99-200';
  const read = { objectName: 'Account', fields: ['Name'], pageSize: 200, cursor };
  expect((await catchFailure(readPage(createSession(server), read))).kind).toBe('CURSOR_GONE');
});

test('forwards the headers of a write, except those that would change the request', async () => {
  await using server = await startSalesforceServer();
  server.store.create('Contact', { LastName: 'Ada', Email: 'ada@example.com' });
  const record = { LastName: 'Ada', Email: 'ada@example.com' };
  const write = { type: 'CREATE', objectName: 'Contact', record } as const;
  expect(await writeRecord(createSession(server), write)).toEqual({
    success: false,
    recordId: null,
    data: null,
    errors: ['Use one of these records? (DUPLICATES_DETECTED)'],
  });
  const headers = [{ key: 'Sforce-Duplicate-Rule-Header', value: 'allowSave=true' }];
  expect(await writeRecord(createSession(server), { ...write, headers })).toMatchObject({
    success: true,
    data: null,
  });
  const batch = { ...write, records: [{ record }], allOrNone: false, headers };
  expect(await writeBatch(createSession(server), batch)).toMatchObject([
    { success: true, data: null },
  ]);

  server.requests.length = 0;
  for (const key of ['Authorization', 'HOST', 'content-type', 'Content-Length', 'Cookie', 'a b']) {
    const forbidden = { ...write, headers: [{ key, value: 'mine' }] };
    expect((await catchFailure(writeRecord(createSession(server), forbidden))).kind).toBe(
      'BAD_REQUEST',
    );
  }
  const splitHeader = [{ key: 'x-note', value: 'a\r\nauthorization: mine' }];
  const removal = { objectName: 'Contact', id: '003000000000001AAA', headers: splitHeader };
  expect((await catchFailure(deleteRecord(createSession(server), removal))).kind).toBe(
    'BAD_REQUEST',
  );
  expect(server.requests).toEqual([]);
});

test('updates a record by POST, which every proxy passes', async () => {
  await using server = await startSalesforceServer();
  const id = server.store.create('Account', { Name: 'Acme' });
  const record = { id, Name: 'Acme Ltd' };
  const write = { type: 'UPDATE', objectName: 'Account', record } as const;
  expect(await writeRecord(createSession(server), write)).toMatchObject({
    success: true,
    data: null,
  });
  expect(server.requests[0]).toMatchObject({ method: 'POST', body: { Name: 'Acme Ltd' } });
  expect(server.requests[0]?.query.get('_HttpMethod')).toBe('PATCH');
});

test('rolls back an all-or-none update, and returns a reason for each record', async () => {
  await using server = await startSalesforceServer();
  const id = server.store.create('Account', { Name: 'Acme' });
  const outcomes = await writeBatch(createSession(server), {
    type: 'UPDATE',
    objectName: 'Account',
    records: [{ record: { id, Name: 'Changed' } }, { record: { Name: 'No id' } }],
    allOrNone: true,
  });
  expect(outcomes).toEqual([
    {
      success: false,
      recordId: id,
      data: null,
      errors: [
        'Record rolled back because not all records were valid (ALL_OR_NONE_OPERATION_ROLLED_BACK)',
      ],
    },
    {
      success: false,
      recordId: null,
      data: null,
      errors: ['Id not specified in an update call (MISSING_ARGUMENT)'],
    },
  ]);
  expect(server.store.listRecords('Account')[0]).toMatchObject({ Name: 'Acme' });
});

test("writes only records of the batch's object", async () => {
  await using server = await startSalesforceServer();
  const record = { Name: 'Acme', attributes: { type: 'Contact' } };
  const batch = { type: 'CREATE', objectName: 'Account', allOrNone: false } as const;
  await writeBatch(createSession(server), { ...batch, records: [{ record }] });
  expect(server.store.listRecords('Account')).toHaveLength(1);
});

test('maps Salesforce field types to value types', async () => {
  await using server = await startSalesforceServer();
  const account = await describeObject(createSession(server), 'Account');
  expect(account).toMatchObject({ name: 'Account', displayName: 'Account' });
  const fields = indexByName(account.fields);
  const types = Object.entries(fields).map(([name, field]) => [name, field.valueType]);
  expect(Object.fromEntries(types)).toEqual({
    id: 'STRING',
    systemmodstamp: 'DATETIME',
    name: 'STRING',
    description: 'STRING',
    website: 'STRING',
    phone: 'STRING',
    billingaddress: 'OTHER',
    billingstreet: 'STRING',
    industry: 'SINGLE_SELECT',
    salutation: 'SINGLE_SELECT',
    regions__c: 'MULTI_SELECT',
    active__c: 'BOOLEAN',
    founded__c: 'DATE',
    numberofemployees: 'INT',
    score__c: 'FLOAT',
    annualrevenue: 'FLOAT',
    margin__c: 'FLOAT',
    ownerid: 'REFERENCE',
    serial__c: 'STRING',
    total__c: 'FLOAT',
  });
  expect(fields.regions__c).toEqual({
    fieldName: 'regions__c',
    displayName: 'Regions__c label',
    valueType: 'MULTI_SELECT',
    providerType: 'multipicklist',
    readOnly: false,
    isCustom: true,
    isRequired: false,
    values: [
      { value: 'North', displayValue: 'North label' },
      { value: 'South', displayValue: 'South label' },
    ],
    referenceTo: null,
  });
  expect(fields.ownerid).toMatchObject({ referenceTo: ['User', 'Group'], values: null });
});

test('describes read-only and required fields as Salesforce does', async () => {
  await using server = await startSalesforceServer();
  const { fields } = await describeObject(createSession(server), 'Account');
  const listFields = (flag: 'readOnly' | 'isRequired') =>
    fields.filter((field) => field[flag]).map(({ fieldName }) => fieldName);
  expect(listFields('isRequired')).toEqual(['name']);
  expect(listFields('readOnly')).toEqual([
    'id',
    'systemmodstamp',
    'billingaddress',
    'serial__c',
    'total__c',
  ]);
});

test('describes generated values as read-only and not required', async () => {
  await using server = await startSalesforceServer();
  const flags = { createable: true, updateable: true, nillable: false };
  const fields = [
    { name: 'Number__c', type: 'string', autoNumber: true, ...flags },
    { name: 'Formula__c', type: 'double', calculated: true, ...flags },
    { name: 'Given__c', type: 'string', ...flags },
  ];
  const body = { name: 'Invoice__c', fields };
  const describeResponse = { body, httpHeaders: {}, httpStatusCode: 200, referenceId: 'describe' };
  server.failNext({ status: 200, body: { compositeResponse: [describeResponse] } });
  const description = await describeObject(createSession(server), 'Invoice__c');
  expect(description.fields).toMatchObject([
    { fieldName: 'number__c', readOnly: true, isRequired: false },
    { fieldName: 'formula__c', readOnly: true, isRequired: false },
    { fieldName: 'given__c', readOnly: false, isRequired: true },
  ]);
});

test.each<[number, string, ProviderErrorKind]>([
  [401, 'INVALID_SESSION_ID', 'AUTH_INVALIDATED'],
  [400, 'INVALID_GRANT', 'AUTH_INVALIDATED'],
  [403, 'API_DISABLED_FOR_ORG', 'API_DISABLED'],
  [403, 'REQUEST_LIMIT_EXCEEDED', 'RATE_LIMITED'],
  [400, 'UNABLE_TO_LOCK_ROW', 'RETRYABLE'],
  [400, 'INVALID_QUERY_LOCATOR', 'CURSOR_GONE'],
  [400, 'INVALID_TYPE', 'BAD_REQUEST'],
  [400, 'MALFORMED_QUERY', 'BAD_REQUEST'],
  [503, 'SERVER_UNAVAILABLE', 'SERVER_ERROR'],
])('maps a %i %s to %s', async (status, errorCode, kind) => {
  await using server = await startSalesforceServer();
  server.failNext({ status, body: [{ message: 'In words', errorCode }] });
  const read = { objectName: 'Account', fields: ['Name'], pageSize: 200 };
  expect(await catchFailure(readPage(createSession(server), read))).toMatchObject({
    kind,
    status,
    message: `Salesforce returned ${status}: In words (${errorCode})`,
  });
});

test('reports a missing field when a query contains an unknown one', async () => {
  await using server = await startSalesforceServer();
  const read = { objectName: 'Account', fields: ['Nope'], pageSize: 200 };
  expect(await catchFailure(readPage(createSession(server), read))).toMatchObject({
    kind: 'MISSING_FIELD',
    message: expect.stringContaining("No such column 'Nope'"),
  });
});

test('throws if a write fails for a reason other than its record', async () => {
  await using server = await startSalesforceServer();
  const write = { type: 'CREATE', objectName: 'Account', record: { Name: 'Acme' } } as const;
  server.failNext({ status: 400, body: [{ message: 'row', errorCode: 'UNABLE_TO_LOCK_ROW' }] });
  expect(await catchFailure(writeRecord(createSession(server), write))).toMatchObject({
    kind: 'RETRYABLE',
    isOutcomeUnknown: false,
  });
  server.failNext({ status: 503, body: '<html>Down for maintenance</html>' });
  expect(await catchFailure(writeRecord(createSession(server), write))).toMatchObject({
    kind: 'SERVER_ERROR',
    isOutcomeUnknown: true,
  });
});

test('reports a malformed response as RETRYABLE for a read and as unknown outcome for a write', async () => {
  await using server = await startSalesforceServer();
  const read = { objectName: 'Account', fields: ['Name'], pageSize: 200 };
  const nextRecordsUrl = 'https://evil.example/services/data/v60.0/query/01g0-1';
  server.failNext({
    status: 200,
    body: { totalSize: 1, done: false, nextRecordsUrl, records: [] },
  });
  expect((await catchFailure(readPage(createSession(server), read))).kind).toBe('RETRYABLE');
  const batch = { type: 'CREATE', objectName: 'Account', allOrNone: false } as const;
  const records = [{ record: { Name: 'one' } }, { record: { Name: 'two' } }];
  // The single outcome can't be assigned to one of the two records.
  server.failNext({ status: 200, body: [{ success: true, id: '001000000000001AAA' }] });
  const writeFailure = await catchFailure(writeBatch(createSession(server), { ...batch, records }));
  expect(writeFailure).toMatchObject({ kind: 'DISCONNECTED', isOutcomeUnknown: true });
});

test('classifies the failure of a request within a composite', async () => {
  await using server = await startSalesforceServer();
  const { status: httpStatusCode, body } = createSalesforceFailure(401);
  const compositeResponse = [{ body, httpHeaders: {}, httpStatusCode, referenceId: 'describe' }];
  server.failNext({ status: 200, body: { compositeResponse } });
  const failure = await catchFailure(describeObject(createSession(server), 'Account'));
  expect(failure).toMatchObject({ kind: 'AUTH_INVALIDATED', status: 401 });
});
