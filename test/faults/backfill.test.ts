import { setInterval as ticks } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type BackfillFixture, prepareBackfill } from './fixtures/backfill-fixture.ts';
import { type Gateway, startGateway } from './fixtures/gateway.ts';
import { IS_SHORT } from './fixtures/settings.ts';

const RECORD_COUNT = IS_SHORT ? 50_000 : 1_000_000;
const MINUTE_MS = 60_000;
const SAMPLE_MS = 100;
const RUN_MS_MAX = 30 * MINUTE_MS;
/** Number of samples of the memory in use. Each sample collects garbage, which disturbs the read. */
const USED_SAMPLES = IS_SHORT ? 20 : 40;
const MIB = 2 ** 20;

/** Far fewer than the messages of all records. */
const PENDING_MAX = 40;
/** Maximum number of pages in a slice. A read checks the number of pending deliveries before each slice. */
const SLICE_PAGES = 50;
/** Number of messages, of up to 300,000 bytes, for the provider's largest page. */
const MESSAGES_OF_PAGE = 5;

/**
 * The memory in use is over 100 MiB. It varies by some MiB, for a page and for messages that wait. A record takes 1
 * kB, so keeping a tenth of the records would exceed the limit.
 */
const USED_GROWTH_MAX = 1.1;
/** RSS varies, because it includes garbage. It must not grow continuously. */
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
async function sampleUntilEnd(fixture: BackfillFixture, gateway: Gateway): Promise<Sample[]> {
  const { receiver } = fixture;
  const { prisma } = fixture.database;
  const samples: Sample[] = [];
  const startedMs = performance.now();
  let nextUsedSample = 0;
  for await (const _ of ticks(SAMPLE_MS)) {
    const openOperations = await prisma.operation.count({ where: { status: 'IN_PROGRESS' } });
    const pendingCount = await prisma.delivery.count({ where: { nextAttemptTime: { not: null } } });
    const { records } = receiver;
    const rssMib = gateway.readRssBytes() / MIB;
    const isUsedSample = records > nextUsedSample;
    if (isUsedSample) nextUsedSample = records + RECORD_COUNT / USED_SAMPLES;
    const usedMib = isUsedSample ? (await gateway.measureUsedBytes()) / MIB : null;
    samples.push({
      ms: performance.now() - startedMs,
      records,
      rssMib,
      usedMib,
      pending: pendingCount,
    });
    const isOver = openOperations === 0 && pendingCount === 0 && records > 0;
    if (isOver || performance.now() - startedMs > RUN_MS_MAX) break;
  }
  return samples;
}

/** Returns the median in a quarter of the run. The first quarter is 1. */
function computeMedian(samples: Sample[], quarter: number, name: 'rssMib' | 'usedMib'): number {
  const values = samples.flatMap((sample) => (sample.records > 0 ? (sample[name] ?? []) : []));
  const size = values.length / 4;
  const sorted = values.slice((quarter - 1) * size, quarter * size).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function report(samples: Sample[]): void {
  const firstMs = samples.find(({ records }) => records > 0)?.ms ?? 0;
  const seconds = ((samples.at(-1)?.ms ?? 0) - firstMs) / 1_000;
  const quarters = [1, 2, 3, 4].map((quarter) => {
    const [rss, used] = (['rssMib', 'usedMib'] as const).map((name) =>
      Math.round(computeMedian(samples, quarter, name)),
    );
    return `${rss} (${used})`;
  });
  const mostPending = Math.max(...samples.map(({ pending }) => pending));
  console.log(
    `${RECORD_COUNT} records in ${seconds.toFixed(1)} s, ${Math.round(RECORD_COUNT / seconds)}/s; ` +
      `MiB of RSS (in use) by quarters: ${quarters.join(', ')}; at most ${mostPending} pending`,
  );
}

test(`reads ${RECORD_COUNT} records in a backfill with constant memory, and delivers each record once`, async () => {
  const fixture = await prepareBackfill({ accounts: RECORD_COUNT, pendingMax: PENDING_MAX });
  const { receiver, database } = fixture;
  const gateway = await startGateway(fixture.env);
  const samples = await sampleUntilEnd(fixture, gateway);
  report(samples);

  expect(receiver.times.filter((times) => times !== 1)).toHaveLength(0);
  expect(receiver).toMatchObject({ records: RECORD_COUNT, repeated: 0 });
  expect(await database.prisma.delivery.count()).toBe(receiver.messages);
  expect(await database.prisma.operation.findMany()).toMatchObject([
    { status: 'SUCCESS', result: `[Account] Read completed (${RECORD_COUNT} records)` },
  ]);
  const mostPending = Math.max(...samples.map(({ pending }) => pending));
  expect(mostPending).toBeLessThan(PENDING_MAX + SLICE_PAGES * MESSAGES_OF_PAGE);
  const computeGrowth = (name: 'rssMib' | 'usedMib') =>
    computeMedian(samples, 4, name) / computeMedian(samples, 2, name);
  expect(computeGrowth('usedMib')).toBeLessThan(USED_GROWTH_MAX);
  expect(computeGrowth('rssMib')).toBeLessThan(RSS_GROWTH_MAX);
  expect(await gateway.stop()).toBe(0);
});

test('pauses a read after a slice if its destination does not respond, and continues when it responds', async () => {
  const pageSize = 200;
  const accounts = 2 * SLICE_PAGES * pageSize;
  const fixture = await prepareBackfill({ accounts, pageSize, pendingMax: 10 });
  const { org, receiver } = fixture;
  const { prisma } = fixture.database;
  const release = receiver.hold();
  const gateway = await startGateway(fixture.env);
  const readSecondsUntilDue = async () => {
    const [run] = await prisma.$queryRaw<{ seconds: number }[]>`
      select extract(epoch from "dueTime" - now())::float8 as "seconds"
      from "ReadRun" where "leaseToken" is null and "pagesRead" > 0`;
    return run?.seconds ?? 0;
  };
  await expect.poll(readSecondsUntilDue, { timeout: MINUTE_MS }).toBeGreaterThan(10);
  const pages = org.requests.length;
  expect(pages).toBeLessThanOrEqual(10 + SLICE_PAGES);
  expect(await prisma.delivery.count({ where: { status: 'PENDING' } })).toBe(pages);
  expect(receiver.records).toBe(0);

  release();
  const countPending = () => prisma.delivery.count({ where: { status: 'PENDING' } });
  await expect.poll(countPending, { timeout: MINUTE_MS }).toBe(0);
  // The short form does not wait until the run is due.
  if (IS_SHORT) await prisma.$executeRaw`update "ReadRun" set "dueTime" = now()`;
  await expect.poll(() => receiver.records, { timeout: 5 * MINUTE_MS }).toBe(accounts);
  expect(receiver.times.filter((times) => times !== 1)).toHaveLength(0);
  expect(org.requests).toHaveLength(2 * SLICE_PAGES);
  expect(await gateway.stop()).toBe(0);
});
