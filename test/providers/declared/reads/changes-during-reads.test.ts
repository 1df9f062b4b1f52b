/** Tests that a record that changes during a read of a list hides no other record. */
import { expect, test } from 'vitest';
import { createDeclarativeProvider } from '../../../../src/providers/declarative/declarative-provider.ts';
import type { PageRead } from '../../../../src/providers/moving-records.ts';
import { createPlainSession } from '../../../support/providers/provider-session.ts';
import { getDeclaration } from '../../../support/wire/declarations.ts';
import { generateWire } from '../../../support/wire/generated-wire.ts';
import { startVendorServer, type VendorServer } from '../../../support/wire/vendor-server.ts';
import { getWire } from '../../../support/wire/vendors/all.ts';
import type { WireVendor } from '../../../support/wire/wire-format.ts';
import { atMinute } from '../../contract-subject.ts';

/**
 * Vendors whose pages start after a number of records. The content of other vendors' cursors is unknown, so no wire
 * format models it.
 */
const OFFSET_VENDORS = [
  'close',
  'freshdesk',
  'github',
  'gitlab',
  'mailchimp',
  'salesloft',
  'serviceNow',
  'xero',
];

const WINDOW = { since: atMinute(0), until: atMinute(30) };

for (const name of OFFSET_VENDORS) testChanges(name, getWire(name));

// The vendor does not sort other objects of Close.
testChanges('close', generateWire(getDeclaration('close'), 'opportunity'));

function testChanges(name: string, wire: WireVendor): void {
  const title = `${name} ${wire.objectName}`;

  test(`${title}: returns all other records when one leaves the window between pages`, async () => {
    await expectNoneMissed(name, wire, WINDOW);
  });

  test(`${title}: returns all other records when one changes between pages of a full read`, async () => {
    await expectNoneMissed(name, wire, {});
  });
}

type Window = Pick<PageRead, 'since' | 'until'>;

/** Changes one record of each page after reading it. */
async function expectNoneMissed(name: string, wire: WireVendor, window: Window): Promise<void> {
  await using server = await startVendorServer(wire.fixture);
  const records = Array.from({ length: 11 }, (_, n) =>
    server.store.create(
      { ...wire.requiredValues, [wire.textField]: `stored ${n}` },
      atMinute(n + 1),
    ),
  );
  const toReference = wire.fixture.createReference ?? String;
  const readIds: string[] = [];
  const changedIds: string[] = [];
  for await (const ids of readPages(server, { name, wire, window })) {
    readIds.push(...ids);
    const record = records.find(({ id }) => ids.includes(toReference(id)));
    if (!record) continue;
    record.changedAt = atMinute(40 + changedIds.length);
    changedIds.push(toReference(record.id));
  }
  const ids = records.map(({ id }) => toReference(id));
  expect(ids.filter((id) => !readIds.includes(id))).toEqual([]);
  expect(changedIds.length).toBeGreaterThan(2);
}

async function* readPages(
  server: VendorServer,
  { name, wire, window }: { name: string; wire: WireVendor; window: Window },
): AsyncGenerator<string[]> {
  const { fixture, objectName, textField, metadata = {} } = wire;
  const { readPage } = createDeclarativeProvider(getDeclaration(name)).capabilities;
  const session = createPlainSession(server.url, { ...fixture.headers }, { metadata });
  const read = { objectName, fields: [textField], pageSize: 3, ...window };
  let cursor: string | undefined;
  do {
    const page = await readPage?.(session, { ...read, ...(cursor && { cursor }) });
    yield page?.records.map(({ id }) => id) ?? [];
    cursor = page?.nextCursor ?? undefined;
  } while (cursor);
}
