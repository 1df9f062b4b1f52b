/** The total of a read, if the vendor returns it in its lists or at another path. */
import { expect, test } from 'vitest';
import { createDeclarativeProvider } from '../../../src/providers/declarative/declarative-provider.ts';
import { DECLARATIONS } from '../../../src/providers/declared/all.ts';
import { createPlainSession } from '../../support/providers/provider-session.ts';
import { startVendorServer, type VendorServer } from '../../support/wire/vendor-server.ts';
import { getWire } from '../../support/wire/vendors/all.ts';

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

function getDeclaration(name: string) {
  const declaration = DECLARATIONS.find((declaration) => declaration.name === name);
  if (!declaration) throw new Error(`${name} is not declared`);
  return declaration;
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
  const first = await readPage?.(session, page);
  const second = await readPage?.(session, { ...page, cursor: first?.nextCursor ?? undefined });
  return { first, second };
}

test('covers vendors with totals in lists and with separate counts', () => {
  expect(namesWithCount).toEqual(['zendeskSupport', 'zoho']);
  expect(namesWithTotal.length).toBeGreaterThan(namesWithCount.length);
});

test.each(namesWithTotal)('%s: returns the total with the first page of a read', async (name) => {
  const { first, second } = await readPages(name);
  expect(first?.records).toHaveLength(4);
  expect(first?.estimatedTotal).toBe(7);
  expect(second?.records).toHaveLength(3);
  // The total is requested with the first page only.
  expect(second?.estimatedTotal).toBeNull();
});

test.each(namesWithCount)('%s: returns no total for a read of changes', async (name) => {
  const { first } = await readPages(name, { since: new Date(Date.UTC(2026, 0, 4)) });
  expect(first?.records.length).toBeLessThan(7);
  expect(first?.estimatedTotal).toBeNull();
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
  const { first, second } = await readPages(name, {}, failure);
  expect(first?.estimatedTotal).toBeNull();
  expect([...(first?.records ?? []), ...(second?.records ?? [])]).toHaveLength(7);
});
