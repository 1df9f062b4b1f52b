/** Tests reads of a vendor whose access rules shorten pages, and whose queries may be in the zone of the user. */
import { expect, test } from 'vitest';
import { startVendorServer, type VendorServer } from '../../../support/wire/vendor-server.ts';
import {
  createServiceNow,
  serviceNow as wire,
} from '../../../support/wire/vendors/support/service-now-wire.ts';
import { atMinute } from '../../contract-subject.ts';
import { readAll, readPages } from '../reading.ts';

const OBJECT = { objectName: 'incident' };

function storeRecords(server: VendorServer, count: number, isHidden: (n: number) => boolean): void {
  for (let n = 0; n < count; n += 1) {
    server.store.create({ ...(isHidden(n) && { hidden: true }) }, atMinute(n));
  }
}

async function countRead(server: VendorServer, read = {}): Promise<number> {
  const records = await readAll(server.url, 'serviceNow', { ...OBJECT, ...read });
  return new Set(records.map(({ id }) => id)).size;
}

test('returns all visible records if access rules shorten a page', async () => {
  await using server = await startVendorServer(wire.fixture);
  storeRecords(server, 2_500, (n) => n === 50);
  expect(await countRead(server)).toBe(2_499);
  expect(await countRead(server, { since: atMinute(0) })).toBe(2_499);
});

test('continues after pages whose records are all hidden', async () => {
  await using server = await startVendorServer(wire.fixture);
  storeRecords(server, 500, (n) => n >= 100 && n < 400);
  expect(await countRead(server)).toBe(200);
  expect(await countRead(server, { since: atMinute(0) })).toBe(200);
});

test('returns all other records if records are deleted between pages of a full read', async () => {
  await using server = await startVendorServer(wire.fixture);
  storeRecords(server, 500, () => false);
  const readIds = new Set<string>();
  for await (const page of readPages(server.url, 'serviceNow', OBJECT)) {
    for (const { id } of page) readIds.add(id);
    const deletedRecord = server.store.records.find(({ id }) => id === page[0]?.id);
    if (deletedRecord) server.store.remove(deletedRecord);
  }
  expect(readIds.size).toBe(500);
});

test.each([
  '-08:00',
  'Z',
  '+08:00',
])('returns the changes of the window if queries are in the zone %s', async (zone) => {
  await using server = await startVendorServer(createServiceNow(zone).fixture);
  storeRecords(server, 100, () => false);
  const window = { since: atMinute(30), until: atMinute(39) };
  expect(await countRead(server, window)).toBe(10);
});

test('reads no page below the first one that begins before the window', async () => {
  await using server = await startVendorServer(wire.fixture);
  storeRecords(server, 800, () => false);
  expect(await countRead(server, { since: atMinute(790) })).toBe(10);
  expect(server.requests).toHaveLength(1);
});

test('retries a page of a cancelled transaction, which has status 200 and a part of the records', async () => {
  await using server = await startVendorServer(wire.fixture);
  storeRecords(server, 10, () => false);
  server.failNext({
    status: 200,
    body: {
      result: [{ sys_id: '1', sys_updated_on: '2026-01-01 00:00:00' }],
      error: { message: 'Transaction cancelled: maximum execution time exceeded', detail: null },
      status: 'failure',
    },
  });
  await expect(countRead(server)).rejects.toMatchObject({ isTemporary: true });
});
