/** Tests how a read by id distinguishes a missing record from other responses. */
import { expect, test } from 'vitest';
import type { DeclarationInput } from '../../../src/providers/declarative/declaration/declaration.ts';
import {
  type ServedRequest,
  type ServedResponse,
  startProviderServer,
} from '../../support/providers/provider-server.ts';
import { createPlainSession } from '../../support/providers/provider-session.ts';
import { catchFailure } from '../contract-subject.ts';
import { createThingsProvider } from './things.ts';

type IdLookup = NonNullable<DeclarationInput['objects'][string]['byIds']>;

const ONE = { path: '/things/{id}', records: '/thing' };
const ROOT = { path: '/things/{id}', records: '' };
const MANY: IdLookup = {
  path: '/things',
  ids: { in: 'query', name: 'ids', max: 50 },
  records: '/things',
};

/** Starts a server with this response to each request, and returns a function that reads from it by id. */
async function startVendor(
  byIds: IdLookup,
  respond: ServedResponse | ((request: ServedRequest) => ServedResponse),
) {
  const server = await startProviderServer((request) =>
    typeof respond === 'function' ? respond(request) : respond,
  );
  const { readRecords } = createThingsProvider({
    list: { paging: { kind: 'none' } },
    byIds,
  }).capabilities;
  if (!readRecords) throw new Error('Things cannot be read by id');
  const session = createPlainSession(server.url);
  return {
    read: async (ids: string[]) =>
      readRecords(session, { objectName: 'things', fields: ['id', 'n'], ids }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const respondWith = (body: unknown): ServedResponse => ({ status: 200, body });

const JUNK: [string, ServedResponse][] = [
  ['HTML', respondWith('<html>Down for maintenance</html>')],
  ['truncated JSON', respondWith('{"thing":{"id":"a"')],
  ['an empty body', { status: 200 }],
  ['an error without the record', respondWith({ error: { message: 'Try again' } })],
  ['a value of another type', respondWith({ thing: 'soon', things: 'soon' })],
];
const LOOKUPS: [string, IdLookup][] = [
  ['one record', ONE],
  ['the whole body', ROOT],
  ['several records', MANY],
];
const junkReads = LOOKUPS.flatMap(([lookupName, byIds]) =>
  JUNK.map(([responseName, response]) => ({ lookupName, byIds, responseName, response })),
);

test.each(junkReads)('throws RETRYABLE for $responseName in place of $lookupName', async ({
  byIds,
  response,
}) => {
  await using vendor = await startVendor(byIds, response);
  expect(await catchFailure(vendor.read(['a']))).toMatchObject({ kind: 'RETRYABLE' });
});

test.each([
  ['404', ONE, { status: 404, body: { message: 'No such thing' } }],
  ['410', ONE, { status: 410 }],
  ['204', ONE, { status: 204 }],
  ['204 in place of the whole body', ROOT, { status: 204 }],
  ['null', ONE, respondWith({ thing: null })],
  ['204 in place of a list', MANY, { status: 204 }],
  ['null in place of a list', MANY, respondWith({ things: null })],
  ['a list without the record', MANY, respondWith({ things: [null, { id: 'b' }] })],
] satisfies [
  string,
  IdLookup,
  ServedResponse,
][])('omits a record for which the vendor returns %s', async (_name, byIds, response) => {
  await using vendor = await startVendor(byIds, response);
  expect(await vendor.read(['a'])).toEqual([]);
});
