/** Schedules: classic cron of five fields, in UTC, at most one run in ten minutes. */
import { CronExpressionParser, type CronFieldCollection } from 'cron-parser';
import { z } from 'zod';

/** The platform's most frequent schedule. */
const GAP_MIN_MINUTES = 10;
const HOUR_MINUTES = 60;
const DAY_MINUTES = 24 * HOUR_MINUTES;
/** 28 years, after which dates fall on the same weekdays again. */
const CALENDAR_DAYS = 28 * 365.25;

/** Numbers, lists, ranges, steps and names; the parser's own extensions (H, L, #, ?) are refused. */
const FIVE_FIELDS = /^(?:[\d*,/-]+ +){3}(?:[\d*,/-]|[a-z]{3})+ +(?:[\d*,/-]|[a-z]{3})+$/i;

/** A schedule in an input, or none: left out, null, or empty as the platform's clients write it. */
export const optionalSchedule = scheduleInput(GAP_MIN_MINUTES);
/** The same, for what is looked at seldom. */
export const hourlySchedule = scheduleInput(HOUR_MINUTES);

function scheduleInput(gapMinMinutes: number) {
  return z
    .string()
    .max(256)
    .superRefine((text, context) => {
      const problem = text === '' ? null : scheduleProblem(text, gapMinMinutes);
      if (problem) context.addIssue({ code: 'custom', message: problem });
    })
    .nullish()
    .transform((text) => text || null);
}

/** Why the text is not a schedule, as a sentence's end; null if it is one. */
export function scheduleProblem(text: string, gapMinMinutes = GAP_MIN_MINUTES): string | null {
  if (!FIVE_FIELDS.test(text)) return 'must be a cron expression of five fields.';
  try {
    return smallestGapMinutes(text) < gapMinMinutes
      ? `must be at most one run in ${gapMinMinutes} minutes.`
      : null;
  } catch (error) {
    return `must be a cron expression of five fields: ${(error as Error).message}.`;
  }
}

/** The first run after that time. */
export function nextRunOf(schedule: string, after: Date): Date {
  return CronExpressionParser.parse(schedule, { currentDate: after, tz: 'UTC' }).next().toDate();
}

/**
 * Computed from the fields: every day that runs at all runs at the same times, so the gaps
 * are those inside a day and the one over midnight. Throws if the schedule never runs.
 */
function smallestGapMinutes(schedule: string): number {
  const { fields } = CronExpressionParser.parse(schedule, { tz: 'UTC' });
  const minutes = fields.minute.values as number[];
  const times = (fields.hour.values as number[])
    .flatMap((hour) => minutes.map((minute) => hour * 60 + minute))
    .sort((a, b) => a - b);
  const gaps = times.slice(1).map((time, index) => time - (times[index] as number));
  const overMidnight = (times[0] as number) + DAY_MINUTES - (times.at(-1) as number);
  nextRunOf(schedule, new Date(0));
  if (overMidnight < HOUR_MINUTES && runsTwoDaysInARow(fields)) gaps.push(overMidnight);
  return Math.min(DAY_MINUTES, ...gaps);
}

/** With both kinds of day given, cron runs on either. */
function runsTwoDaysInARow({ month, dayOfMonth, dayOfWeek }: CronFieldCollection): boolean {
  const has = ({ values }: { values: readonly unknown[] }, value: number) => values.includes(value);
  const runsOn = (date: Date) => {
    if (!has(month, date.getUTCMonth() + 1)) return false;
    const inMonth = has(dayOfMonth, date.getUTCDate());
    const inWeek = has(dayOfWeek, date.getUTCDay());
    if (dayOfMonth.isWildcard) return inWeek;
    return inMonth || (inWeek && !dayOfWeek.isWildcard);
  };
  let before = false;
  for (let day = 0; day < CALENDAR_DAYS; day += 1) {
    const runs = runsOn(new Date(day * DAY_MINUTES * 60_000));
    if (runs && before) return true;
    before = runs;
  }
  return false;
}
