/** Tests searches that compare days, and the limit of the list of companies. */
import { expect, test } from 'vitest';
import { createDeclarativeProvider } from '../../../../src/providers/declarative/declarative-provider.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../src/work/durations.ts';
import {
  type ServedRequest,
  startProviderServer,
} from '../../../support/providers/provider-server.ts';
import { createPlainSession } from '../../../support/providers/provider-session.ts';
import { getDeclaration } from '../../../support/wire/declarations.ts';
import { startVendorServer } from '../../../support/wire/vendor-server.ts';
import { intercom as wire } from '../../../support/wire/vendors/support/intercom-wire.ts';
import { readAll } from '../reading.ts';

const NOON = new Date('2026-03-10T12:00:00Z');

function hoursBefore(hours: number): Date {
  return new Date(NOON.getTime() - hours * HOUR_MS);
}

test('returns contacts that changed today, although the search compares days', async () => {
  await using server = await startVendorServer(wire.fixture);
  const recent = server.store.create({}, new Date(NOON.getTime() - 30 * MINUTE_MS));
  server.store.create({}, hoursBefore(2));
  const window = { since: hoursBefore(1), until: NOON };
  const records = await readAll(server.url, 'intercom', { objectName: 'contacts', ...window });
  expect(records.map(({ id }) => id)).toEqual([recent.id]);
});

test('returns contacts of windows that begin and end at midnight', async () => {
  await using server = await startVendorServer(wire.fixture);
  const midnight = new Date('2026-03-10T00:00:00Z');
  const previousMidnight = new Date(midnight.getTime() - DAY_MS);
  for (const time of [previousMidnight, midnight]) server.store.create({}, time);
  const window = { since: previousMidnight, until: midnight };
  const records = await readAll(server.url, 'intercom', { objectName: 'contacts', ...window });
  expect(records).toHaveLength(2);
});

test('stops at the first contact before the window', async () => {
  await using server = await startVendorServer(wire.fixture);
  for (let n = 0; n < 600; n += 1) {
    server.store.create({}, new Date(NOON.getTime() - n * MINUTE_MS));
  }
  const read = { objectName: 'contacts', since: hoursBefore(1), until: NOON, pageSize: 150 };
  expect(await readAll(server.url, 'intercom', read)).toHaveLength(61);
  expect(server.requests).toHaveLength(1);
});

const COMPANIES_MAX = 10_000;

/** Serves companies by numbered pages up to the vendor's limit, and by one scroll. */
async function startCompanyServer(
  count: number,
  override: (request: ServedRequest) => { status: number; body: unknown } | 'drop' | undefined,
) {
  let scrolled = 0;
  const toCompanies = (from: number, size: number) =>
    Array.from({ length: Math.max(0, Math.min(size, count - from)) }, (_, n) => ({
      id: `company ${from + n}`,
    }));
  return startProviderServer((request) => {
    const response = override(request);
    if (response === 'drop') {
      scrolled += 100;
      return {
        status: 500,
        body: { errors: [{ message: 'Please restart the scroll operation.' }] },
      };
    }
    if (response) return response;
    if (request.path === '/companies/scroll') {
      if (!request.query.has('scroll_param')) scrolled = 0;
      const data = toCompanies(scrolled, 100);
      scrolled += 100;
      // All pages of a scroll may have the same parameter.
      return { status: 200, body: { data, pages: null, total_count: null, scroll_param: 's1' } };
    }
    const size = Number(request.query.get('per_page'));
    const from = (Number(request.query.get('page')) - 1) * size;
    if (from + size > COMPANIES_MAX) {
      return { status: 400, body: { errors: [{ message: 'page limit reached, use scroll' }] } };
    }
    const pages = { total_pages: Math.ceil(count / size) };
    return { status: 200, body: { data: toCompanies(from, size), pages, total_count: count } };
  });
}

function readCompanies(url: string) {
  return readAll(url, 'intercom', { objectName: 'companies', pageSize: 60 });
}

test('returns companies beyond the limit of numbered pages', async () => {
  await using server = await startCompanyServer(10_350, () => undefined);
  const records = await readCompanies(server.url);
  expect(new Set(records.map(({ id }) => id)).size).toBe(10_350);
});

test('does not scroll if numbered pages have all companies', async () => {
  await using server = await startCompanyServer(500, () => undefined);
  expect(await readCompanies(server.url)).toHaveLength(500);
  expect(server.requests.map(({ path }) => path)).not.toContain('/companies/scroll');
});

test('waits while another scroll of the workspace is open', async () => {
  const error = { errors: [{ code: 'scroll_exists', message: 'scroll already exists' }] };
  await using server = await startCompanyServer(10_350, ({ path }) =>
    path === '/companies/scroll' ? { status: 400, body: error } : undefined,
  );
  await expect(readCompanies(server.url)).rejects.toMatchObject({
    kind: 'RATE_LIMITED',
    retryAfterMs: MINUTE_MS,
  });
});

test('restarts a scroll that another time slice or an error has interrupted', async () => {
  await using server = await startCompanyServer(10_350, () => undefined);
  const { readPage } = createDeclarativeProvider(getDeclaration('intercom')).capabilities;
  const session = createPlainSession(server.url);
  const cursor = JSON.stringify({ by: 'deep', next: 'scroll', first: 'c1', empty: 0 });
  const read = { objectName: 'companies', fields: [], pageSize: 150, cursor };
  await expect(readPage?.(session, read)).rejects.toMatchObject({ kind: 'CURSOR_GONE' });
  expect(server.requests).toEqual([]);
});

test.each([
  ['has expired', { status: 404, body: { errors: [{ code: 'not_found' }] } }],
  ['may have skipped a page', 'drop' as const],
])('restarts the read if a scroll %s', async (_case, response) => {
  await using server = await startCompanyServer(10_350, ({ query }) =>
    query.has('scroll_param') ? response : undefined,
  );
  await expect(readCompanies(server.url)).rejects.toMatchObject({ kind: 'CURSOR_GONE' });
});
