import { expect, test } from 'vitest';
import { describeSchedule } from '../../../console/src/parts/describe-schedule.ts';

test.each([
  ['*/10 * * * *', 'Every 10 minutes'],
  ['0 * * * *', 'Every hour'],
  ['5 * * * *', 'Every hour at :05'],
  ['0 */6 * * *', 'Every 6 hours'],
  ['0 3 * * *', 'Every day at 03:00 UTC'],
  ['30 14 * * 1-5', 'Monday to Friday at 14:30 UTC'],
  ['0 8 * * 7', 'Every Sunday at 08:00 UTC'],
  ['15 0 1 * *', 'Monthly on day 1 at 00:15 UTC'],
])('describes %s as "%s"', (cron, description) => {
  expect(describeSchedule(cron)).toBe(description);
});

test.each([
  ['gaps of different lengths', '*/25 * * * *'],
  ['gaps of different hours', '0 */5 * * *'],
  ['several minutes', '0,30 * * * *'],
  ['some months', '0 3 * 1 *'],
  ['days of the month and of the week', '0 3 1 * 1'],
])('does not describe a schedule with %s', (_feature, cron) => {
  expect(describeSchedule(cron)).toBeNull();
});
