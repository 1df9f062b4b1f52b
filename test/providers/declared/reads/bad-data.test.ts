/** Tests that undocumented responses of vendors are read correctly or fail with the right kind of error. */
import { expect, test } from 'vitest';
import type { Behavior } from '../../../../src/providers/behavior.ts';
import type { Provider } from '../../../../src/providers/contract.ts';
import type { DeclarationInput } from '../../../../src/providers/declarative/declaration/declaration.ts';
import type { PageRead } from '../../../../src/providers/moving-records.ts';
import {
  type ServedResponse,
  startProviderServer,
} from '../../../support/providers/provider-server.ts';
import { createPlainSession } from '../../../support/providers/provider-session.ts';
import { atMinute, catchFailure } from '../../contract-subject.ts';
import { createThingsProvider, type ListDeclaration, POSITION } from '../things.ts';

const ERRORS: DeclarationInput['errors'] = {
  messages: ['/error'],
  failureMember: '/error',
  retryHeaders: [{ name: 'x-reset', format: 'unixSeconds' }],
};
const BEHAVIOR: Partial<Behavior> = {
  expiredCursor: [{ status: 400, contains: 'cursor expired' }],
  rateLimits: [
    { contains: 'slow down', waitMs: 9_000 },
    { status: 429, waitMs: 9_000 },
  ],
};

function createProvider(paging: ListDeclaration['paging']): Provider {
  return createThingsProvider({
    list: { paging },
    errors: ERRORS,
    behavior: BEHAVIOR,
    create: { method: 'POST', path: '/things', responseRecord: '/thing' },
  });
}

const cursorProvider = createProvider({ kind: 'cursor', parameter: POSITION, next: '/next' });

/** Starts a server that returns the responses in order, and repeats the last one. */
async function startVendor(responses: ServedResponse[], provider = cursorProvider) {
  let requestCount = 0;
  const server = await startProviderServer(() => {
    requestCount += 1;
    return responses[Math.min(requestCount, responses.length) - 1] as ServedResponse;
  });
  const session = createPlainSession(server.url);
  const { readPage, writeRecord } = provider.capabilities;
  return {
    server,
    read: async (read: Partial<PageRead> = {}) =>
      readPage!(session, { objectName: 'things', fields: ['id', 'n'], pageSize: 2, ...read }),
    create: async () =>
      writeRecord!(session, { type: 'CREATE', objectName: 'things', record: { n: 1 } }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const respondWith = (body: unknown): ServedResponse => ({ status: 200, body });

test.each([
  ['HTML in place of JSON', respondWith('<html>Down for maintenance</html>'), 'RETRYABLE'],
  ['truncated JSON', respondWith('{"things":[{"id":1'), 'RETRYABLE'],
  ['an empty body', { status: 200 }, 'RETRYABLE'],
  ['a list of another type', respondWith({ things: 'soon' }), 'RETRYABLE'],
  ['a record without an id', respondWith({ things: [{ n: 1 }] }), 'RETRYABLE'],
  ['an error inside a success', respondWith({ error: 'no such view' }), 'BAD_REQUEST'],
  ['a limit inside a success', respondWith({ error: 'slow down' }), 'RATE_LIMITED'],
  ['HTML with a 502', { status: 502, body: '<html>' }, 'SERVER_ERROR'],
] satisfies [
  string,
  ServedResponse,
  string,
][])('throws the right kind of error for %s', async (_, response, kind) => {
  await using vendor = await startVendor([response]);
  expect(await catchFailure(vendor.read())).toMatchObject({ kind });
});

test('throws CURSOR_GONE for a cursor that expired, and only for a page after the first', async () => {
  const expired = { status: 400, body: { error: 'Cursor expired.' } };
  await using vendor = await startVendor([
    respondWith({ things: [{ id: 1 }], next: 'b' }),
    expired,
  ]);
  const { nextCursor } = await vendor.read();
  const failure = await catchFailure(vendor.read({ cursor: nextCursor ?? '' }));
  expect(failure.kind).toBe('CURSOR_GONE');
  expect((await catchFailure(vendor.read())).kind).toBe('BAD_REQUEST');
});

test('reads the wait after a 429 from the declared header, or uses the default', async () => {
  const date = new Date('2026-01-01T00:00:00Z').toUTCString();
  const reset = String(Date.parse('2026-01-01T00:00:42Z') / 1_000);
  await using vendorWithHeader = await startVendor([
    { status: 429, headers: { date, 'x-reset': reset }, body: {} },
  ]);
  expect((await catchFailure(vendorWithHeader.read())).retryAfterMs).toBe(42_000);
  await using vendorWithoutHeader = await startVendor([{ status: 429, body: '' }]);
  expect((await catchFailure(vendorWithoutHeader.read())).retryAfterMs).toBe(9_000);
});

test('reports an unknown outcome if the response to a create is not JSON', async () => {
  await using vendor = await startVendor([respondWith('<html>')]);
  expect(await catchFailure(vendor.create())).toMatchObject({
    kind: 'DISCONNECTED',
    isOutcomeUnknown: true,
  });
});

test('continues after an empty page, and throws if too many pages are empty', async () => {
  await using vendor = await startVendor([
    respondWith({ things: [], next: 'a' }),
    respondWith({ things: [{ id: 1 }], next: null }),
  ]);
  const emptyPage = await vendor.read();
  expect(emptyPage.records).toEqual([]);
  const lastPage = await vendor.read({ cursor: emptyPage.nextCursor ?? '' });
  expect(lastPage).toMatchObject({ records: [{ id: '1' }], nextCursor: null });

  const emptyPages = Array.from({ length: 60 }, (_, n) =>
    respondWith({ things: [], next: `c${n}` }),
  );
  await using endlessVendor = await startVendor(emptyPages);
  const readAll = async () => {
    let cursor: string | null = null;
    do {
      const page: { nextCursor: string | null } = await endlessVendor.read({
        ...(cursor && { cursor }),
      });
      cursor = page.nextCursor;
    } while (cursor);
  };
  expect((await catchFailure(readAll())).kind).toBe('RETRYABLE');
});

test('keeps ids beyond 2^53 exact and distinct', async () => {
  const text = '{"things":[{"id":9007199254740993,"n":1},{"id":9007199254740992,"n":1.5}]}';
  await using vendor = await startVendor([respondWith(text)]);
  const { records } = await vendor.read();
  expect(records.map(({ id }) => id)).toEqual(['9007199254740993', '9007199254740992']);
  expect(records.map(({ fields }) => fields.n)).toEqual([1, 1.5]);
});

test('reads times without a zone as UTC and zones without a colon, and keeps records with invalid times', async () => {
  const changeTimes = [
    '2026-01-01T12:02:00',
    '2026-01-01 12:02:00',
    '2026-01-01T14:02:00.000+0200',
    'soon',
  ];
  await using vendor = await startVendor([
    respondWith({ things: changeTimes.map((time, id) => ({ id: id + 1, changed: time })) }),
  ]);
  const rangePage = await vendor.read({ since: atMinute(1), until: atMinute(3) });
  expect(rangePage.records).toHaveLength(4);
  const laterPage = await vendor.read({ since: atMinute(3) });
  expect(laterPage.records.map(({ id }) => id)).toEqual(['4']);
});

test('returns a field unchanged, whatever its type', async () => {
  const values = [1, '1', ['1'], { a: 1 }, null, true];
  await using vendor = await startVendor([
    respondWith({ things: values.map((n, id) => ({ id: id + 1, n })) }),
  ]);
  const { records } = await vendor.read();
  expect(records.map(({ fields }) => fields.n)).toEqual(values);
});

test('refuses a next page on another host', async () => {
  const provider = createProvider({ kind: 'nextUrl', next: '/next' });
  await using vendor = await startVendor(
    [respondWith({ things: [{ id: 1 }], next: 'https://evil.example/x' })],
    provider,
  );
  const { nextCursor } = await vendor.read();
  const nextPage = vendor.read({ cursor: nextCursor ?? '' });
  await expect(nextPage).rejects.toThrow(/evil\.example/);
  expect(vendor.server.requests).toHaveLength(1);
});
