/** Tests scheduled reads of lists in which records appear late, and reads whose cursors repeat or expire. */
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { startDueReads } from '../../../src/domain/data/operation/read/schedule.ts';
import type { Behavior } from '../../../src/providers/behavior.ts';
import type { Capabilities } from '../../../src/providers/contract.ts';
import type { PageRead, RecordPage } from '../../../src/providers/moving-records.ts';
import { ProviderError } from '../../../src/providers/provider-error.ts';
import { createSandboxProvider } from '../../../src/providers/sandbox/sandbox-provider.ts';
import { HOUR_MS, MINUTE_MS } from '../../../src/work/durations.ts';
import { getSharedApp } from '../../support/app.ts';
import {
  type InstalledReads,
  installReads,
  POLLING,
  startUnscheduledReadJobs,
  TRIGGER_READ,
} from '../../support/fixtures/reads.ts';
import { UNDOCUMENTED } from '../../support/providers/provider-session.ts';

interface VendorRecord {
  id: string;
  email: string;
  changedAt: number;
  visibleAt: number;
}

/** The vendor's account, and how its list behaves. */
const vendor = {
  records: [] as VendorRecord[],
  visibility: 'notDocumented' as Behavior['visibility'],
  readPage: readVisible,
};
/** The time of the app and of the vendor. */
let now = Date.now();

beforeEach(() => {
  now += 24 * HOUR_MS;
  vendor.records = [];
  vendor.visibility = 'notDocumented';
  vendor.readPage = readVisible;
});

async function readVisible({ since, until, cursor, pageSize }: PageRead): Promise<RecordPage> {
  const visible = vendor.records
    .filter(({ visibleAt }) => visibleAt <= now)
    .filter(({ changedAt }) => !since || changedAt >= since.getTime())
    .filter(({ changedAt }) => !until || changedAt <= until.getTime());
  const from = Number(cursor ?? 0);
  const next = from + pageSize;
  return {
    records: visible.slice(from, next).map(({ id, email }) => ({
      id,
      fields: { email },
      raw: { id, email },
    })),
    nextCursor: next < visible.length ? String(next) : null,
    estimatedTotal: null,
  };
}

function store(id: string, { ageMs = 0, delayMs = 0 } = {}): VendorRecord {
  const changedAt = now - ageMs;
  const record = { id, email: `${id}@example.test`, changedAt, visibleAt: changedAt + delayMs };
  vendor.records = [...vendor.records.filter((other) => other.id !== id), record];
  return record;
}

const provider = createSandboxProvider(() => 'http://127.0.0.1:9');
const capabilities: Capabilities = {
  ...provider.capabilities,
  readPage: (_session, read) => vendor.readPage(read),
  getBehavior: () => ({ ...UNDOCUMENTED, visibility: vendor.visibility }),
};
const app = await getSharedApp({
  now: () => new Date(now),
  providers: [{ ...provider, capabilities }],
});
const { services } = app.app;
const { prisma } = services.database;

/** Installs reads whose first read has ended. `read` runs the next scheduled read after some time. */
async function installWithBackfill(object: object = {}) {
  const tenant = await app.createTenant();
  const reads = await installReads(app, tenant, { object });
  let readCount = 0;
  const start = async () => {
    await reads.makeDue();
    await startDueReads(services);
    readCount += 1;
  };
  const read = async (waitMs = 0) => {
    now += waitMs;
    await start();
    const operation = (await reads.waitForOperations(readCount)).at(-1);
    return operation?.result;
  };
  await read();
  return { tenant, reads, start, read };
}

async function listDeliveredIds(reads: InstalledReads) {
  const messages = await reads.listMessages();
  return messages.flatMap(({ result }) => result.map(({ raw }) => raw.id));
}

test('delivers a record that appears after the end of its window, and no other record again', async () => {
  await using _workers = await startUnscheduledReadJobs(app);
  vendor.visibility = { lookBackMs: 15 * MINUTE_MS };
  const { reads, read } = await installWithBackfill();
  store('on time', { ageMs: 0 });
  store('late', { delayMs: 12 * MINUTE_MS });
  expect(await read(5 * MINUTE_MS)).toBe('[contacts] Read completed (1 record)');
  expect(await read(8 * MINUTE_MS)).toBe('[contacts] Read completed (1 record)');
  expect(await read(MINUTE_MS)).toBe('[contacts] No new data found');
  expect(await listDeliveredIds(reads)).toEqual(['on time', 'late']);
});

test('delivers a record again if it has changed', async () => {
  await using _workers = await startUnscheduledReadJobs(app);
  vendor.visibility = { lookBackMs: 15 * MINUTE_MS };
  const { reads, read } = await installWithBackfill();
  store('a');
  await read(2 * MINUTE_MS);
  const record = store('a');
  record.email = 'new@example.test';
  await read(2 * MINUTE_MS);
  const messages = await reads.listMessages();
  const emails = messages.flatMap(({ result }) => result.map(({ fields }) => fields.email));
  expect(emails).toEqual(['a@example.test', 'new@example.test']);
});

/** Makes each page have one record, and fails the read after this number of pages. */
function failAfterPages(pagesMax: number): void {
  vendor.readPage = async (request) => {
    if (Number(request.cursor ?? 0) >= pagesMax) throw new ProviderError('FORBIDDEN', 'No access.');
    return readVisible({ ...request, pageSize: 1 });
  };
}

/** Returns the emails that were delivered of one record. */
async function listDeliveredEmails(reads: InstalledReads, id: string) {
  const messages = await reads.listMessages();
  return messages.flatMap(({ result }) =>
    result.filter(({ raw }) => raw.id === id).map(({ fields }) => fields.email),
  );
}

test('delivers a record that changes back after a read that delivered its change and failed', async () => {
  await using _workers = await startUnscheduledReadJobs(app);
  vendor.visibility = { lookBackMs: 15 * MINUTE_MS };
  const { reads, read } = await installWithBackfill();
  store('a');
  await read(2 * MINUTE_MS);
  store('a').email = 'new@example.test';
  store('b');
  failAfterPages(1);
  expect(await read(2 * MINUTE_MS)).toContain('No access.');
  vendor.readPage = readVisible;
  store('a');
  await read(2 * MINUTE_MS);
  const emails = ['a@example.test', 'new@example.test', 'a@example.test'];
  expect(await listDeliveredEmails(reads, 'a')).toEqual(emails);
});

test('delivers a record that changes back if the failed read had forgotten its first version', async () => {
  await using _workers = await startUnscheduledReadJobs(app);
  vendor.visibility = { lookBackMs: 15 * MINUTE_MS };
  const { reads, read } = await installWithBackfill();
  store('a');
  await read(2 * MINUTE_MS);
  await read(30 * MINUTE_MS);
  store('b');
  store('a').email = 'new@example.test';
  store('c');
  failAfterPages(2);
  expect(await read(2 * MINUTE_MS)).toContain('No access.');
  vendor.readPage = readVisible;
  store('a');
  await read(2 * MINUTE_MS);
  const emails = ['a@example.test', 'new@example.test', 'a@example.test'];
  expect(await listDeliveredEmails(reads, 'a')).toEqual(emails);
});

test('delivers a record that changes back after a triggered read during a scheduled read', async () => {
  await using _workers = await startUnscheduledReadJobs(app);
  vendor.visibility = { lookBackMs: 15 * MINUTE_MS };
  const { tenant, reads, start, read } = await installWithBackfill();
  store('a');
  await read(2 * MINUTE_MS);
  vendor.readPage = async (request) => {
    const page = await readVisible(request);
    vendor.readPage = readVisible;
    store('a').email = 'new@example.test';
    await tenant.query(TRIGGER_READ, { input: { ...reads.triggerInput, objectName: 'contacts' } });
    const listEmails = () => listDeliveredEmails(reads, 'a');
    await expect.poll(listEmails, POLLING).toContain('new@example.test');
    return page;
  };
  now += 2 * MINUTE_MS;
  await start();
  // The first read, two scheduled reads, and the triggered one.
  await reads.waitForOperations(4);
  store('a');
  now += 2 * MINUTE_MS;
  await start();
  await reads.waitForOperations(5);
  expect((await listDeliveredEmails(reads, 'a')).at(-1)).toBe('a@example.test');
});

test('delivers no record again that an earlier time slice of a slow read delivered', async () => {
  await using _workers = await startUnscheduledReadJobs(app);
  vendor.visibility = { lookBackMs: 15 * MINUTE_MS };
  const { reads, read } = await installWithBackfill();
  const ids = ['a', 'b', 'c'].map((id) => store(id).id);
  const readFullPage = vendor.readPage;
  // Each page takes longer than a time slice.
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  vendor.readPage = async (request) => {
    vi.advanceTimersByTime(MINUTE_MS);
    return readFullPage({ ...request, pageSize: 1 });
  };
  expect(await read(2 * MINUTE_MS)).toBe('[contacts] Read completed (3 records)');
  expect(await read(MINUTE_MS)).toBe('[contacts] No new data found');
  expect(await listDeliveredIds(reads)).toEqual(ids);
});

test('waits for the settle time of the list', async () => {
  await using _workers = await startUnscheduledReadJobs(app);
  vendor.visibility = { settleMs: 6 * MINUTE_MS };
  const { reads, read } = await installWithBackfill();
  store('on time');
  store('late', { delayMs: 5 * MINUTE_MS });
  expect(await read(4 * MINUTE_MS)).toBe('[contacts] No new data found');
  expect(await read(10 * MINUTE_MS)).toBe('[contacts] Read completed (2 records)');
  expect(await read(10 * MINUTE_MS)).toBe('[contacts] No new data found');
  expect(await listDeliveredIds(reads)).toEqual(['on time', 'late']);
  expect(await prisma.deliveredEntries.count({ where: { installationId: reads.id } })).toBe(0);
});

test('delivers records that waited for a full message when their read failed', async () => {
  await using _workers = await startUnscheduledReadJobs(app);
  const { reads, read } = await installWithBackfill({ delivery: { pageSize: 50 } });
  for (let n = 0; n < 120; n += 1) store(String(n));
  const readFirstPages = vendor.readPage;
  vendor.readPage = async (request) => {
    if (Number(request.cursor) >= 50) throw new ProviderError('FORBIDDEN', 'No access.');
    return readFirstPages({ ...request, pageSize: 70 - Number(request.cursor ?? 0) });
  };
  await read(5 * MINUTE_MS);
  expect(await listDeliveredIds(reads)).toHaveLength(50);
  vendor.readPage = readFirstPages;
  await read(MINUTE_MS);
  const ids = await listDeliveredIds(reads);
  expect(new Set(ids).size).toBe(120);
});

test.each([1, 2, 7])('fails a read whose cursors repeat after %i pages', async (length) => {
  await using _workers = await startUnscheduledReadJobs(app);
  const { reads, start } = await installWithBackfill();
  let pages = 0;
  vendor.readPage = async () => {
    pages += 1;
    return { records: [], nextCursor: `page ${pages % length}`, estimatedTotal: null };
  };
  await start();
  expect((await reads.waitForOperations(2)).at(-1)).toMatchObject({
    status: 'FAILURE',
    result: '[contacts] Error reading from provider: The pages of the list repeat themselves',
  });
  expect(pages).toBeLessThanOrEqual(3 * length + 1);
});

test('restarts as often as it gets further', async () => {
  await using _workers = await startUnscheduledReadJobs(app);
  const { reads, start } = await installWithBackfill();
  let furthestPage = 0;
  vendor.readPage = async ({ cursor }) => {
    const page = Number(cursor ?? 0);
    if (page > furthestPage && furthestPage < 14) {
      furthestPage = page;
      throw new ProviderError('CURSOR_GONE', 'The cursor has expired.');
    }
    return { records: [], nextCursor: page < 15 ? String(page + 1) : null, estimatedTotal: null };
  };
  await start();
  expect((await reads.waitForOperations(2)).at(-1)).toMatchObject({ status: 'SUCCESS' });
});

test('fails a read that restarts without getting further', async () => {
  await using _workers = await startUnscheduledReadJobs(app);
  const { reads, start } = await installWithBackfill();
  vendor.readPage = async ({ cursor }) => {
    if (cursor === '2') throw new ProviderError('CURSOR_GONE', 'The cursor has expired.');
    const page = Number(cursor ?? 0);
    return { records: [], nextCursor: String(page + 1), estimatedTotal: null };
  };
  await start();
  expect((await reads.waitForOperations(2)).at(-1)).toMatchObject({
    status: 'FAILURE',
    result: '[contacts] Error reading from provider: The cursor has expired.',
  });
});
