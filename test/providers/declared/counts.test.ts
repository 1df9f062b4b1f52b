/** How many records a read has, where the vendor tells: in its lists, or at an address of its own. */
import { expect, test } from 'vitest';
import { declarativeProvider } from '../../../src/providers/declarative/declarative-provider.ts';
import { DECLARATIONS } from '../../../src/providers/declared/all.ts';
import { plainSession } from '../../support/providers/provider-session.ts';
import type { WireVendor } from '../../support/wire/terms.ts';
import { type VendorServer, vendorServer } from '../../support/wire/vendor-server.ts';
import { WIRES } from '../../support/wire/vendors/all.ts';

const tried = DECLARATIONS.map(({ name }) => name).filter((name) => {
  const object = objectOf(name);
  // Of lists below others, none is the whole.
  if (object?.parent) return false;
  const lists = [object?.all, object?.changed];
  return object?.count || lists.some((list) => list?.total ?? list?.totalHeader);
});
const asked = tried.filter((name) => objectOf(name)?.count);

function objectOf(name: string) {
  return declarationOf(name).records.objects[wireOf(name).objectName];
}

function declarationOf(name: string) {
  const found = DECLARATIONS.find((one) => one.name === name);
  if (!found) throw new Error(`${name} is not declared`);
  return found;
}

function wireOf(name: string): WireVendor {
  const found = WIRES[name];
  if (!found) throw new Error(`${name} has no wire format`);
  return found;
}

/** Two pages of an account that has seven records. */
async function pagesOf(name: string, read: { since?: Date } = {}, failing?: Failing) {
  const { fixture, facts = {}, objectName, textField } = wireOf(name);
  const { count } = fixture.object;
  await using server: VendorServer = await vendorServer({
    ...fixture,
    other: (request, ...given) =>
      failing && request.path === count?.path ? failing : fixture.other?.(request, ...given),
  });
  for (let n = 0; n < 7; n += 1) {
    server.store.create({ [textField]: `record ${n}` }, new Date(Date.UTC(2026, 0, 1 + n)));
  }
  const { readPage } = declarativeProvider(declarationOf(name)).capabilities;
  const session = plainSession(server.url, fixture.headers, { facts });
  const page = { objectName, fields: [textField], pageSize: 4, ...read };
  const first = await readPage?.(session, page);
  const second = await readPage?.(session, { ...page, cursor: first?.nextCursor ?? undefined });
  return { first, second };
}
type Failing = { status: number; body: unknown };

test('vendors that tell it in lists and at an address of its own are tried', () => {
  expect(asked).toEqual(['zendeskSupport', 'zoho']);
  expect(tried.length).toBeGreaterThan(asked.length);
});

test.each(tried)('%s: the first page of a read tells how many records there are', async (name) => {
  const { first, second } = await pagesOf(name);
  expect(first?.records).toHaveLength(4);
  expect(first?.estimatedTotal).toBe(7);
  expect(second?.records).toHaveLength(3);
  // It is kept from the first page: the vendor is not asked again.
  expect(second?.estimatedTotal).toBeNull();
});

test.each(asked)('%s: a count of all is not told of a part', async (name) => {
  const { first } = await pagesOf(name, { since: new Date(Date.UTC(2026, 0, 4)) });
  expect(first?.records.length).toBeLessThan(7);
  expect(first?.estimatedTotal).toBeNull();
});

test.each(
  asked.flatMap((name) => [
    { name, as: '500', failing: { status: 500, body: { error: 'down' } } },
    { name, as: '403', failing: { status: 403, body: { error: 'no scope' } } },
    { name, as: 'nothing', failing: { status: 200, body: {} } },
    { name, as: 'no number', failing: { status: 200, body: { count: { value: 'many' } } } },
    { name, as: 'no JSON', failing: { status: 200, body: '<html>' } },
  ]),
)('$name: a read goes on without a count that is answered by $as', async ({ name, failing }) => {
  const { first, second } = await pagesOf(name, {}, failing);
  expect(first?.estimatedTotal).toBeNull();
  expect([...(first?.records ?? []), ...(second?.records ?? [])]).toHaveLength(7);
});
