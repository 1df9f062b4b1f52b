import { expect, test } from 'vitest';
import { createDeclarativeProvider } from '../../../../src/providers/declarative/declarative-provider.ts';
import { zendeskSupport } from '../../../../src/providers/declared/support/zendesk-support.ts';
import type { PageRead } from '../../../../src/providers/moving-records.ts';
import { createPlainSession } from '../../../support/providers/provider-session.ts';
import { startVendorServer, type VendorServer } from '../../../support/wire/vendor-server.ts';
import { zendeskSupport as wire } from '../../../support/wire/vendors/support/zendesk-support-wire.ts';
import { BEARER } from '../../../support/wire/wire-format.ts';
import { atMinute, catchFailure } from '../../contract-subject.ts';

test('returns archived tickets in full reads, and deleted tickets only in incremental reads', async () => {
  await using server = await startVendorServer(wire.fixture);
  for (const [n, status] of ['open', 'closed', 'deleted', 'closed', 'solved'].entries()) {
    server.store.create({ status }, atMinute(n));
  }
  expect(await readStatuses(server)).toEqual(['open', 'closed', 'closed', 'solved']);
  expect(await readStatuses(server, { since: atMinute(2) })).toEqual([
    'deleted',
    'closed',
    'solved',
  ]);
});

test('returns tickets that only the system changed in the window', async () => {
  await using server = await startVendorServer(wire.fixture);
  const generatedAt = atMinute(30).getTime() / 1000;
  server.store.create({ status: 'merged', generated_timestamp: generatedAt }, atMinute(1));
  server.store.create({ status: 'old' }, atMinute(2));
  expect(await readStatuses(server, { since: atMinute(20), until: atMinute(40) })).toEqual([
    'merged',
  ]);
});

test('requests no start time within the last minute, which the vendor refuses', async () => {
  await using server = await startVendorServer(wire.fixture);
  await readStatuses(server, { since: new Date() });
  const [request] = server.requests;
  expect(Number(request?.query.get('start_time')) * 1000).toBeLessThanOrEqual(Date.now() - 60_000);
});

test('restarts the read for a cursor of the list without archived tickets', async () => {
  await using server = await startVendorServer(wire.fixture);
  const cursor = JSON.stringify({ by: 'all', next: 'c_100', first: '35436001', empty: 0 });
  expect((await catchFailure(readTickets(server, { cursor }))).kind).toBe('CURSOR_GONE');
});

async function readStatuses(
  server: VendorServer,
  window: Partial<PageRead> = {},
): Promise<unknown[]> {
  const values: unknown[] = [];
  let cursor: string | undefined;
  do {
    const page = await readTickets(server, { ...window, ...(cursor && { cursor }) });
    values.push(...page.records.map(({ fields }) => fields.status));
    cursor = page.nextCursor ?? undefined;
  } while (cursor);
  return values;
}

function readTickets(server: VendorServer, read: Partial<PageRead>) {
  const { readPage } = createDeclarativeProvider(zendeskSupport).capabilities;
  if (!readPage) throw new Error('The provider does not read');
  const session = createPlainSession(server.url, BEARER);
  return readPage(session, { objectName: 'tickets', fields: ['status'], pageSize: 2, ...read });
}
