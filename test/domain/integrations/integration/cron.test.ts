import { CronExpressionParser } from 'cron-parser';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  findScheduleProblem,
  getNextRunTime,
} from '../../../../src/domain/integrations/integration/cron.ts';

const TOO_OFTEN = 'must be at most one run in 10 minutes.';

test.each([
  '*/10 * * * *',
  '0 * * * *',
  '5,55 * * * *',
  '59,9 0-22/2 * * *',
  '30 4 1,15 * *',
  '0 12 * jan-mar MON-FRI',
  '0 0 29 2 *',
  '0 0 * * 7',
])('accepts the schedule %s', (text) => {
  expect(findScheduleProblem(text)).toBeNull();
});

test.each([
  '* * * * *',
  '*/9 * * * *',
  '*/7 * * * *',
  '0,5 3 * * *',
  '0,55 * * * *',
])('refuses %s, which runs more often than every ten minutes', (text) => {
  expect(findScheduleProblem(text)).toBe(TOO_OFTEN);
});

test.each([
  ['over the hour', '0,55 3,4 * * *'],
  ['over midnight', '0,55 0,23 * * *'],
  ['over midnight on two weekdays in a row', '0,55 0,23 * * mon,tue'],
  ['over midnight at the turn of a month', '0,55 0,23 1,31 * *'],
  ['over midnight in leap years only', '0,55 0,23 1,29 2,3 *'],
  ['over midnight if a date follows a weekday', '0,55 0,23 15 6 mon'],
])('refuses two runs within ten minutes %s', (_where, text) => {
  expect(findScheduleProblem(text)).toBe(TOO_OFTEN);
});

test('refuses exactly the schedules with two runs within ten minutes', () => {
  const createNumbers = (max: number) =>
    fc.uniqueArray(fc.nat(max), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(
      createNumbers(59),
      createNumbers(23),
      createNumbers(6),
      (minutes, hours, weekdays) => {
        const runs: number[] = [];
        for (let minute = 0; minute < 15 * 24 * 60; minute += 1) {
          const [day, hour] = [Math.floor(minute / 1440) % 7, Math.floor(minute / 60) % 24];
          if (!weekdays.includes(day) || !hours.includes(hour)) continue;
          if (minutes.includes(minute % 60)) runs.push(minute);
        }
        const isTooOften = runs.some(
          (run, index) => index > 0 && run - Number(runs[index - 1]) < 10,
        );
        const problem = findScheduleProblem(`${minutes} ${hours} * * ${weekdays}`);
        expect(problem).toBe(isTooOften ? TOO_OFTEN : null);
      },
    ),
  );
});

test('accepts runs around midnight if the days are never consecutive', () => {
  expect(findScheduleProblem('0,55 0,23 * * mon')).toBeNull();
  expect(findScheduleProblem('0,55 0,23 29 2 *')).toBeNull();
});

test.each([
  ['', 'an empty text'],
  ['0 0 * * * *', 'six fields'],
  ['0 * * *', 'four fields'],
  ['@daily', 'a nickname'],
  ['H * * * *', 'a hash'],
  ['0 0 L * *', 'a last day'],
  ['0 0 ? * *', 'a question mark'],
  ['0 0 * * 1#2', 'the nth weekday'],
  ['60 * * * *', 'an invalid minute'],
  ['5-4 * * * *', 'a range that ends before it begins'],
  ['0 0 * foo *', 'an unknown month'],
  [' 0 0 * * *', 'a leading space'],
])('refuses %j: %s', (text) => {
  expect(findScheduleProblem(text)).toMatch(/^must be a cron expression of five fields/);
});

test('refuses a date that never occurs', () => {
  expect(findScheduleProblem('0 0 30 2 *')).not.toBeNull();
});

test('returns the time of the next run, in UTC', () => {
  const findNextRun = (schedule: string, after: string) =>
    getNextRunTime(schedule, new Date(after)).toISOString();
  expect(findNextRun('*/10 * * * *', '2024-05-01T10:09:59.999Z')).toBe('2024-05-01T10:10:00.000Z');
  expect(findNextRun('*/10 * * * *', '2024-05-01T10:10:00.000Z')).toBe('2024-05-01T10:20:00.000Z');
  expect(findNextRun('30 2 * * *', '2024-03-31T02:30:00.000Z')).toBe('2024-04-01T02:30:00.000Z');
  expect(findNextRun('0 0 29 2 *', '2024-03-01T00:00:00.000Z')).toBe('2028-02-29T00:00:00.000Z');
});

test('accepts only schedules that cron-parser reads', () => {
  const createField = (max: number, words: string[]) => {
    const value = fc.oneof(fc.nat(max).map(String), fc.constantFrom('*', ...words));
    const range = fc.tuple(value, value).map((ends) => ends.join('-'));
    const step = fc.tuple(fc.oneof(value, range), fc.nat(max)).map((parts) => parts.join('/'));
    const item = fc.oneof({ weight: 6, arbitrary: value }, range, step);
    return fc.oneof({ weight: 3, arbitrary: item }, fc.tuple(item, item).map(String));
  };
  const schedules = fc.tuple(
    createField(59, []),
    createField(23, []),
    createField(31, []),
    createField(12, ['jan', 'DEC', 'mon']),
    createField(7, ['sun', 'Mon', 'sat', 'jan']),
  );
  let acceptedCount = 0;
  fc.assert(
    fc.property(schedules, (fields) => {
      const text = fields.join(' ');
      if (findScheduleProblem(text, 0) !== null) return;
      acceptedCount += 1;
      const options = { currentDate: new Date(0), tz: 'UTC' };
      expect(() => CronExpressionParser.parse(text, options)).not.toThrow();
    }),
    { numRuns: 5_000 },
  );
  expect(acceptedCount).toBeGreaterThan(100);
});
