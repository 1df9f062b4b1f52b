/** Tests how a read by id distinguishes a missing record from other responses, and which id a record has. */
import { expect, test } from 'vitest';
import type { DeclarationInput } from '../../../../src/providers/declarative/declaration/declaration.ts';
import type { RecordsRead } from '../../../../src/providers/moving-records.ts';
import {
  type ServedRequest,
  type ServedResponse,
  startProviderServer,
} from '../../../support/providers/provider-server.ts';
import { createPlainSession } from '../../../support/providers/provider-session.ts';
import { catchFailure } from '../../contract-subject.ts';
import { createThingsProvider } from '../things.ts';

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
    read: async (ids: string[], read: Partial<RecordsRead> = {}) =>
      readRecords(session, { objectName: 'things', fields: ['id', 'n'], ids, ...read }),
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

/** A vendor that finds a thing by any spelling of its id, by its key, and by the id of a thing that was merged into it. */
const findThing = ({ path }: ServedRequest): ServedResponse =>
  respondWith({ thing: { id: path.includes('old') ? 'new' : '1F2E-3d', n: 1 } });

test.each(['1F2E-3d', '1f2e-3D', '1f2e3d'])('keeps the requested spelling %s', async (id) => {
  await using vendor = await startVendor(ONE, findThing);
  const [record, ...others] = await vendor.read([id]);
  expect(record).toMatchObject({ id, fields: { id: '1F2E-3d', n: 1 } });
  expect(others).toEqual([]);
});

test('returns a record under each requested spelling of its id', async () => {
  await using vendor = await startVendor(ONE, findThing);
  const records = await vendor.read(['1F2E-3d', '1f2e3d']);
  expect(records.map(({ id }) => id)).toEqual(['1F2E-3d', '1f2e3d']);
  await using batchVendor = await startVendor(MANY, respondWith({ things: [{ id: '1F2E-3d' }] }));
  expect(await batchVendor.read(['1f2e3d'])).toMatchObject([{ id: '1f2e3d' }]);
});

test.each([
  ['a key', 'KEY-1', '1F2E-3d'],
  ['the id of a merged record', 'old', 'new'],
])('refuses %s, and names the id of the record', async (_name, id, recordId) => {
  await using vendor = await startVendor(ONE, findThing);
  expect(await catchFailure(vendor.read([id]))).toMatchObject({
    kind: 'BAD_REQUEST',
    message: `Things returned the record ${recordId} for the id ${id}. Use the id ${recordId}.`,
  });
});

test('omits a record that another one replaces if the read asks for it', async () => {
  await using vendor = await startVendor(ONE, findThing);
  const records = await vendor.read(['old', '1f2e3d'], { omitsReplaced: true });
  expect(records.map(({ id }) => id)).toEqual(['1f2e3d']);
});
