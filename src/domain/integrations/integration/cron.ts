/** Validates schedules: classic cron expressions of five fields, in UTC, with at most one run in ten minutes. */
import { CronExpressionParser, type CronFieldCollection } from 'cron-parser';
import { z } from 'zod';

/** The smallest gap between two runs that the reference API accepts. */
const GAP_MIN_MINUTES = 10;
const HOUR_MINUTES = 60;
const DAY_MINUTES = 24 * HOUR_MINUTES;
/** 28 years, after which dates fall on the same weekdays again. */
const CALENDAR_DAYS = 28 * 365.25;

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
    return computeSmallestGapMinutes(text) < gapMinMinutes
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

/**
 * Computes the smallest gap from the fields. Each day with a run has the same times, so only the gaps within a day and the
 * gap over midnight count. Throws if the schedule never runs.
 */
function computeSmallestGapMinutes(schedule: string): number {
  const { fields } = CronExpressionParser.parse(schedule, { tz: 'UTC' });
  const minutes = fields.minute.values as number[];
  const times = (fields.hour.values as number[])
    .flatMap((hour) => minutes.map((minute) => hour * 60 + minute))
    .sort((a, b) => a - b);
  const gaps = times.slice(1).map((time, index) => time - (times[index] as number));
  const gapOverMidnight = (times[0] as number) + DAY_MINUTES - (times.at(-1) as number);
  getNextRunTime(schedule, new Date(0));
  if (gapOverMidnight < HOUR_MINUTES && runsTwoDaysInARow(fields)) gaps.push(gapOverMidnight);
  return Math.min(DAY_MINUTES, ...gaps);
}

/**
 * True if the schedule runs on two consecutive days. A schedule that restricts the day of the month and the day of the
 * week runs on each day that matches one of them.
 */
function runsTwoDaysInARow({ month, dayOfMonth, dayOfWeek }: CronFieldCollection): boolean {
  const has = ({ values }: { values: readonly unknown[] }, value: number) => values.includes(value);
  const runsOn = (date: Date) => {
    if (!has(month, date.getUTCMonth() + 1)) return false;
    const hasDayOfMonth = has(dayOfMonth, date.getUTCDate());
    const hasDayOfWeek = has(dayOfWeek, date.getUTCDay());
    if (dayOfMonth.isWildcard) return hasDayOfWeek;
    return hasDayOfMonth || (hasDayOfWeek && !dayOfWeek.isWildcard);
  };
  let ranOnPreviousDay = false;
  for (let day = 0; day < CALENDAR_DAYS; day += 1) {
    const runs = runsOn(new Date(day * DAY_MINUTES * 60_000));
    if (runs && ranOnPreviousDay) return true;
    ranOnPreviousDay = runs;
  }
  return false;
}
