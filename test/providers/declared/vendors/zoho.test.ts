/** Tests Zoho's limits: fields of a request, records of a page token, and fields that lists don't return. */
import { expect, test } from 'vitest';
import { createDeclarativeProvider } from '../../../../src/providers/declarative/declarative-provider.ts';
import { zoho } from '../../../../src/providers/declared/crm/zoho.ts';
import type { PageRead, ProviderRecord } from '../../../../src/providers/moving-records.ts';
import type { ServedRequest } from '../../../support/providers/provider-server.ts';
import { createPlainSession } from '../../../support/providers/provider-session.ts';
import { startVendorServer, type VendorServer } from '../../../support/wire/vendor-server.ts';
import { createZoho } from '../../../support/wire/vendors/crm/zoho-wire.ts';
import { BEARER } from '../../../support/wire/wire-format.ts';
import { atMinute, catchFailure } from '../../contract-subject.ts';

const { readPage, readRecords } = getCapabilities();

function getCapabilities() {
  const { capabilities } = createDeclarativeProvider(zoho);
  return capabilities as Required<typeof capabilities>;
}

const startZoho = (recordsMax = 100_000) => startVendorServer(createZoho(recordsMax).fixture);

async function readAll(server: VendorServer, read: PageRead): Promise<ProviderRecord[]> {
  const records: ProviderRecord[] = [];
  let { cursor } = read;
  do {
    const page = await readPage(createPlainSession(server.url, BEARER), { ...read, cursor });
    records.push(...page.records);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return records;
}

const FIELDS = Array.from({ length: 60 }, (_, n) => `Field_${n}`);
const VALUES = Object.fromEntries(FIELDS.map((name) => [name, `${name} of the record`]));
const READ = { objectName: 'Leads', fields: FIELDS, pageSize: 200 };

function countFields({ query }: ServedRequest): number | undefined {
  return query.get('fields')?.split(',').length;
}

test('reads 60 fields by requests of at most 50', async () => {
  await using server = await startZoho();
  for (let n = 0; n < 150; n += 1) server.store.create({ ...VALUES }, atMinute(n));
  const records = await readAll(server, READ);
  expect(records).toHaveLength(150);
  for (const { fields, raw } of records) {
    expect(fields).toEqual(VALUES);
    expect(raw).toMatchObject(VALUES);
  }
  const requests = server.requests.filter((request) => countFields(request) !== undefined);
  expect(requests.map(countFields)).toEqual([50, 12, 12]);
  expect(requests.map(({ query }) => query.get('ids')?.split(',').length)).toEqual([
    undefined,
    100,
    50,
  ]);
});

test('reads 60 fields of records by id', async () => {
  await using server = await startZoho();
  const ids = Array.from({ length: 120 }, () =>
    String(server.store.create({ ...VALUES }, atMinute(0)).id),
  );
  const session = createPlainSession(server.url, BEARER);
  const records = await readRecords(session, { objectName: 'Leads', fields: FIELDS, ids });
  expect(records.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  for (const { fields } of records) expect(fields).toEqual(VALUES);
});

test('returns the values of one version if a record changes between the requests', async () => {
  const { fixture } = createZoho(100_000);
  let requestsSeen = 0;
  await using server = await startVendorServer({
    ...fixture,
    override: (request, store) => {
      if (!request.query.has('ids')) return undefined;
      requestsSeen += 1;
      const [record] = store.records;
      // The record changes after the page was read, and again before its other fields are read.
      if (!record || requestsSeen > 2) return undefined;
      Object.assign(record.values, toVersion(requestsSeen));
      record.changedAt = atMinute(requestsSeen);
      return undefined;
    },
  });
  const toVersion = (n: number) => Object.fromEntries(FIELDS.map((name) => [name, `${name} ${n}`]));
  server.store.create(toVersion(0), atMinute(0));
  const [record] = await readAll(server, READ);
  expect(record?.fields).toEqual(toVersion(2));
});

test('reads 60 fields of a custom module', async () => {
  const { fixture } = createZoho(100_000);
  const path = '/crm/v8/Solar_Panels';
  const { object } = fixture;
  await using server = await startVendorServer({
    ...fixture,
    object: {
      ...object,
      lists: object.lists.map((list) => ({ ...list, path })),
      ...(object.fetchMany && { fetchMany: { ...object.fetchMany, path } }),
    },
  });
  server.store.create({ ...VALUES }, atMinute(0));
  const [record] = await readAll(server, { ...READ, objectName: 'Solar_Panels' });
  expect(record?.fields).toEqual(VALUES);
});

test('returns null for an empty field, and omits a field that a list does not return', async () => {
  await using server = await startZoho();
  server.store.create({ Last_Name: null, Items: [{ id: '1', Price: 5 }] }, atMinute(0));
  const [record] = await readAll(server, { ...READ, fields: ['id', 'Last_Name', 'Items'] });
  expect(record?.fields).toEqual({ id: record?.id, Last_Name: null });
});

test('reads more records than a page token returns', async () => {
  await using server = await startZoho(20);
  const ids = Array.from({ length: 95 }, (_, n) =>
    String(server.store.create({ Last_Name: 'Ada' }, atMinute(n)).id),
  );
  const records = await readAll(server, { ...READ, fields: ['Last_Name'], pageSize: 10 });
  expect(records.map(({ id }) => id)).toEqual(ids);
});

test('reads records that changed in the same second by page tokens', async () => {
  await using server = await startZoho();
  const ids = Array.from({ length: 45 }, (_, n) =>
    String(server.store.create({ Last_Name: 'Ada' }, atMinute(n < 35 ? 1 : 2)).id),
  );
  const records = await readAll(server, { ...READ, fields: ['Last_Name'], pageSize: 10 });
  expect(records.map(({ id }) => id).toSorted()).toEqual(ids);
});

test.each([
  ['EXPIRED_VALUE', 'Page token expired'],
  ['TOKEN_BOUND_DATA_MISMATCH', 'The page_token given seems to be invalid'],
])('throws CURSOR_GONE after %s', async (code, message) => {
  await using server = await startZoho();
  for (let n = 0; n < 3; n += 1) server.store.create({ Last_Name: 'Ada' }, atMinute(1));
  const read = { ...READ, fields: ['Last_Name'], pageSize: 2 };
  const session = createPlainSession(server.url, BEARER);
  const { nextCursor } = await readPage(session, read);
  server.failNext({ status: 400, body: { code, message, details: {}, status: 'error' } });
  const failure = catchFailure(readPage(session, { ...read, cursor: nextCursor ?? '' }));
  expect((await failure).kind).toBe('CURSOR_GONE');
});

test.each([400, 429])('retries later after TOO_MANY_REQUESTS with status %i', async (status) => {
  await using server = await startZoho();
  server.failNext({ status, body: { code: 'TOO_MANY_REQUESTS', status: 'error' } });
  const session = createPlainSession(server.url, BEARER);
  expect((await catchFailure(readPage(session, READ))).kind).toBe('RATE_LIMITED');
});
