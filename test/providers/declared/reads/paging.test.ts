/**
 * Tests that a read returns each record once, for every list, page size and kind of paging.
 *
 * @module-tag all/walk
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Capabilities, ProviderSession } from '../../../../src/providers/contract.ts';
import type { RecordPage } from '../../../../src/providers/moving-records.ts';
import { createPlainSession } from '../../../support/providers/provider-session.ts';
import {
  byCursor,
  byLastId,
  byLink,
  byNextUrl,
  byOffset,
  byPage,
  type Page,
} from '../../../support/wire/paging.ts';
import { startVendorServer, type VendorFixture } from '../../../support/wire/vendor-server.ts';
import { atMinute, catchFailure } from '../../contract-subject.ts';
import { createThingsProvider, type ListDeclaration, POSITION } from '../things.ts';

type Paging = ListDeclaration['paging'];
type OtherMembers = Omit<Partial<ListDeclaration>, 'paging' | 'pageSize'>;

const SIZE = { name: 'size', fallback: 10, max: 50 };

/** Each kind of paging: its implementation by a vendor's server, and its declaration. */
const PAGING_KINDS: [name: string, page: Page, paging: Paging, list?: OtherMembers][] = [
  ['cursor', byCursor(SIZE, 'at'), { kind: 'cursor', parameter: POSITION, next: '/next' }],
  ['next URL', byNextUrl(byCursor(SIZE, 'at'), 'at'), { kind: 'nextUrl', next: '/next' }],
  ['Link header', byLink(byPage(SIZE, 'at'), 'at'), { kind: 'link' }],
  ['offset', byOffset(SIZE, 'at'), { kind: 'offset', parameter: POSITION }],
  [
    'offset with a flag',
    byOffset(SIZE, 'at'),
    { kind: 'offset', parameter: POSITION, hasMore: '/more' },
  ],
  [
    'offset with a total',
    byOffset(SIZE, 'at'),
    { kind: 'offset', parameter: POSITION },
    { total: '/total' },
  ],
  [
    'offset with short pages',
    shortenPages(byOffset(SIZE, 'at')),
    { kind: 'offset', parameter: POSITION },
  ],
  ['page number', byPage(SIZE, 'at'), { kind: 'page', parameter: POSITION }],
  [
    'page number with a flag',
    byPage(SIZE, 'at'),
    { kind: 'page', parameter: POSITION, hasMore: '/more' },
  ],
  ['last id', byLastId(SIZE, 'at'), { kind: 'lastId', parameter: POSITION }],
];

/** Removes the last record from each page of more than two records. */
function shortenPages(page: Page): Page {
  return (...request) => {
    const slice = page(...request);
    const length = Math.max(slice.records.length - 1, 2);
    return { ...slice, records: slice.records.slice(0, length) };
  };
}

function createFixture(page: Page): VendorFixture {
  return {
    createId: (n) => n,
    headers: {},
    toErrorBody: (_status, message) => ({ message }),
    findValueError: () => null,
    object: {
      toVendorRecord: ({ id, changedAt }) => ({ id, changed: changedAt.toISOString() }),
      lists: [
        {
          path: '/things',
          order: 'created',
          page,
          toBody: (things, { next, total }) => ({ things, next, total, more: next !== null }),
        },
      ],
    },
  };
}

/** Reads all pages. `pageSize` may be a function that returns the size of the next page. */
async function* readPages(
  paging: Paging,
  session: ProviderSession,
  {
    pageSize: sizes,
    ...list
  }: { pageSize: number | (() => number) } & Omit<Partial<ListDeclaration>, 'pageSize'>,
): AsyncGenerator<RecordPage> {
  const { capabilities } = createThingsProvider({ list: { paging, ...list } });
  const readPage = capabilities.readPage as NonNullable<Capabilities['readPage']>;
  let cursor: string | undefined;
  do {
    const pageSize = typeof sizes === 'number' ? sizes : sizes();
    const read = { objectName: 'things', fields: ['id'], pageSize, ...(cursor && { cursor }) };
    const page = await readPage(session, read);
    yield page;
    cursor = page.nextCursor ?? undefined;
  } while (cursor);
}

test.each(PAGING_KINDS)('%s: returns each record once', async (_, page, paging, list) => {
  await using server = await startVendorServer(createFixture(page));
  const session = createPlainSession(server.url);
  await fc.assert(
    fc.asyncProperty(fc.nat(60), fc.integer({ min: 1, max: 70 }), async (count, pageSize) => {
      server.store.records.splice(0);
      const createdIds = Array.from({ length: count }, () =>
        String(server.store.create({}, new Date()).id),
      );
      const readIds: string[] = [];
      for await (const { records } of readPages(paging, session, { ...list, pageSize })) {
        expect(records.length).toBeLessThanOrEqual(Math.min(pageSize, 50));
        readIds.push(...records.map(({ id }) => id));
      }
      expect(readIds).toEqual(createdIds);
    }),
    { numRuns: 25 },
  );
});

test.each(
  PAGING_KINDS,
)('%s: returns each record once although the page size changes', async (_, page, paging, list) => {
  await using server = await startVendorServer(createFixture(page));
  const session = createPlainSession(server.url);
  await fc.assert(
    fc.asyncProperty(
      fc.nat(60),
      fc.array(fc.integer({ min: 1, max: 70 }), { minLength: 1, maxLength: 5 }),
      async (count, sizes) => {
        server.store.records.splice(0);
        const createdIds = Array.from({ length: count }, () =>
          String(server.store.create({}, new Date()).id),
        );
        let pagesRead = 0;
        const pageSize = () => sizes[pagesRead++ % sizes.length] as number;
        const read = await Array.fromAsync(readPages(paging, session, { ...list, pageSize }));
        expect(read.flatMap(({ records }) => records.map(({ id }) => id))).toEqual(createdIds);
      },
    ),
    { numRuns: 25 },
  );
});

test('uses the requested page size for a cursor that does not contain a size', async () => {
  await using server = await startVendorServer(createFixture(byPage(SIZE, 'at')));
  for (let n = 0; n < 50; n += 1) server.store.create({}, new Date());
  const { readPage } = createThingsProvider({
    list: { paging: { kind: 'page', parameter: POSITION } },
  }).capabilities;
  const cursor = JSON.stringify({ by: 'all', next: 2, first: '1', empty: 0 });
  const read = { objectName: 'things', fields: ['id'], pageSize: 20, cursor };
  const page = await readPage?.(createPlainSession(server.url), read);
  expect(page?.records.map(({ id }) => id)).toEqual(
    server.store.records.slice(20, 40).map(({ id }) => String(id)),
  );
});

/**
 * The kinds of paging that return every record despite insertions. Paging by an offset or a page number may lose
 * records that move between pages.
 */
const STABLE_KINDS = PAGING_KINDS.filter(([name]) => name === 'last id');

test.each(PAGING_KINDS)('%s: returns appended records once each', async (_, page, paging, list) => {
  await using server = await startVendorServer(createFixture(page));
  const session = createPlainSession(server.url);
  await fc.assert(
    fc.asyncProperty(
      fc.nat(40),
      fc.integer({ min: 1, max: 12 }),
      fc.array(fc.nat(3), { maxLength: 6 }),
      async (count, pageSize, insertionCounts) => {
        server.store.records.splice(0);
        const create = () => String(server.store.create({}, new Date()).id);
        const createdIds = Array.from({ length: count }, create);
        const remainingCounts = [...insertionCounts];
        const readIds: string[] = [];
        for await (const { records, nextCursor } of readPages(paging, session, {
          ...list,
          pageSize,
        })) {
          readIds.push(...records.map(({ id }) => id));
          if (nextCursor !== null) for (let n = remainingCounts.pop() ?? 0; n > 0; n--) create();
        }
        expect(readIds.filter((id) => createdIds.includes(id))).toEqual(createdIds);
        expect(new Set(readIds).size).toBe(readIds.length);
      },
    ),
    { numRuns: 25 },
  );
});

test.each(
  STABLE_KINDS,
)('%s: returns each earlier record once despite insertions anywhere', async (_, page, paging, list) => {
  await using server = await startVendorServer(createFixture(page));
  const session = createPlainSession(server.url);
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 12 }),
      fc.array(fc.nat(60), { maxLength: 12 }),
      async (count, pageSize, positions) => {
        server.store.records.splice(0);
        const create = () => server.store.create({}, new Date());
        const createdIds = Array.from({ length: count }, () => String(create().id));
        const remainingPositions = [...positions];
        const readIds: string[] = [];
        for await (const { records } of readPages(paging, session, { ...list, pageSize })) {
          readIds.push(...records.map(({ id }) => id));
          const position = remainingPositions.pop();
          if (position === undefined) continue;
          const record = create();
          server.store.records.pop();
          server.store.records.splice(position % server.store.records.length, 0, record);
        }
        expect(readIds.filter((id) => createdIds.includes(id))).toEqual(createdIds);
        expect(new Set(readIds).size).toBe(readIds.length);
      },
    ),
    { numRuns: 40 },
  );
});

test('last id: returns each earlier record once despite insertions at the start', async () => {
  const [, page, paging] = PAGING_KINDS.at(-1) as (typeof PAGING_KINDS)[number];
  await using server = await startVendorServer(createFixture(page));
  const createdIds = Array.from({ length: 25 }, () =>
    String(server.store.create({}, new Date()).id),
  );
  const readIds: string[] = [];
  for await (const { records } of readPages(paging, createPlainSession(server.url), {
    pageSize: 10,
  })) {
    readIds.push(...records.map(({ id }) => id));
    server.store.records.unshift({
      id: `new-${readIds.length}`,
      changedAt: new Date(),
      values: {},
    });
  }
  expect(readIds).toEqual(createdIds);
});

test.each([
  [
    'a repeated cursor',
    { kind: 'cursor', parameter: POSITION, next: '/next' } as const,
    { next: 'x' },
  ],
  [
    'repeated records',
    { kind: 'page', parameter: POSITION, hasMore: '/more' } as const,
    { more: true },
  ],
])('stops reading if a vendor returns %s', async (_, paging, response) => {
  const returnEmptyPage: Page = () => ({ records: [], next: null, total: 0 });
  const fixture = createFixture(returnEmptyPage);
  const [list] = fixture.object.lists;
  if (list) list.toBody = () => ({ things: [{ id: 1 }], ...response });
  await using server = await startVendorServer(fixture);
  const read = Array.fromAsync(readPages(paging, createPlainSession(server.url), { pageSize: 10 }));
  expect((await catchFailure(read)).kind).toBe('RETRYABLE');
  expect(server.requests.length).toBeLessThanOrEqual(2);
});

/** Creates a list that is sorted by the time of change and begins at the requested time. */
function createSortedFixture(page: Page): VendorFixture {
  const sorted = createFixture(page);
  const [list] = sorted.object.lists;
  if (!list) return sorted;
  list.order = 'oldestChange';
  list.filter = (records, { query }) => {
    const since = query.get('since');
    return records.filter(({ changedAt }) => since === null || changedAt >= new Date(since));
  };
  return sorted;
}

const TIME_SORTED_KINDS = PAGING_KINDS.filter(([name]) => /^(page number|offset|Link)/.test(name));

test.each(
  TIME_SORTED_KINDS,
)('%s: returns all records although some change between pages', async (_, page, paging, list) => {
  await using server = await startVendorServer(createSortedFixture(page));
  const session = createPlainSession(server.url);
  const since = { in: 'query', name: 'since', format: 'iso' } as const;
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.nat(50), { maxLength: 40 }),
      fc.integer({ min: 2, max: 12 }),
      fc.array(fc.array(fc.nat(39), { maxLength: 3 }), { maxLength: 20 }),
      async (minutes, pageSize, changedIndexes) => {
        server.store.records.splice(0);
        const remainingChanges = [...changedIndexes];
        let changedMinute = 60;
        const ids = minutes.map((n) => String(server.store.create({}, atMinute(n)).id));
        const readIds: string[] = [];
        for await (const { records } of readPages(paging, session, {
          pageSize,
          since,
          isKeysetPaged: true,
          ...list,
        })) {
          readIds.push(...records.map(({ id }) => id));
          for (const index of remainingChanges.pop() ?? []) {
            const record = server.store.records[index];
            changedMinute += 1;
            if (record) record.changedAt = atMinute(changedMinute);
          }
        }
        expect(ids.filter((id) => !readIds.includes(id))).toEqual([]);
      },
    ),
    { numRuns: 40 },
  );
});

test.each(
  TIME_SORTED_KINDS,
)('%s: returns each record once when it restarts from the last time', async (_, page, paging, list) => {
  await using server = await startVendorServer(createSortedFixture(page));
  const since = { in: 'query', name: 'since', format: 'iso' } as const;
  const range = { pageSize: 7, since, isKeysetPaged: true, ...list };
  for (const n of [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 3, 4, 5, 6, 6, 6, 7]) {
    server.store.create({}, atMinute(n));
  }
  const read = await Array.fromAsync(readPages(paging, createPlainSession(server.url), range));
  const ids = read.flatMap(({ records }) => records.map(({ id }) => id));
  expect(ids.toSorted()).toEqual(server.store.records.map(({ id }) => String(id)).toSorted());
  // The provider requests further pages of a time only if a page ends within that time.
  expect(
    server.requests.some(({ query }) => query.get('since') === atMinute(1).toISOString()),
  ).toBe(true);
});

test('reads on if a page begins like the one before, because records changed', async () => {
  await using server = await startVendorServer(createSortedFixture(byOffset(SIZE, 'at')));
  const [first, second] = [1, 2].map((n) => server.store.create({}, atMinute(n)));
  const range = {
    pageSize: 10,
    since: { in: 'query', name: 'since', format: 'iso' } as const,
    isKeysetPaged: true,
  };
  const readIds: string[] = [];
  const pages = readPages(
    { kind: 'offset', parameter: POSITION },
    createPlainSession(server.url),
    range,
  );
  for await (const { records } of pages) {
    readIds.push(...records.map(({ id }) => id));
    // The second page has only the second record, which is then the second of two.
    if (server.requests.length !== 2) continue;
    if (first) first.changedAt = atMinute(3);
    if (second) second.changedAt = atMinute(4);
  }
  expect(readIds).toEqual(['1', '2']);
});
