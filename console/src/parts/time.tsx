/** Shows times in the user's time zone: relative, with the exact time as a tooltip. */
import { useSyncExternalStore } from 'react';
import { useLocale } from 'react-aria-components';
import { usePartMessages } from './part-messages.ts';

const SECOND_MS = 1_000;
const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];

const UNIT_SYMBOLS: Partial<Record<Intl.RelativeTimeFormatUnit, string>> = {
  day: 'd',
  hour: 'h',
  minute: 'min',
  second: 's',
};

/** Returns the largest unit that a duration reaches, with its length in seconds. */
function findUnit(seconds: number): [Intl.RelativeTimeFormatUnit, number] {
  return UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1];
}

/** The formats of each locale. They are cached, because creating them is slow. */
interface Formats {
  relative: Intl.RelativeTimeFormat;
  /** Without abbreviations. */
  relativeInSentence: Intl.RelativeTimeFormat;
  exact: Intl.DateTimeFormat;
}

const formatsByLocale = new Map<string, Formats>();

function getFormats(locale: string): Formats {
  const formats = formatsByLocale.get(locale) ?? {
    relative: new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' }),
    relativeInSentence: new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }),
    exact: new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'long' }),
  };
  formatsByLocale.set(locale, formats);
  return formats;
}

const clockFormat = new Intl.DateTimeFormat('en', { timeStyle: 'medium', hourCycle: 'h23' });

let now = Date.now();
const TICK_MS = 10_000;

function subscribe(listener: () => void): () => void {
  const timer = setInterval(() => {
    now = Date.now();
    listener();
  }, TICK_MS);
  return () => clearInterval(timer);
}

function formatRelative(time: Date, relative: Intl.RelativeTimeFormat): string {
  const seconds = Math.round((time.getTime() - Math.max(now, Date.now())) / SECOND_MS);
  const [unit, length] = findUnit(seconds);
  const count = seconds / length;
  // A new link that is valid for 10 minutes expires in 10 minutes, and not in 9.
  return relative.format(count > 0 ? Math.round(count) : Math.trunc(count), unit);
}

interface TimeProps {
  value: string | null | undefined;
  none?: string;
  /** True in a sentence, where units are not abbreviated. */
  isInSentence?: boolean;
}

export function Time({ value, none = '—', isInSentence = false }: TimeProps) {
  useSyncExternalStore(subscribe, () => now);
  const { relative, relativeInSentence, exact } = getFormats(useLocale().locale);
  if (!value) return <span className="quiet">{none}</span>;
  const time = new Date(value);
  return (
    <time dateTime={value} title={exact.format(time)}>
      {formatRelative(time, isInSentence ? relativeInSentence : relative)}
    </time>
  );
}

/** Shows the date, the time and the time zone. */
export function ExactTime({ value }: { value: string }) {
  const { exact } = getFormats(useLocale().locale);
  return <time dateTime={value}>{exact.format(new Date(value))}</time>;
}

/** Shows how long something lasts so far, like "7 s" or "3 h", with the exact start as a tooltip. */
export function Elapsed({ since }: { since: string }) {
  useSyncExternalStore(subscribe, () => now);
  const { exact } = getFormats(useLocale().locale);
  const start = new Date(since);
  const seconds = Math.max(
    0,
    Math.round((Math.max(now, Date.now()) - start.getTime()) / SECOND_MS),
  );
  const [unit, length] = findUnit(seconds);
  return (
    <time dateTime={since} title={exact.format(start)}>
      {Math.trunc(seconds / length)} {UNIT_SYMBOLS[unit]}
    </time>
  );
}

/**
 * Shows when work is due. After that time it shows "now", because the work has begun or is about to begin.
 */
export function DueTime({ value }: { value: string | null | undefined }) {
  useSyncExternalStore(subscribe, () => now);
  const { exact } = getFormats(useLocale().locale);
  const messages = usePartMessages();
  if (!value || Date.parse(value) > Date.now()) return <Time value={value} />;
  return (
    <time dateTime={value} title={exact.format(new Date(value))}>
      {messages.now}
    </time>
  );
}

const dayFormat = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric' });
const isToday = (time: Date) => time.toDateString() === new Date().toDateString();

/** Shows the time of a log line or a live entry, with the day unless it is today. */
export function ClockTime({ value }: { value: string }) {
  const { exact } = getFormats(useLocale().locale);
  const time = new Date(value);
  return (
    <time dateTime={value} title={exact.format(time)} className="quiet clock">
      {!isToday(time) && `${dayFormat.format(time)}, `}
      {clockFormat.format(time)}
    </time>
  );
}
