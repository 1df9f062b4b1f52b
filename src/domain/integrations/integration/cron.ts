/** Validates schedules: classic cron expressions of five fields, in UTC, with at most one run in ten minutes. */
import { CronExpressionParser } from 'cron-parser';
import { z } from 'zod';

/** The smallest gap between two runs that the reference API accepts. */
const GAP_MIN_MINUTES = 10;
const HOUR_MINUTES = 60;
const DAY_MINUTES = 24 * HOUR_MINUTES;

/** An optional schedule in an input. An empty string means none, because clients of the reference API send it. */
export const optionalSchedule = createScheduleInput(GAP_MIN_MINUTES);
/** An optional schedule for polls that run at most once an hour. */
export const hourlySchedule = createScheduleInput(HOUR_MINUTES);

function createScheduleInput(gapMinMinutes: number) {
  return z
    .string()
    .max(256)
    .check(({ value: text, issues }) => {
      const problem = text === '' ? null : findScheduleProblem(text, gapMinMinutes);
      if (problem) issues.push({ code: 'custom', message: problem, input: text });
    })
    .nullish()
    .transform((text) => text || null);
}

/** Returns the reason why the string is not a schedule, as a sentence without its subject. Null if it is valid. */
export function findScheduleProblem(text: string, gapMinMinutes = GAP_MIN_MINUTES): string | null {
  const schedule = parseSchedule(text);
  if (typeof schedule === 'string') return `must be a cron expression of five fields${schedule}.`;
  return getSmallestGapMinutes(schedule) < gapMinMinutes
    ? `must be at most one run in ${gapMinMinutes} minutes.`
    : null;
}

/** Returns the time of the first run after this time. */
export function getNextRunTime(schedule: string, after: Date): Date {
  return CronExpressionParser.parse(schedule, { currentDate: after, tz: 'UTC' }).next().toDate();
}

/** In ascending order, each once. */
type Numbers = readonly number[];

interface Schedule {
  minutes: Numbers;
  hours: Numbers;
  months: Numbers;
  /** The days of the month. Empty if the field is a wildcard. */
  days: Numbers;
  /** The days of the week on which the schedule runs in addition to `days`. Sunday is 0. */
  weekdays: Numbers;
}

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const WEEKDAYS = 'sun mon tue wed thu fri sat'.split(' ');

interface Field {
  name: string;
  min: number;
  max: number;
  words: readonly string[];
}

const FIELDS: readonly Field[] = [
  { name: 'minute', min: 0, max: 59, words: [] },
  { name: 'hour', min: 0, max: 23, words: [] },
  { name: 'day of the month', min: 1, max: 31, words: [] },
  { name: 'month', min: 1, max: 12, words: MONTHS },
  // 7 is Sunday too.
  { name: 'day of the week', min: 0, max: 7, words: WEEKDAYS },
];

type FiveFields = [Numbers, Numbers, Numbers, Numbers, Numbers];
const NONE: Numbers = [];
/**
 * Parses a schedule, or returns what is wrong, to append to a sentence. An input may have thousands of schedules, so this
 * code uses no regular expressions and sets. cron-parser takes 40 times as long, because it also prepares to find the times
 * of the runs. Accepts only what cron-parser reads in the same way, without its extensions (H, L, #, ?).
 */
function parseSchedule(text: string): Schedule | string {
  const texts = text.includes('  ') ? text.split(/ +/) : split(text, ' ');
  if (texts.length !== FIELDS.length) return '';
  const fields: Numbers[] = [];
  for (let index = 0; index < FIELDS.length; index += 1) {
    const field = FIELDS[index] as Field;
    const numbers = parseField(texts[index] as string, field);
    if (numbers === null) return `: the ${field.name} is not valid`;
    fields.push(numbers);
  }
  const [minutes, hours, days, months, weekdays] = fields as FiveFields;
  const [hasAnyDay, hasAnyWeekday] = [texts[2] === '*', texts[4] === '*'];
  const schedule = {
    minutes,
    hours,
    months,
    days: hasAnyDay ? NONE : days,
    // A schedule that restricts both kinds of days runs on each day that matches one of them.
    weekdays: hasAnyWeekday && !hasAnyDay ? NONE : weekdays,
  };
  const runs = schedule.weekdays.length > 0 || hasDates(schedule);
  return runs ? schedule : ': no month has this day';
}

/** Returns the numbers of a field. Null if an item is not valid, or repeats a number of another one. */
function parseField(list: string, field: Field): Numbers | null {
  const numbers: number[] = [];
  for (const item of split(list, ',')) {
    if (!addItem(numbers, item, field) || numbers.length > field.max - field.min + 1) return null;
  }
  if (isAscending(numbers)) return numbers;
  numbers.sort((a, b) => a - b);
  return new Set(numbers).size === numbers.length ? numbers : null;
}

function isAscending(numbers: Numbers): boolean {
  for (let index = 1; index < numbers.length; index += 1) {
    if ((numbers[index - 1] as number) >= (numbers[index] as number)) return false;
  }
  return true;
}

/**
 * Adds the numbers of an item: a number, a word or `*`, the end of a range, and a step. A number with a step and without an
 * end has the field's end. Returns false if the item is not valid.
 */
function addItem(numbers: number[], item: string, { min, max, words }: Field): boolean {
  const single = parseDigits(item, 2);
  if (single >= min && single <= max) {
    numbers.push(words === WEEKDAYS ? single % WEEKDAYS.length : single);
    return true;
  }
  const [range, stepText] = splitOnce(item, '/');
  const [first, last] = splitOnce(range, '-');
  const isWildcard = first === '*';
  if (isWildcard && last !== undefined) return false;
  const from = isWildcard ? min : parseNumber(first, min, words);
  const isOpen = isWildcard || (last === undefined && stepText !== undefined);
  const to = isOpen ? max : parseNumber(last ?? first, min, words);
  const step = stepText === undefined ? 1 : parseDigits(stepText, 3);
  if (!(from >= min && from <= to && to <= max && step > 0)) return false;
  for (let number = from; number <= to; number += step) {
    const isSundayAgain = words === WEEKDAYS && number === WEEKDAYS.length;
    if (!isSundayAgain) numbers.push(number);
    else if (from > 0) numbers.push(0);
  }
  return true;
}

/** Takes a third of the time of `String.split` for texts that are split only once. */
function split(text: string, separator: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let end = text.indexOf(separator); end >= 0; end = text.indexOf(separator, start)) {
    parts.push(text.slice(start, end));
    start = end + 1;
  }
  parts.push(text.slice(start));
  return parts;
}

/** Returns the parts before and after the first separator. */
function splitOnce(text: string, separator: string): [string, string?] {
  const index = text.indexOf(separator);
  return index < 0 ? [text] : [text.slice(0, index), text.slice(index + 1)];
}

/** Returns NaN for a text that is neither a number nor one of the field's words. */
function parseNumber(text: string, min: number, words: readonly string[]): number {
  if (text.length < 3) return parseDigits(text, 2);
  const index = words.indexOf(text.toLowerCase());
  return index < 0 ? Number.NaN : min + index;
}

/** Returns NaN for a text that is not one to this many digits. */
function parseDigits(text: string, digitsMax: number): number {
  if (text.length === 0 || text.length > digitsMax) return Number.NaN;
  let number = 0;
  for (let index = 0; index < text.length; index += 1) {
    const digit = text.charCodeAt(index) - 48;
    if (digit < 0 || digit > 9) return Number.NaN;
    number = 10 * number + digit;
  }
  return number;
}

/**
 * Computes the smallest gap from the fields. Each day with a run has the same times, so only the gaps within a day and the
 * gap over midnight count.
 */
function getSmallestGapMinutes(schedule: Schedule): number {
  const { minutes, hours } = schedule;
  const [firstMinute, lastMinute] = [minutes[0] as number, minutes.at(-1) as number];
  const gapOverHour = firstMinute + HOUR_MINUTES - lastMinute;
  const hourGap = getSmallestStep(hours);
  const nightHours = (hours[0] as number) + 24 - (hours.at(-1) as number);
  const gapOverMidnight = gapOverHour + (nightHours - 1) * HOUR_MINUTES;
  const hasNightGap = gapOverMidnight < HOUR_MINUTES && runsTwoDaysInARow(schedule);
  return Math.min(
    getSmallestStep(minutes),
    gapOverHour + (hourGap - 1) * HOUR_MINUTES,
    hasNightGap ? gapOverMidnight : DAY_MINUTES,
  );
}

/** Returns the smallest difference of two numbers. Infinity if there is only one. */
function getSmallestStep(numbers: Numbers): number {
  let smallest = Number.POSITIVE_INFINITY;
  for (let index = 1; index < numbers.length; index += 1) {
    smallest = Math.min(smallest, (numbers[index] as number) - (numbers[index - 1] as number));
  }
  return smallest;
}

/** True if the schedule runs on two consecutive days. Each date falls on each weekday in some year. */
function runsTwoDaysInARow(schedule: Schedule): boolean {
  const { months, days, weekdays } = schedule;
  if (weekdays.length > 0 && hasDates(schedule)) return true;
  for (const weekday of weekdays)
    if (weekdays.includes((weekday + 1) % WEEKDAYS.length)) return true;
  for (const day of days) {
    for (const month of months) {
      if (day < getLength(month) && days.includes(day + 1)) return true;
      // In most years, 28 February is the last day of its month.
      const isLast = day === getLength(month) || (month === 2 && day === 28);
      if (isLast && days.includes(1) && months.includes((month % MONTHS.length) + 1)) return true;
    }
  }
  return false;
}

/** True if one of the months has one of the days of the month. */
function hasDates({ months, days }: Schedule): boolean {
  for (const month of months) for (const day of days) if (day <= getLength(month)) return true;
  return false;
}

/** The number of days in each month of a leap year. */
const LENGTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const getLength = (month: number) => LENGTHS[month - 1] as number;
