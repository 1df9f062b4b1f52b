/** Records that change while a list is read: what else the list has comes all the same. */
import { expect, test } from 'vitest';
import { declarativeProvider } from '../../../src/providers/declarative/declarative-provider.ts';
import { DECLARATIONS } from '../../../src/providers/declared/all.ts';
import type { PageRead } from '../../../src/providers/moving-records.ts';
import { plainSession } from '../../support/providers/provider-session.ts';
import { type VendorServer, vendorServer } from '../../support/wire/vendor-server.ts';
import { WIRES } from '../../support/wire/vendors/all.ts';
import { minute } from '../contract-subject.ts';

/** Vendors that count what is before a page. What cursors of the others hold is theirs, and no wire format says it. */
const COUNTED = ['freshdesk', 'github', 'gitlab', 'mailchimp', 'salesloft', 'serviceNow', 'xero'];

const WINDOW = { since: minute(0), until: minute(30) };

for (const name of COUNTED) {
  test(`${name}: a record that leaves the window between two pages hides no other`, async () => {
    await using server = await vendorServer(wireOf(name).fixture);
    await expectAllOthers(server, name, WINDOW);
  });

  test(`${name}: a record that changes between two pages of the whole list hides no other`, async () => {
    await using server = await vendorServer(wireOf(name).fixture);
    await expectAllOthers(server, name, {});
  });
}

/** After each page one record of it changes. */
async function expectAllOthers(
  server: VendorServer,
  name: string,
  window: Pick<PageRead, 'since' | 'until'>,
): Promise<void> {
  const wire = wireOf(name);
  const made = Array.from({ length: 11 }, (_, n) =>
    server.store.create({ ...wire.needs, [wire.textField]: `stored ${n}` }, minute(n + 1)),
  );
  const idOf = wire.fixture.refOf ?? String;
  const read: string[] = [];
  const changed: string[] = [];
  for await (const ids of pagesOf(server, name, window)) {
    read.push(...ids);
    const [first] = made.filter(({ id }) => ids.includes(idOf(id)));
    if (!first) continue;
    first.changedAt = minute(40 + changed.length);
    changed.push(idOf(first.id));
  }
  expect(made.map(({ id }) => idOf(id)).filter((id) => !read.includes(id))).toEqual([]);
  expect(changed.length).toBeGreaterThan(2);
}

async function* pagesOf(
  server: VendorServer,
  name: string,
  window: Pick<PageRead, 'since' | 'until'>,
): AsyncGenerator<string[]> {
  const { fixture, objectName, textField, facts = {} } = wireOf(name);
  const declared = DECLARATIONS.find((one) => one.name === name);
  if (!declared) throw new Error(`${name} is not declared`);
  const { readPage } = declarativeProvider(declared).capabilities;
  const session = plainSession(server.url, { ...fixture.headers }, { facts });
  const read = { objectName, fields: [textField], pageSize: 3, ...window };
  let cursor: string | undefined;
  do {
    const page = await readPage?.(session, { ...read, ...(cursor && { cursor }) });
    yield page?.records.map(({ id }) => id) ?? [];
    cursor = page?.nextCursor ?? undefined;
  } while (cursor);
}

function wireOf(name: string) {
  const wire = WIRES[name];
  if (!wire) throw new Error(`${name} has no wire format`);
  return wire;
}
