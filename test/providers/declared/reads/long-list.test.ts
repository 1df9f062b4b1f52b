/**
 * Tests that a list of any length is read page by page, without keeping earlier pages.
 *
 * @module-tag all/rows
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { ProviderResponse, ProviderSession } from '../../../../src/providers/contract.ts';
import { createHubspotProvider } from '../../../../src/providers/hubspot/hubspot-provider.ts';
import type { PageRead, RecordPage } from '../../../../src/providers/moving-records.ts';
import { createMask } from '../../../../src/work/secret-mask.ts';
import { createThingsProvider, POSITION } from '../things.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');
setFlagsFromString('--no-expose-gc');

const RECORD_COUNT = 100_000;
const PAGE_SIZE = 1_000;
/**
 * Pages after which the heap is measured. A measurement collects the garbage of a worker that has loaded all modules,
 * which takes over a second of CPU time.
 */
const MEASURED_PAGES = [20, 100];

/** Creates a session without a network, so that only the connector's own work is measured. */
function createSession(createPage: (from: number) => unknown): ProviderSession {
  return {
    baseUrl: 'https://vendor.example',
    findMetadata: () => null,
    now: () => new Date(),
    send: async ({ query, body }): Promise<ProviderResponse> => {
      const parameters = { ...query, ...(body as object | undefined) } as {
        after?: unknown;
        at?: unknown;
      };
      const from = Number(parameters.at ?? parameters.after ?? 0);
      return { status: 200, headers: {}, body: createPage(from), mask: createMask([]) };
    },
  };
}

function createRows<Row>(from: number, createRow: (n: number) => Row): Row[] {
  return Array.from({ length: PAGE_SIZE }, (_, n) => createRow(from + n));
}

const CHANGE_TIME = '2026-01-01T00:00:00.000Z';

const thingsSession = createSession((from) => {
  const to = from + PAGE_SIZE;
  const records = createRows(from, (n) => ({ id: n, name: `thing ${n}`, changed: CHANGE_TIME }));
  return { things: records, next: to < RECORD_COUNT ? String(to) : null };
});

const contactsSession = createSession((from) => {
  const to = from + PAGE_SIZE;
  const results = createRows(from, (n) => ({
    id: String(n),
    properties: { name: `thing ${n}` },
    createdAt: CHANGE_TIME,
    updatedAt: CHANGE_TIME,
    archived: false,
  }));
  return { results, ...(to < RECORD_COUNT && { paging: { next: { after: String(to) } } }) };
});

type ReadPage = (session: ProviderSession, read: PageRead) => Promise<RecordPage>;

/** Reads all records. `afterPages` gets the number of pages read so far. */
async function readAll(
  readPage: ReadPage,
  { session, objectName }: { session: ProviderSession; objectName: string },
  afterPages: (pages: number) => void = () => {},
) {
  let [count, pages, cursor]: [number, number, string | undefined] = [0, 0, undefined];
  // Other load on the machine does not change CPU time.
  const start = process.threadCpuUsage();
  do {
    const read: PageRead = { objectName, fields: ['name'], pageSize: PAGE_SIZE, cursor };
    const page: RecordPage = await readPage(session, read);
    count += page.records.length;
    pages += 1;
    cursor = page.nextCursor ?? undefined;
    afterPages(pages);
  } while (cursor !== undefined);
  const { user, system } = process.threadCpuUsage(start);
  return { count, cpuMicros: user + system };
}

test('reads 100,000 records in constant memory, at least half as fast as HubSpot', async () => {
  const list = {
    paging: { kind: 'cursor', parameter: POSITION, next: '/next' },
    pageSize: { in: 'query', name: 'size', max: PAGE_SIZE },
  } as const;
  const readThings = createThingsProvider({ list }).capabilities.readPage;
  const readContacts = createHubspotProvider().capabilities.readPage;
  if (!readThings || !readContacts) throw new Error('A provider does not read');
  const heaps: number[] = [];
  const measureHeap = (pages: number) => {
    if (!MEASURED_PAGES.includes(pages)) return;
    collectGarbage();
    heaps.push(process.memoryUsage().heapUsed);
  };
  const things = { session: thingsSession, objectName: 'things' };
  const contacts = { session: contactsSession, objectName: 'contacts' };
  const declaredRead = await readAll(readThings, things);
  const hubspotRead = await readAll(readContacts, contacts);
  await readAll(readThings, things, measureHeap);
  expect(declaredRead.count).toBe(RECORD_COUNT);
  expect(hubspotRead.count).toBe(RECORD_COUNT);
  // A connector that kept half of all records would need more memory.
  const [earlyHeap = 0, lastHeap = Number.NaN] = heaps;
  expect(lastHeap - earlyHeap).toBeLessThan(5 * 1024 * 1024);
  expect(hubspotRead.cpuMicros / declaredRead.cpuMicros).toBeGreaterThan(0.5);
}, 120_000);
