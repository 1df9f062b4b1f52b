/** Tests how reads of declared lists follow the vendor's behavior. */
import { expect, test } from 'vitest';
import type { Behavior } from '../../../src/providers/behavior.ts';
import type { PageRead, ProviderRecord } from '../../../src/providers/moving-records.ts';
import { MINUTE_MS } from '../../../src/work/durations.ts';
import {
  type ServedRequest,
  type ServedResponse,
  startProviderServer,
} from '../../support/providers/provider-server.ts';
import { createPlainSession } from '../../support/providers/provider-session.ts';
import { catchFailure } from '../contract-subject.ts';
import { createThingsProvider, type ListDeclaration, POSITION } from './things.ts';

interface Vendor {
  list: Partial<ListDeclaration> & Pick<ListDeclaration, 'paging'>;
  behavior?: Partial<Behavior>;
  respond: (request: ServedRequest) => ServedResponse;
}

/** Starts a vendor. `readAll` reads all pages. */
async function startVendor({ respond, ...things }: Vendor) {
  const requests: ServedRequest[] = [];
  const server = await startProviderServer((request) => {
    requests.push(request);
    return respond(request);
  });
  const session = createPlainSession(server.url);
  const { readPage } = createThingsProvider(things).capabilities;
  return {
    requests,
    readAll: async (read: Partial<PageRead> = {}) => {
      const records: ProviderRecord[] = [];
      let cursor: string | undefined;
      do {
        const page = await readPage?.(session, {
          ...{ objectName: 'things', fields: ['id'], pageSize: 2, ...read },
          ...(cursor && { cursor }),
        });
        records.push(...(page?.records ?? []));
        cursor = page?.nextCursor ?? undefined;
      } while (cursor);
      return records;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const OFFSET: ListDeclaration['paging'] = { kind: 'offset', parameter: POSITION };
const listIds = (records: ProviderRecord[]) => records.map(({ id }) => Number(id));

/** Serves the numbers 0 to 6 in pages of two, from which the vendor removes hidden ones. */
function serveVisible(hidden: readonly number[], addSign: (from: number) => ServedResponse) {
  return ({ query }: ServedRequest): ServedResponse => {
    const from = Number(query.get(POSITION.name));
    const things = [from, from + 1].filter((id) => id < 7 && !hidden.includes(id));
    const sign = addSign(from);
    return {
      ...sign,
      body: { things: things.map((id) => ({ id })), ...(sign.body as object) },
    };
  };
}

const withLink = (from: number): ServedResponse => ({
  status: 200,
  headers: from < 5 ? { link: `<https://things.example?at=${from + 2}>; rel="next"` } : {},
});
const withTotal = (): ServedResponse => ({ status: 200, body: { total: 7 } });
const withFlag = (from: number): ServedResponse => ({ status: 200, body: { more: from < 5 } });

test.each([
  ['a Link header', withLink, {}, OFFSET],
  ['a total', withTotal, { total: '/total' }, OFFSET],
  ['a flag', withFlag, {}, { ...OFFSET, hasMore: '/more' }],
] satisfies [
  string,
  typeof withLink,
  Partial<ListDeclaration>,
  ListDeclaration['paging'],
][])('reads on after pages with hidden records while %s announces more', async (_, addSign, list, paging) => {
  await using vendor = await startVendor({
    list: { paging, ...list },
    behavior: { shortPage: 'hidden' },
    respond: serveVisible([1, 2, 3], addSign),
  });
  expect(listIds(await vendor.readAll())).toEqual([0, 4, 5, 6]);
});

test('requests one more page after a short page if nothing announces the end', async () => {
  for (const shortPage of ['hidden', 'notDocumented'] as const) {
    await using vendor = await startVendor({
      list: { paging: OFFSET },
      behavior: { shortPage },
      respond: serveVisible([3], () => ({ status: 200 })),
    });
    expect(listIds(await vendor.readAll())).toEqual([0, 1, 2, 4, 5, 6]);
  }
});

test('ends after a short page of a vendor that has no other short pages', async () => {
  await using vendor = await startVendor({
    list: { paging: OFFSET },
    behavior: { shortPage: 'last' },
    respond: serveVisible([], () => ({ status: 200 })),
  });
  expect(listIds(await vendor.readAll())).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(vendor.requests).toHaveLength(4);
});

const SINCE = { in: 'query', name: 'since', format: 'isoSeconds' } as const;
const UNTIL = { in: 'query', name: 'until', format: 'isoSeconds' } as const;
const WINDOW = { since: new Date('2026-03-05T10:30:00Z'), until: new Date('2026-03-05T11:30:00Z') };
const EXACT = {
  precision: 'format',
  zone: 'utc',
  bounds: 'inclusive',
  column: 'changedAt',
} as const;

test.each([
  [EXACT, '2026-03-05T10:30:00Z', '2026-03-05T11:30:00Z'],
  [{ ...EXACT, bounds: 'exclusive' }, '2026-03-05T10:29:59Z', '2026-03-05T11:30:01Z'],
  [{ ...EXACT, precision: 'day' }, '2026-03-05T00:00:00Z', '2026-03-06T00:00:00Z'],
  [
    { ...EXACT, precision: 'day', bounds: 'exclusive' },
    '2026-03-04T00:00:00Z',
    '2026-03-07T00:00:00Z',
  ],
  [{ ...EXACT, zone: 'notDocumented' }, '2026-03-04T20:30:00Z', '2026-03-06T01:30:00Z'],
] satisfies [
  Behavior['timeFilter'],
  string,
  string,
][])('widens the bounds of a filter that compares %o, and drops the records outside of the window', async (timeFilter, since, until) => {
  const times = ['10:29:59', '10:30:00', '11:30:00', '11:30:01'];
  const things = times.map((time, id) => ({ id, changed: `2026-03-05T${time}Z` }));
  await using vendor = await startVendor({
    list: { paging: { kind: 'none' }, since: SINCE, until: UNTIL },
    behavior: { timeFilter },
    respond: () => ({ status: 200, body: { things } }),
  });
  expect(listIds(await vendor.readAll(WINDOW))).toEqual([1, 2]);
  const [request] = vendor.requests;
  expect([request?.query.get('since'), request?.query.get('until')]).toEqual([since, until]);
});

test('returns records that the filter selects by another time than their time of change', async () => {
  const things = [{ id: 1, changed: '2026-03-01T00:00:00Z' }];
  await using vendor = await startVendor({
    list: { paging: { kind: 'none' }, since: SINCE },
    behavior: { timeFilter: { ...EXACT, column: 'other' } },
    respond: () => ({ status: 200, body: { things } }),
  });
  expect(listIds(await vendor.readAll(WINDOW))).toEqual([1]);
});

test('omits a field that the vendor cannot be asked for, and returns null for one without a value', async () => {
  const selectedFields = {
    in: 'body',
    name: '/query',
    template: '{ things { {fields} } }',
  } as const;
  await using vendor = await startVendor({
    list: { method: 'POST', paging: { kind: 'none' }, selectedFields },
    respond: () => ({ status: 200, body: { things: [{ id: 1 }] } }),
  });
  const [record] = await vendor.readAll({ fields: ['name', 'not a name'] });
  expect(record?.fields).toEqual({ name: null });
});

test('names no fields if their names are too long for a URL and the vendor then returns all', async () => {
  const selectedFields = { in: 'query', name: 'fields', returnsAllByDefault: true } as const;
  await using vendor = await startVendor({
    list: { paging: { kind: 'none' }, selectedFields },
    behavior: { urlBytesMax: 4_000 },
    respond: () => ({ status: 200, body: { things: [{ id: 1, last: 2 }] } }),
  });
  const fields = [...Array.from({ length: 200 }, (_, n) => `field_${n}_name`), 'last'];
  const [record] = await vendor.readAll({ fields });
  expect(record?.fields).toMatchObject({ field_0_name: null, last: 2 });
  expect(vendor.requests.map(({ query }) => query.get('fields'))).toEqual([null]);
  await vendor.readAll({ fields: ['last'] });
  expect(vendor.requests.at(-1)?.query.get('fields')).toBe('last');
});

test.each([
  ['7', 7_000],
  ['1.5', 1_500],
  ['Thu, 05 Mar 2026 10:01:00 GMT', MINUTE_MS],
  ['2026-03-05T10:01:00Z', MINUTE_MS],
  [String(Date.parse('2026-03-05T10:01:00Z') / 1_000), MINUTE_MS],
  [String(Date.parse('2026-03-05T10:01:00Z')), MINUTE_MS],
  ['999999999', 24 * 60 * MINUTE_MS],
  ['soon', null],
])('understands Retry-After: %s', async (value, waitMs) => {
  const headers = { date: 'Thu, 05 Mar 2026 10:00:00 GMT', 'retry-after': value };
  await using vendor = await startVendor({
    list: { paging: { kind: 'none' } },
    respond: () => ({ status: 429, headers, body: {} }),
  });
  expect(await catchFailure(vendor.readAll())).toMatchObject({
    kind: 'RATE_LIMITED',
    retryAfterMs: waitMs,
  });
});

test('treats a refusal that names a rate limit as one if the vendor documents none', async () => {
  await using vendor = await startVendor({
    list: { paging: { kind: 'none' } },
    respond: () => ({
      status: 403,
      body: { message: 'You have exceeded a secondary rate limit.' },
    }),
  });
  expect((await catchFailure(vendor.readAll())).kind).toBe('RATE_LIMITED');
});
