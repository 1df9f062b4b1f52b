/** Tests requests and responses of objects that differ from the other objects of their vendor. */
import { expect, test } from 'vitest';
import { createDeclarativeProvider } from '../../../src/providers/declarative/declarative-provider.ts';
import {
  type ServedRequest,
  type ServedResponse,
  startProviderServer,
} from '../../support/providers/provider-server.ts';
import { createPlainSession } from '../../support/providers/provider-session.ts';
import { getDeclaration } from '../../support/wire/declarations.ts';
import { isObject } from '../../support/wire/wire-format.ts';

function getProvider(name: string) {
  const { capabilities } = createDeclarativeProvider(getDeclaration(name));
  const { readPage, readRecords, writeRecord, describeObject } = capabilities;
  if (!readPage || !writeRecord) throw new Error(`${name} does not read and write`);
  return { readPage, readRecords, writeRecord, describeObject };
}

/** Starts a server that records its requests. */
async function startRecordingServer(response: (request: ServedRequest) => ServedResponse) {
  const requests: ServedRequest[] = [];
  const server = await startProviderServer((request) => {
    requests.push(request);
    return response(request);
  });
  return { server, requests };
}

test('requests the last 29 days of Zoom lists that cover at most a month', async () => {
  const { readPage } = getProvider('zoom');
  const { server, requests } = await startRecordingServer(({ path }) => ({
    status: 200,
    body:
      path === '/v2/users'
        ? { users: [{ id: 'u_1' }], next_page_token: '' }
        : { meetings: [{ uuid: 'a==', topic: 'Weekly' }], next_page_token: '' },
  }));
  await using _ = server;
  const read = { objectName: 'recordings', fields: ['topic'], pageSize: 10 };
  const now = () => new Date('2026-03-30T23:59:00Z');
  const page = await readPage(createPlainSession(server.url, {}, { now }), read);
  expect(page.records).toMatchObject([{ id: 'a==', fields: { topic: 'Weekly' } }]);
  const { path, query } = requests.at(-1) ?? {};
  expect(path).toBe('/v2/users/u_1/recordings');
  expect([query?.get('from'), query?.get('to')]).toEqual(['2026-03-01', '2026-03-30']);
});

test('creates a Klaviyo event, whose response has no record', async () => {
  const { writeRecord } = getProvider('klaviyo');
  const { server, requests } = await startRecordingServer(() => ({ status: 202 }));
  await using _ = server;
  const record = {
    properties: { total: 12 },
    metric: { data: { type: 'metric', attributes: { name: 'Placed order' } } },
  };
  const write = { type: 'CREATE', objectName: 'events', record } as const;
  const outcome = await writeRecord(createPlainSession(server.url), write);
  expect(outcome).toEqual({ success: true, recordId: null, data: null, errors: [] });
  expect(requests.map(({ method, path, body }) => ({ method, path, body }))).toEqual([
    {
      method: 'POST',
      path: '/api/events',
      body: { data: { type: 'event', attributes: record } },
    },
  ]);
});

test('sends the channel in every request for Klaviyo campaigns', async () => {
  const { readPage } = getProvider('klaviyo');
  const { server, requests } = await startRecordingServer(() => ({
    status: 200,
    body: { data: [], links: { next: null } },
  }));
  await using _ = server;
  const read = { objectName: 'campaigns', fields: ['name'], pageSize: 10 };
  await readPage(createPlainSession(server.url), read);
  await readPage(createPlainSession(server.url), {
    ...read,
    since: new Date('2026-01-01T00:00:00Z'),
  });
  expect(requests.map(({ query }) => [query.get('sort'), query.get('filter')])).toEqual([
    ['updated_at', "equals(messages.channel,'email')"],
    [
      'updated_at',
      "equals(messages.channel,'email'),greater-than(updated_at,2025-12-31T23:59:59Z)",
    ],
  ]);
});

test('sends relationships of Outreach next to the attributes, and reads them back', async () => {
  const { readPage, writeRecord } = getProvider('outreach');
  const relationships = { sequence: { data: { type: 'sequence', id: 3 } } };
  const storedRecord = {
    type: 'sequenceState',
    id: 7,
    attributes: { state: 'active' },
    relationships,
  };
  const { server, requests } = await startRecordingServer(({ method }) =>
    method === 'POST'
      ? { status: 201, body: { data: storedRecord } }
      : { status: 200, body: { data: [storedRecord], links: {} } },
  );
  await using _ = server;
  const session = createPlainSession(server.url);
  const outcome = await writeRecord(session, {
    type: 'CREATE',
    objectName: 'sequenceStates',
    record: { relationships, state: 'active' },
  });
  expect(outcome).toMatchObject({ success: true, recordId: '7' });
  expect(requests[0]?.body).toEqual({
    data: { type: 'sequenceState', attributes: { state: 'active' }, relationships },
  });
  const fields = ['state', 'relationships'];
  const page = await readPage(session, { objectName: 'sequenceStates', fields, pageSize: 10 });
  expect(page.records[0]?.fields).toEqual({ state: 'active', relationships });
});

test('lists project statuses of Linear without a filter, and creates one', async () => {
  const { readPage, writeRecord } = getProvider('linear');
  const status = { id: 's1', name: 'Paused', updatedAt: '2026-01-02T00:00:00.000Z' };
  const { server, requests } = await startRecordingServer(({ body }) => {
    const query = isObject(body) ? String(body.query) : '';
    if (query.startsWith('mutation')) {
      return { status: 200, body: { data: { projectStatusCreate: { success: true, status } } } };
    }
    const pageInfo = { hasNextPage: false, endCursor: null };
    return { status: 200, body: { data: { projectStatuses: { nodes: [status], pageInfo } } } };
  });
  await using _ = server;
  const session = createPlainSession(server.url);
  const read = { objectName: 'projectStatuses', fields: ['name'], pageSize: 10 };
  expect((await readPage(session, read)).records).toHaveLength(1);
  // The vendor can't filter project statuses, so the provider removes older records from the page.
  const laterRead = { ...read, since: new Date('2026-01-03T00:00:00Z') };
  expect((await readPage(session, laterRead)).records).toEqual([]);
  for (const { body } of requests) {
    expect(JSON.stringify(body)).not.toContain('filter');
  }
  const record = { name: 'Paused' };
  const outcome = await writeRecord(session, {
    type: 'CREATE',
    objectName: 'projectStatuses',
    record,
  });
  expect(outcome).toMatchObject({ success: true, recordId: 's1' });
});

test('reads archived deals of Pipedrive from their own list, and offers no writes of them', async () => {
  const { readPage, readRecords } = getProvider('pipedrive');
  const deal = { id: 7, title: 'Old', update_time: '2026-01-02T00:00:00Z', is_archived: true };
  const { server, requests } = await startRecordingServer(({ path }) => ({
    status: 200,
    body: {
      success: true,
      data: path === '/api/v2/deals/archived' ? [deal] : [],
      additional_data: { next_cursor: null },
    },
  }));
  await using _ = server;
  const session = createPlainSession(server.url);
  const read = { objectName: 'archived_deals', fields: ['title'] };
  const since = new Date('2026-01-01T00:00:00Z');
  const page = await readPage(session, { ...read, since, pageSize: 100 });
  const records = await readRecords?.(session, { ...read, ids: ['7'] });
  for (const found of [page.records, records]) {
    expect(found).toMatchObject([{ id: '7', fields: { title: 'Old' } }]);
  }
  expect(requests.map(({ query }) => [query.has('updated_since'), query.get('ids')])).toEqual([
    [true, null],
    [false, '7'],
  ]);
  const { commonObjects } = createDeclarativeProvider(getDeclaration('pipedrive'));
  const object = commonObjects?.find(({ name }) => name === 'archived_deals');
  expect(object?.supports).not.toContain('WRITE');
  expect(object?.supports).not.toContain('DELETE');
});

test('reads Pipedrive leads by version 1 of its API, with the fields of deals', async () => {
  const { readPage, describeObject } = getProvider('pipedrive');
  const hex = 'a'.repeat(40);
  const lead = { id: 'l-1', title: 'Acme', [hex]: 'gold', update_time: '2026-01-02T00:00:00.000Z' };
  const { server, requests } = await startRecordingServer(({ path }) => ({
    status: 200,
    body:
      path === '/v1/leads'
        ? { success: true, data: [lead], additional_data: { more_items_in_collection: false } }
        : {
            success: true,
            data: [{ field_code: hex, field_name: 'Tier', field_type: 'varchar' }],
          },
  }));
  await using _ = server;
  const session = createPlainSession(server.url);
  const since = new Date('2026-01-01T00:00:00Z');
  const read = { objectName: 'leads', fields: ['title', hex], pageSize: 10, since };
  expect(await readPage(session, read)).toMatchObject({
    records: [{ id: 'l-1', fields: { title: 'Acme', [hex]: 'gold' } }],
    nextCursor: null,
  });
  expect(Object.fromEntries(requests[0]?.query ?? [])).toMatchObject({
    start: '0',
    sort: 'update_time ASC',
    // Whether the vendor returns records that changed at exactly this time is not documented for all lists.
    updated_since: '2025-12-31T23:59:59Z',
  });
  const description = await describeObject?.(session, 'leads');
  expect(description?.fields.map(({ fieldName }) => fieldName)).toContain(hex);
});
