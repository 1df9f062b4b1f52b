/** Times as vendors write them. */
import type { TimeFormat } from './declaration.ts';

const SECOND_MS = 1_000;

/** What a format can tell apart. */
export function precisionMs(format: TimeFormat): number {
  return format === 'iso' || format === 'unixMilliseconds' ? 1 : SECOND_MS;
}

/** Cut to the format's precision: a bound is never later than the time that it stands for. */
export function writeTime(time: Date, format: TimeFormat): string {
  const ms = Math.floor(time.getTime() / precisionMs(format)) * precisionMs(format);
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
    case 'unixSeconds':
      return String(ms / SECOND_MS);
    case 'unixMilliseconds':
      return String(ms);
    case 'httpDate':
      return new Date(ms).toUTCString();
  }
}

/** Null for what is no time. A text without a zone is in UTC. */
export function readTime(value: unknown, format: TimeFormat): Date | null {
  const time = new Date(millisecondsOf(value, format));
  return Number.isNaN(time.getTime()) ? null : time;
}

function millisecondsOf(value: unknown, format: TimeFormat): number {
  if (format === 'unixSeconds') return numberOf(value) * SECOND_MS;
  if (format === 'unixMilliseconds') return numberOf(value);
  return typeof value === 'string' ? Date.parse(zoned(value)) : Number.NaN;
}

function numberOf(value: unknown): number {
  const isNumber = typeof value === 'number' || (typeof value === 'string' && value.trim() !== '');
  return isNumber ? Number(value) : Number.NaN;
}

const WITHOUT_ZONE = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$/;

function zoned(text: string): string {
  return WITHOUT_ZONE.test(text) ? `${text.replace(' ', 'T')}Z` : text;
}
