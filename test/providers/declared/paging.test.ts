/** Whatever the list, the size of its pages and the way of paging: each record comes once. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ProviderSession, RecordPage } from '../../../src/providers/contract.ts';
import type { ObjectDeclarationInput } from '../../../src/providers/declarative/declaration.ts';
import { declarativeProvider } from '../../../src/providers/declarative/declarative-provider.ts';
import { plainSession } from '../../support/providers/provider-session.ts';
import {
  byAddress,
  byCursor,
  byLastId,
  byLink,
  byOffset,
  byPage,
  type Page,
} from '../../support/wire/paging.ts';
import { type VendorFixture, vendorServer } from '../../support/wire/vendor-server.ts';
import { failureOf } from '../contract-subject.ts';

type Paging = ObjectDeclarationInput['all']['paging'];

const SIZE = { name: 'size', fallback: 10, max: 50 };
const at = { in: 'query', name: 'at' } as const;

/** Each way to page, as a vendor does it and as it is declared. */
const KINDS: [name: string, page: Page, paging: Paging][] = [
  ['cursor', byCursor(SIZE, 'at'), { kind: 'cursor', send: at, next: '/next' }],
  ['next URL', byAddress(byCursor(SIZE, 'at'), 'at'), { kind: 'nextUrl', next: '/next' }],
  ['Link header', byLink(byPage(SIZE, 'at'), 'at'), { kind: 'link' }],
  ['offset', byOffset(SIZE, 'at'), { kind: 'offset', send: at }],
  ['offset with a flag', byOffset(SIZE, 'at'), { kind: 'offset', send: at, more: '/more' }],
  ['offset with a total', byOffset(SIZE, 'at'), { kind: 'offset', send: at, total: '/total' }],
  ['page number', byPage(SIZE, 'at'), { kind: 'page', send: at }],
  ['page number with a flag', byPage(SIZE, 'at'), { kind: 'page', send: at, more: '/more' }],
  ['last id', byLastId(SIZE, 'at'), { kind: 'lastId', send: at }],
];

function fixture(page: Page): VendorFixture {
  return {
    idOf: (n) => n,
    headers: {},
    contentType: 'application/json',
    invalidStatus: 400,
    refusal: (_status, message) => ({ message }),
    problemWith: () => null,
    object: {
      show: ({ id }) => ({ id }),
      lists: [
        {
          path: '/things',
          order: 'made',
          page,
          answer: (things, { next, total }) => ({ things, next, total, more: next !== null }),
        },
      ],
    },
  };
}

function provider(paging: Paging) {
  return declarativeProvider({
    name: 'things',
    displayName: 'Things',
    baseUrl: 'https://things.example',
    authSchemes: ['NONE'],
    records: {
      docsUrl: 'https://things.example/docs',
      checkedAgainst: 'nothing: it exists in tests alone',
      errors: { messages: ['/message'] },
      objects: {
        things: {
          displayName: 'Things',
          all: {
            path: '/things',
            records: '/things',
            size: { in: 'query', name: 'size', max: 50 },
            paging,
          },
        },
      },
    },
  });
}

async function* pages(
  paging: Paging,
  session: ProviderSession,
  pageSize: number,
): AsyncGenerator<RecordPage> {
  const readPage = provider(paging).capabilities.readPage as NonNullable<
    ReturnType<typeof provider>['capabilities']['readPage']
  >;
  let cursor: string | undefined;
  do {
    const read = { objectName: 'things', fields: ['id'], pageSize, ...(cursor && { cursor }) };
    const page = await readPage(session, read);
    yield page;
    cursor = page.nextCursor ?? undefined;
  } while (cursor);
}

test.each(KINDS)('%s: each record once', async (_, page, paging) => {
  await using server = await vendorServer(fixture(page));
  const session = plainSession(server.url);
  await fc.assert(
    fc.asyncProperty(fc.nat(60), fc.integer({ min: 1, max: 70 }), async (count, pageSize) => {
      server.store.records.splice(0);
      const made = Array.from({ length: count }, () =>
        String(server.store.create({}, new Date()).id),
      );
      const read: string[] = [];
      for await (const { records } of pages(paging, session, pageSize)) {
        expect(records.length).toBeLessThanOrEqual(Math.min(pageSize, 50));
        read.push(...records.map(({ id }) => id));
      }
      expect(read).toEqual(made);
    }),
    { numRuns: 25 },
  );
});

/** Places that are made of a record stay right when others come before it. */
test('last id: records that are made between the pages move no other', async () => {
  const [, page, paging] = KINDS.at(-1) as (typeof KINDS)[number];
  await using server = await vendorServer(fixture(page));
  const made = Array.from({ length: 25 }, () => String(server.store.create({}, new Date()).id));
  const read: string[] = [];
  for await (const { records } of pages(paging, plainSession(server.url), 10)) {
    read.push(...records.map(({ id }) => id));
    server.store.records.unshift({ id: `new-${read.length}`, changedAt: new Date(), values: {} });
  }
  expect(read).toEqual(made);
});

test.each([
  ['the same cursor again', { kind: 'cursor', send: at, next: '/next' } as const, { next: 'x' }],
  ['the same records again', { kind: 'page', send: at, more: '/more' } as const, { more: true }],
])('a vendor that gives %s is not followed for ever', async (_, paging, answer) => {
  const loop: Page = () => ({ records: [], next: null, total: 0 });
  const broken = fixture(loop);
  const [list] = broken.object.lists;
  if (list) list.answer = () => ({ things: [{ id: 1 }], ...answer });
  await using server = await vendorServer(broken);
  const read = Array.fromAsync(pages(paging, plainSession(server.url), 10));
  expect((await failureOf(read)).kind).toBe('RETRYABLE');
  expect(server.requests.length).toBeLessThanOrEqual(2);
});
