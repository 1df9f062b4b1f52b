/** Tests Notion's limits: 25 items of a property, 10,000 results of a query, and times in minutes. */
import { expect, test } from 'vitest';
import { createDeclarativeProvider } from '../../../../src/providers/declarative/declarative-provider.ts';
import type { PageRead } from '../../../../src/providers/moving-records.ts';
import {
  type ServedResponse,
  startProviderServer,
} from '../../../support/providers/provider-server.ts';
import { createPlainSession } from '../../../support/providers/provider-session.ts';
import { getDeclaration } from '../../../support/wire/declarations.ts';
import { startVendorServer } from '../../../support/wire/vendor-server.ts';
import { getWire } from '../../../support/wire/vendors/all.ts';
import { isObject } from '../../../support/wire/wire-format.ts';
import { atMinute } from '../../contract-subject.ts';

const { objectName, fixture } = getWire('notion');
const RELATED_IDS = Array.from({ length: 130 }, (_, n) => `related-${n}`);

function getProvider() {
  const { readPage, readRecords } = createDeclarativeProvider(
    getDeclaration('notion'),
  ).capabilities;
  if (!readPage || !readRecords) throw new Error('notion does not read');
  return { readPage, readRecords };
}

async function readAllIds(url: string, read: Partial<PageRead> = {}): Promise<string[]> {
  const { readPage } = getProvider();
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await readPage(createPlainSession(url), {
      objectName,
      fields: [],
      pageSize: 10,
      cursor,
      ...read,
    });
    ids.push(...page.records.map(({ id }) => id));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return ids;
}

test('reads all items of a selected property, and no items of others', async () => {
  const { readPage, readRecords } = getProvider();
  await using server = await startVendorServer(fixture);
  const id = String(server.store.create({ title: 'a' }, atMinute(0)).id);
  const session = createPlainSession(server.url, fixture.headers);
  const read = { objectName, fields: ['Related', 'title'], pageSize: 10 };
  const { records } = await readPage(session, read);
  expect(records[0]?.fields).toEqual({ Related: RELATED_IDS, title: 'a' });
  expect(records[0]?.raw).toMatchObject({ properties: { Related: { has_more: false } } });
  const [record] = await readRecords(session, { objectName, fields: ['Related'], ids: [id] });
  expect(record?.fields).toEqual({ Related: RELATED_IDS });
  const requestCount = server.requests.length;
  await readPage(session, { ...read, fields: ['title'] });
  expect(server.requests).toHaveLength(requestCount + 1);
});

test('decodes an empty list as a list, and empty rich text as a string', async () => {
  const properties = {
    Related: { id: 'a', type: 'relation', relation: [], has_more: false },
    People: { id: 'b', type: 'people', people: [] },
    Tags: { id: 'c', type: 'multi_select', multi_select: [] },
    Files: { id: 'd', type: 'files', files: [] },
    Rollup: { id: 'e', type: 'rollup', rollup: { type: 'array', array: [] } },
    Text: { id: 'f', type: 'rich_text', rich_text: [] },
    Title: { id: 'title', type: 'title', title: [] },
  };
  const record = { id: 'p1', last_edited_time: '2026-01-01T00:00:00.000Z', properties };
  await using server = await startProviderServer(() => ({
    status: 200,
    body: { results: [record], next_cursor: null, has_more: false },
  }));
  const { readPage } = getProvider();
  const read = { objectName, fields: Object.keys(properties), pageSize: 10 };
  const { records } = await readPage(createPlainSession(server.url), read);
  expect(records[0]?.fields).toEqual({
    Related: [],
    People: [],
    Tags: [],
    Files: [],
    Rollup: [],
    Text: '',
    Title: '',
  });
});

interface Row {
  id: string;
  last_edited_time: string;
}

/** Serves rows, but at most `resultsMax` for one query, as the vendor does with 10,000. */
function serveRows(rows: Row[], resultsMax: number, body: unknown): ServedResponse {
  const query = isObject(body) ? body : {};
  const filter = isObject(query.filter) && Array.isArray(query.filter.and) ? query.filter.and : [];
  const since = filter[0]?.last_edited_time?.on_or_after ?? '';
  const matches = rows.filter((row) => row.last_edited_time >= since);
  const from = Number(query.start_cursor ?? 0);
  const to = from + Number(query.page_size);
  const results = matches.slice(0, resultsMax).slice(from, to);
  const hasMore = to < Math.min(matches.length, resultsMax);
  return {
    status: 200,
    body: {
      results,
      next_cursor: hasMore ? String(to) : null,
      has_more: hasMore,
      request_status: { type: matches.length > resultsMax ? 'incomplete' : 'complete' },
    },
  };
}

const toRow = (n: number, minute: number): Row => ({
  id: `p${n}`,
  last_edited_time: atMinute(minute).toISOString(),
});

test('reads a data source with more rows than one query returns', async () => {
  const rows = Array.from({ length: 95 }, (_, n) => toRow(n, Math.floor(n / 3)));
  await using server = await startProviderServer(({ body }) => serveRows(rows, 30, body));
  expect(await readAllIds(server.url)).toEqual(rows.map(({ id }) => id));
});

test('fails if one query cannot return all rows of a minute', async () => {
  const rows = Array.from({ length: 40 }, (_, n) => toRow(n, 0));
  await using server = await startProviderServer(({ body }) => serveRows(rows, 30, body));
  await expect(readAllIds(server.url)).rejects.toMatchObject({
    kind: 'BAD_REQUEST',
    message: 'The vendor returns only some of the matching records',
  });
});

test('yields the results of a list for the proxy, and then fails if the vendor omits others', async () => {
  const { listPages } = createDeclarativeProvider(getDeclaration('notion')).capabilities;
  const rows = Array.from({ length: 40 }, (_, n) => toRow(n, n));
  await using server = await startProviderServer(({ body }) => serveRows(rows, 30, body));
  const pages = listPages?.(createPlainSession(server.url), {
    path: '/v1/data_sources/d1/query',
    query: {},
    body: { page_size: 20 },
  });
  const ids: unknown[] = [];
  const readPages = async () => {
    for await (const page of pages ?? []) ids.push(...page.map(({ id }) => id));
  };
  await expect(readPages()).rejects.toMatchObject({
    kind: 'BAD_REQUEST',
    message: 'The vendor returns only some of the matching records',
  });
  expect(ids).toEqual(rows.slice(0, 30).map(({ id }) => id));
});

test('reads all results of the first minute of a window, which truncated times precede', async () => {
  const minutes = [5, 5, 5, 1];
  const rows = minutes.map((minute, n) => toRow(n, minute));
  await using server = await startProviderServer(({ body }) => serveRows(rows, 100, body));
  const since = new Date(atMinute(5).getTime() + 30_000);
  const ids = await readAllIds(server.url, { objectName: 'pages', pageSize: 1, since });
  expect(ids).toEqual(['p0', 'p1', 'p2']);
});

test('waits if the vendor is overloaded', async () => {
  await using server = await startProviderServer(() => ({
    status: 529,
    body: { object: 'error', status: 529, code: 'service_overload', message: 'Try again later' },
  }));
  await expect(readAllIds(server.url)).rejects.toMatchObject({
    kind: 'RATE_LIMITED',
    retryAfterMs: 60_000,
  });
});
