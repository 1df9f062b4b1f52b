/** Validates schedules: classic cron expressions of five fields, in UTC, with at most one run in ten minutes. */
import { CronExpressionParser, type CronFieldCollection } from 'cron-parser';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';

/** The smallest gap between two runs that the reference API accepts. */
const GAP_MIN_MINUTES = 10;
const HOUR_MINUTES = 60;
const DAY_MINUTES = 24 * HOUR_MINUTES;

/** Accepts numbers, lists, ranges, steps and names. Rejects the parser's own extensions (H, L, #, ?). */
const FIVE_FIELDS = /^(?:[\d*,/-]+ +){3}(?:[\d*,/-]|[a-z]{3})+ +(?:[\d*,/-]|[a-z]{3})+$/i;

/** An optional schedule in an input. An empty string means none, because clients of the reference API send it. */
export const optionalSchedule = createScheduleInput(GAP_MIN_MINUTES);
/** An optional schedule for polls that run at most once an hour. */
export const hourlySchedule = createScheduleInput(HOUR_MINUTES);

function createScheduleInput(gapMinMinutes: number) {
  return z
    .string()
    .max(256)
    .superRefine((text, context) => {
      const problem = text === '' ? null : findScheduleProblem(text, gapMinMinutes);
      if (problem) context.addIssue({ code: 'custom', message: problem });
    })
    .nullish()
    .transform((text) => text || null);
}

/** Returns the reason why the string is not a schedule, as a sentence without its subject. Null if it is valid. */
export function findScheduleProblem(text: string, gapMinMinutes = GAP_MIN_MINUTES): string | null {
  if (!FIVE_FIELDS.test(text)) return 'must be a cron expression of five fields.';
  try {
    return getSmallestGapMinutes(text) < gapMinMinutes
      ? `must be at most one run in ${gapMinMinutes} minutes.`
      : null;
  } catch (error) {
    return `must be a cron expression of five fields: ${(error as Error).message}.`;
  }
}

/** Returns the time of the first run after this time. */
export function getNextRunTime(schedule: string, after: Date): Date {
  return CronExpressionParser.parse(schedule, { currentDate: after, tz: 'UTC' }).next().toDate();
}

/** The gaps of recent schedules. The objects of an integration often have equal schedules, and computing a gap is slow. */
const gapBySchedule = new LRUCache<string, number>({ max: 1_000 });

/** Throws if the schedule never runs. */
function getSmallestGapMinutes(schedule: string): number {
  const cachedMinutes = gapBySchedule.get(schedule);
  if (cachedMinutes !== undefined) return cachedMinutes;
  const minutes = computeSmallestGapMinutes(schedule);
  gapBySchedule.set(schedule, minutes);
  return minutes;
}

/**
 * Computes the smallest gap from the fields. Each day with a run has the same times, so only the gaps within a day and the
 * gap over midnight count. Throws if the schedule never runs.
 */
function computeSmallestGapMinutes(schedule: string): number {
  // Without a date, the parser would read the time zone of the machine, which is slow.
  const { fields } = CronExpressionParser.parse(schedule, { currentDate: new Date(0), tz: 'UTC' });
  const runsOn = createRunsOn(fields);
  const runs = DATES.some(({ month, day }) => runsOn(month, day, null));
  if (!runs) throw new Error('no month has this day');
  const minutes = fields.minute.values as number[];
  const times = (fields.hour.values as number[])
    .flatMap((hour) => minutes.map((minute) => hour * 60 + minute))
    .sort((a, b) => a - b);
  const gaps = times.slice(1).map((time, index) => time - (times[index] as number));
  const gapOverMidnight = (times[0] as number) + DAY_MINUTES - (times.at(-1) as number);
  if (gapOverMidnight < HOUR_MINUTES && runsTwoDaysInARow(runsOn)) gaps.push(gapOverMidnight);
  return Math.min(DAY_MINUTES, ...gaps);
}

type RunsOn = (month: number, day: number, weekday: number | null) => boolean;

/**
 * Returns whether the schedule runs on a date, on this weekday or on any. A schedule that restricts the day of the month and
 * the day of the week runs on each day that matches one of them.
 */
function createRunsOn({ month, dayOfMonth, dayOfWeek }: CronFieldCollection): RunsOn {
  const months = new Set<unknown>(month.values);
  const days = new Set<unknown>(dayOfMonth.values);
  const weekdays = new Set<unknown>(dayOfWeek.values);
  return (monthNumber, day, weekday) => {
    if (!months.has(monthNumber)) return false;
    const matchesWeekday = weekday === null || weekdays.has(weekday);
    if (dayOfMonth.isWildcard) return matchesWeekday;
    return days.has(day) || (matchesWeekday && !dayOfWeek.isWildcard);
  };
}

/** True if the schedule runs on two consecutive days. Each date falls on each weekday in some year. */
function runsTwoDaysInARow(runsOn: RunsOn): boolean {
  return DATES.some(({ month, day, isLastInSomeYears }, index) => {
    const nextDates = [
      DATES[(index + 1) % DATES.length],
      isLastInSomeYears ? FIRST_OF_MARCH : null,
    ];
    return WEEKDAYS.some(
      (weekday) =>
        runsOn(month, day, weekday) &&
        nextDates.some((next) => next && runsOn(next.month, next.day, (weekday + 1) % 7)),
    );
  });
}

const WEEKDAYS = [0, 1, 2, 3, 4, 5, 6];
const FIRST_OF_MARCH = { month: 3, day: 1 };

/** The dates of a leap year. 28 February is the last day of the month in other years. */
const DATES = Array.from({ length: 366 }, (_, index) => {
  const date = new Date(Date.UTC(2000, 0, index + 1));
  const [month, day] = [date.getUTCMonth() + 1, date.getUTCDate()];
  return { month, day, isLastInSomeYears: month === 2 && day === 28 };
});
