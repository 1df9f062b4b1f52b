import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createTestDatabase, onPostgres } from '../../support/app.ts';
import { queryRows } from '../../support/database/query.ts';

const HOUR_MS = 3_600_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

// The embedded database uses the clock of the process.
test.runIf(onPostgres).each([1, -1])(
  'uses the time of the database if the clock of the process is %d h off',
  async (hours) => {
    vi.setSystemTime(Date.now() + hours * HOUR_MS);
    await using database = await createTestDatabase();
    const [row] = await queryRows<{ ms: number }>(
      database,
      'select (extract(epoch from clock_timestamp()) * 1000)::float8 as "ms"',
      [],
    );
    expect(Math.abs(database.now().getTime() - (row?.ms ?? 0))).toBeLessThan(60_000);
  },
);
