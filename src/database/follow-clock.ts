/** The database's clock as a function that needs no statement for each reading. */
import { RemoteClock } from '../work/clock.ts';
import type { RunQuery } from './rows.ts';

/** Clocks drift by about a second a day, which is a tenth of a millisecond in this time. */
const CLOCK_MS = 10_000;
const READ_CLOCK = `select (extract(epoch from clock_timestamp()) * 1000)::float8 as "ms"`;

/** Reads the database's clock at an interval. A failed reading keeps the previous time; the next one corrects it. */
export async function followClock(query: RunQuery): Promise<Pick<RemoteClock, 'now'> & Disposable> {
  const clock = new RemoteClock(async () => {
    const [row] = await query<{ ms: number }>(READ_CLOCK, []);
    return row?.ms ?? Number.NaN;
  });
  // The first reading may have waited for a connection.
  await clock.sync();
  await clock.sync();
  const timer = setInterval(() => void clock.sync().catch(() => {}), CLOCK_MS).unref();
  return { now: clock.now, [Symbol.dispose]: () => clearInterval(timer) };
}
