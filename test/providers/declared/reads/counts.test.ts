/** Tests that a read returns the total of its records, if the vendor returns a total in its lists or at another path. */
import { expect, test } from 'vitest';
import { createDeclarativeProvider } from '../../../../src/providers/declarative/declarative-provider.ts';
import { DECLARATIONS } from '../../../../src/providers/declared/all.ts';
import { createPlainSession } from '../../../support/providers/provider-session.ts';
import { getDeclaration } from '../../../support/wire/declarations.ts';
import { startVendorServer, type VendorServer } from '../../../support/wire/vendor-server.ts';
import { getWire } from '../../../support/wire/vendors/all.ts';

const namesWithTotal = DECLARATIONS.map(({ name }) => name).filter((name) => {
  const object = getObject(name);
  // The list of one parent has no total of all records.
  if (object?.parent) return false;
  const lists = [object?.list, object?.incrementalList];
  return object?.count || lists.some((list) => list?.total ?? list?.totalHeader);
});
const namesWithCount = namesWithTotal.filter((name) => getObject(name)?.count);

function getObject(name: string) {
  return getDeclaration(name).api.objects[getWire(name).objectName];
}

/** The response to the request that counts records. */
type CountResponse = { status: number; body: unknown };

/** Reads two pages of an account with seven records. */
async function readPages(name: string, read: { since?: Date } = {}, countResponse?: CountResponse) {
  const { fixture, metadata = {}, objectName, textField } = getWire(name);
  const { count } = fixture.object;
  await using server: VendorServer = await startVendorServer({
    ...fixture,
    override: (request, ...rest) =>
      countResponse && request.path === count?.path
        ? countResponse
        : fixture.override?.(request, ...rest),
  });
  for (let n = 0; n < 7; n += 1) {
    server.store.create({ [textField]: `record ${n}` }, new Date(Date.UTC(2026, 0, 1 + n)));
  }
  const { readPage } = createDeclarativeProvider(getDeclaration(name)).capabilities;
  const session = createPlainSession(server.url, fixture.headers, { metadata });
  const page = { objectName, fields: [textField], pageSize: 4, ...read };
  const firstPage = await readPage?.(session, page);
  const secondPage = await readPage?.(session, {
    ...page,
    cursor: firstPage?.nextCursor ?? undefined,
  });
  return { firstPage, secondPage };
}

test('covers vendors with totals in lists and with separate counts', () => {
  expect(namesWithCount).toEqual(['zendeskSupport', 'zoho']);
  expect(namesWithTotal.length).toBeGreaterThan(namesWithCount.length);
});

test.each(namesWithTotal)('%s: returns the total with the first page of a read', async (name) => {
  const { firstPage, secondPage } = await readPages(name);
  expect(firstPage?.records).toHaveLength(4);
  expect(firstPage?.estimatedTotal).toBe(7);
  expect(secondPage?.records).toHaveLength(3);
  // The total is requested with the first page only.
  expect(secondPage?.estimatedTotal).toBeNull();
});

test.each(namesWithCount)('%s: returns no total for a read of changes', async (name) => {
  const { firstPage } = await readPages(name, { since: new Date(Date.UTC(2026, 0, 4)) });
  expect(firstPage?.records.length).toBeLessThan(7);
  expect(firstPage?.estimatedTotal).toBeNull();
});

test.each(
  namesWithCount.flatMap((name) => [
    { name, response: 'a 500', failure: { status: 500, body: { error: 'down' } } },
    { name, response: 'a 403', failure: { status: 403, body: { error: 'no scope' } } },
    { name, response: 'an empty object', failure: { status: 200, body: {} } },
    { name, response: 'a text', failure: { status: 200, body: { count: { value: 'many' } } } },
    { name, response: 'HTML', failure: { status: 200, body: '<html>' } },
  ]),
)('$name: reads without a total if the count responds with $response', async ({
  name,
  failure,
}) => {
  const { firstPage, secondPage } = await readPages(name, {}, failure);
  expect(firstPage?.estimatedTotal).toBeNull();
  expect([...(firstPage?.records ?? []), ...(secondPage?.records ?? [])]).toHaveLength(7);
});
