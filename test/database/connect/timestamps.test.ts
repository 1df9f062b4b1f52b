/** Parsers return a time exactly as it was stored. */
import { expect, test } from 'vitest';
import { parseTimestamp } from '../../../src/database/connect/column-types.ts';
import { createTestDatabase } from '../../support/app.ts';
import { toQuery } from '../../support/database/query.ts';

const TIMES = [
  '0001-01-01T00:00:00.000Z',
  '0050-06-15T12:00:00.001Z',
  '0099-12-31T23:59:59.999Z',
  '0100-03-01T00:00:00.010Z',
  '1969-12-31T23:59:59.900Z',
  '1970-01-01T00:00:00.000Z',
  '2000-02-29T23:59:59.120Z',
  '2026-11-21T11:23:26.123Z',
  '9999-12-31T23:59:59.999Z',
];

test('returns stored times unchanged as dates, as JSON and in milliseconds', async () => {
  await using database = await createTestDatabase();
  const query = toQuery(database);
  const storedTimes = await query<{ time: Date }>(
    'select time::timestamptz(3) as time from unnest($1::text[]) with ordinality as t (time, n) order by n',
    [TIMES],
  );
  expect(storedTimes.map(({ time }) => time.toISOString())).toEqual(TIMES);
  expect(storedTimes.map(({ time }) => JSON.parse(JSON.stringify(time)))).toEqual(TIMES);
  expect(storedTimes.map(({ time }) => time.getTime())).toEqual(
    TIMES.map((time) => Date.parse(time)),
  );
});

test.each([
  '2026-01-31 12:00:00.1234+00',
  '2026-01-31 12:00:00.+00',
  '2026-01-31 12:00:00.123+02',
  '2026-01-31 12:00:00.123+00:30',
  '12026-01-31 12:00:00+00',
  '0001-01-31 12:00:00+00 BC',
  'infinity',
  '',
])('returns null for %j, which the slow parser must parse', (text) => {
  expect(parseTimestamp(text)).toBeNull();
});
