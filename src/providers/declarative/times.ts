/** Parses and formats times in vendors' formats. */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../work/durations.ts';
import type { Behavior, TimeFilterBehavior } from '../behavior.ts';
import type { Declaration } from './declaration/declaration.ts';
import type { ListDeclaration, TimeFilter } from './declaration/list-declaration.ts';
import type { TimeFormat } from './declaration/request-location.ts';
import { getBehavior } from './vendor.ts';

/** The smallest step of a format, in milliseconds. */
function getPrecisionMs(format: TimeFormat): number {
  if (format === 'iso' || format === 'unixMilliseconds' || format === 'dotNet') return 1;
  return format === 'minutes' ? MINUTE_MS : SECOND_MS;
}

/** A filter of a list, and how the vendor compares times with it. */
export type ComparedFilter = Pick<TimeFilter, 'format' | 'marginMs'> & TimeFilterBehavior;

const CAUTIOUS_FILTER: TimeFilterBehavior = {
  precision: 'notDocumented',
  zone: 'notDocumented',
  bounds: 'notDocumented',
  column: 'notDocumented',
};

export function getFilterBehavior({ timeFilter }: Behavior): TimeFilterBehavior {
  return timeFilter === 'none' ? CAUTIOUS_FILTER : timeFilter;
}

export function getComparedFilter(
  declaration: Declaration,
  list: ListDeclaration,
  { format, marginMs }: TimeFilter,
): ComparedFilter {
  return { format, marginMs, ...getFilterBehavior(getBehavior(declaration, list)) };
}

const COMPARISON_PRECISION_MS = {
  format: 0,
  minute: MINUTE_MS,
  day: DAY_MS,
  notDocumented: DAY_MS,
};
/** No time zone is further from UTC. */
const ZONE_OFFSET_MS_MAX = 14 * HOUR_MS;

/**
 * Returns the lower bound to request, at the precision at which the vendor compares. It is never too late: records that
 * are too early are dropped from the page.
 */
export function getLowerBound(filter: ComparedFilter, since: Date): Date {
  const { stepMs, marginMs, exclusiveMs } = getWidening(filter);
  const time = Math.floor((since.getTime() - marginMs) / stepMs) * stepMs;
  return new Date(time - exclusiveMs);
}

/** Returns the upper bound to request. It is never too early: records that are too late are dropped from the page. */
export function getUpperBound(filter: ComparedFilter, until: Date): Date {
  const { stepMs, marginMs, exclusiveMs } = getWidening(filter);
  const time = Math.ceil((until.getTime() + marginMs) / stepMs) * stepMs;
  return new Date(time + exclusiveMs);
}

function getWidening({ format, marginMs, precision, zone, bounds }: ComparedFilter) {
  const stepMs = Math.max(getPrecisionMs(format), COMPARISON_PRECISION_MS[precision]);
  return {
    stepMs,
    marginMs: marginMs + (zone === 'utc' ? 0 : ZONE_OFFSET_MS_MAX),
    exclusiveMs: bounds === 'inclusive' ? 0 : stepMs,
  };
}

/** Formats a time, rounded down to the format's precision, so that a lower bound is never too late. */
export function formatTime(time: Date, format: TimeFormat): string {
  const ms = Math.floor(time.getTime() / getPrecisionMs(format)) * getPrecisionMs(format);
  const iso = new Date(ms).toISOString();
  switch (format) {
    case 'iso':
      return iso;
    case 'isoSeconds':
      return iso.replace('.000Z', 'Z');
    case 'isoOffset':
      return iso.replace('.000Z', '+00:00');
    case 'spaced':
      return iso.slice(0, 19).replace('T', ' ');
    case 'minutes':
      return iso.slice(0, 16).replace('T', ' ');
    case 'unixSeconds':
      return String(ms / SECOND_MS);
    case 'unixMilliseconds':
      return String(ms);
    case 'httpDate':
      return new Date(ms).toUTCString();
    case 'dotNet':
      return `/Date(${ms}+0000)/`;
  }
}

/** Parses a time. Null if the value is not a time. A time without a zone is in UTC. */
export function parseTime(value: unknown, format: TimeFormat): Date | null {
  const time = new Date(parseMilliseconds(value, format));
  return Number.isNaN(time.getTime()) ? null : time;
}

/**
 * Groups: milliseconds since 1970 in UTC, and an offset. The offset must be ignored, because it is only the zone of
 * display.
 */
const DOT_NET = /^\/Date\((-?\d+)([+-]\d{4})?\)\/$/;

function parseMilliseconds(value: unknown, format: TimeFormat): number {
  if (format === 'unixSeconds') return toNumber(value) * SECOND_MS;
  if (format === 'unixMilliseconds') return toNumber(value);
  if (typeof value !== 'string') return Number.NaN;
  if (format === 'dotNet') return toNumber(DOT_NET.exec(value)?.[1]);
  return Date.parse(addTimeZone(value));
}

function toNumber(value: unknown): number {
  const isNumber = typeof value === 'number' || (typeof value === 'string' && value.trim() !== '');
  return isNumber ? Number(value) : Number.NaN;
}

/** A time without a zone, such as 2026-01-02 03:04:05. */
const WITHOUT_ZONE = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$/;
/** An offset such as +0000. Date.parse requires a colon in it, as in ISO 8601. */
const ZONE_WITHOUT_COLON = /([+-]\d\d)(\d\d)$/;

function addTimeZone(text: string): string {
  if (WITHOUT_ZONE.test(text)) return `${text.replace(' ', 'T')}Z`;
  return text.includes('T') ? text.replace(ZONE_WITHOUT_COLON, '$1:$2') : text;
}
