import { setInterval as ticks } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type BackfillFixture, prepareBackfill } from './fixtures/backfill-fixture.ts';
import { type Gateway, startGateway } from './fixtures/gateway.ts';

/** FAULTS_SHORT=1 runs the short form. */
const SHORT = process.env.FAULTS_SHORT === '1';
const RECORDS = SHORT ? 50_000 : 1_000_000;
const MINUTE_MS = 60_000;
const SAMPLE_MS = 100;
const RUN_MS_MAX = 30 * MINUTE_MS;
/**
 * Number of samples of the memory in use. Each collects garbage, so there are few, to disturb the read
 * little.
 */
const USED_LOOKS = 40;
const MIB = 2 ** 20;

/** Far fewer than the messages of all records. */
const PENDING_MAX = 40;
/** A read checks the number of pending deliveries before each turn, which has at most this many pages. */
const SLICE_PAGES = 50;
/** Messages of the provider's largest page, at 300,000 bytes for each. */
const MESSAGES_OF_PAGE = 5;

/**
 * The memory in use may vary by a page and by messages that wait to be sent, which is some MiB of over 100. A
 * record takes a kilobyte. If a tenth of the records between the quarters stayed in memory, the limit would
 * be exceeded.
 */
const USED_GROWTH_MAX = 1.1;
/** RSS includes garbage that is not collected yet. It varies, but must not accumulate. */
const RSS_GROWTH_MAX = 1.3;

interface Sample {
  ms: number;
  records: number;
  rssMib: number;
  /** Null if it was not measured. */
  usedMib: number | null;
  pending: number;
}

/** Takes samples until the operation has ended and no delivery is pending. */
async function sampleToTheEnd(fixture: BackfillFixture, gateway: Gateway): Promise<Sample[]> {
  const { receiver } = fixture;
  const { prisma } = fixture.database;
  const samples: Sample[] = [];
  const startedMs = performance.now();
  let nextPoll = 0;
  for await (const _ of ticks(SAMPLE_MS)) {
    const open = await prisma.operation.count({ where: { status: 'IN_PROGRESS' } });
    const pending = await prisma.delivery.count({ where: { nextAttemptTime: { not: null } } });
    const { records } = receiver;
    const rssMib = gateway.rssBytes() / MIB;
    const isLook = records > nextPoll;
    if (isLook) nextPoll = records + RECORDS / USED_LOOKS;
    const usedMib = isLook ? (await gateway.usedBytes()) / MIB : null;
    samples.push({ ms: performance.now() - startedMs, records, rssMib, usedMib, pending });
    const isOver = open === 0 && pending === 0 && records > 0;
    if (isOver || performance.now() - startedMs > RUN_MS_MAX) break;
  }
  return samples;
}

/** Returns the median of a quarter of the run. Quarters are numbered from 1 to 4. */
function computeMedian(samples: Sample[], quarter: number, name: 'rssMib' | 'usedMib'): number {
  const values = samples.flatMap((sample) => (sample.records > 0 ? (sample[name] ?? []) : []));
  const size = values.length / 4;
  const sorted = values.slice((quarter - 1) * size, quarter * size).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function report(samples: Sample[]): void {
  const began = samples.find(({ records }) => records > 0)?.ms ?? 0;
  const seconds = ((samples.at(-1)?.ms ?? 0) - began) / 1_000;
  const quarters = [1, 2, 3, 4].map((quarter) => {
    const [rss, used] = (['rssMib', 'usedMib'] as const).map((name) =>
      Math.round(computeMedian(samples, quarter, name)),
    );
    return `${rss} (${used})`;
  });
  const mostPending = Math.max(...samples.map(({ pending }) => pending));
  console.log(
    `${RECORDS} records in ${seconds.toFixed(1)} s, ${Math.round(RECORDS / seconds)}/s; ` +
      `MiB of RSS (in use) by quarters: ${quarters.join(', ')}; at most ${mostPending} pending`,
  );
}

test(`a backfill of ${RECORDS} records has constant memory and delivers each record once`, async () => {
  const fixture = await prepareBackfill({ accounts: RECORDS, pendingMax: PENDING_MAX });
  const { receiver, database } = fixture;
  const gateway = await startGateway(fixture.env);
  const samples = await sampleToTheEnd(fixture, gateway);
  report(samples);

  expect(receiver.times.filter((times) => times !== 1)).toHaveLength(0);
  expect(receiver).toMatchObject({ records: RECORDS, repeated: 0 });
  expect(await database.prisma.delivery.count()).toBe(receiver.messages);
  expect(await database.prisma.operation.findMany()).toMatchObject([
    { status: 'SUCCESS', result: `[Account] Read completed (${RECORDS} records)` },
  ]);
  const mostPending = Math.max(...samples.map(({ pending }) => pending));
  expect(mostPending).toBeLessThan(PENDING_MAX + SLICE_PAGES * MESSAGES_OF_PAGE);
  const growth = (name: 'rssMib' | 'usedMib') =>
    computeMedian(samples, 4, name) / computeMedian(samples, 2, name);
  expect(growth('usedMib')).toBeLessThan(USED_GROWTH_MAX);
  expect(growth('rssMib')).toBeLessThan(RSS_GROWTH_MAX);
  expect(await gateway.stop()).toBe(0);
});

test('a read whose destination does not respond pauses after a slice and continues afterwards', async () => {
  const pageSize = 200;
  const accounts = 2 * SLICE_PAGES * pageSize;
  const fixture = await prepareBackfill({ accounts, pageSize, pendingMax: 10 });
  const { org, receiver } = fixture;
  const { prisma } = fixture.database;
  const release = receiver.hold();
  const gateway = await startGateway(fixture.env);
  const dueInSeconds = async () => {
    const [run] = await prisma.$queryRaw<{ seconds: number }[]>`
      select extract(epoch from "dueTime" - now())::float8 as "seconds"
      from "ReadRun" where "leaseToken" is null and "pagesRead" > 0`;
    return run?.seconds ?? 0;
  };
  await expect.poll(dueInSeconds, { timeout: MINUTE_MS }).toBeGreaterThan(10);
  const pages = org.requests.length;
  expect(pages).toBeLessThanOrEqual(10 + SLICE_PAGES);
  expect(await prisma.delivery.count({ where: { status: 'PENDING' } })).toBe(pages);
  expect(receiver.records).toBe(0);

  release();
  const pending = () => prisma.delivery.count({ where: { status: 'PENDING' } });
  await expect.poll(pending, { timeout: MINUTE_MS }).toBe(0);
  // The short form does not wait until the run is due.
  if (SHORT) await prisma.$executeRaw`update "ReadRun" set "dueTime" = now()`;
  await expect.poll(() => receiver.records, { timeout: 5 * MINUTE_MS }).toBe(accounts);
  expect(receiver.times.filter((times) => times !== 1)).toHaveLength(0);
  expect(org.requests).toHaveLength(2 * SLICE_PAGES);
  expect(await gateway.stop()).toBe(0);
});
