/** Times in the reader's time zone: relative, with the exact time on hover. */
import { useSyncExternalStore } from 'react';

const SECOND_MS = 1_000;
const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'long' });
const clock = new Intl.DateTimeFormat('en', { timeStyle: 'medium', hour12: false });

let now = Date.now();
const TICK_MS = 10_000;

function subscribe(listener: () => void): () => void {
  const timer = setInterval(() => {
    now = Date.now();
    listener();
  }, TICK_MS);
  return () => clearInterval(timer);
}

function ago(time: Date): string {
  const seconds = Math.round((time.getTime() - Math.max(now, Date.now())) / SECOND_MS);
  const [unit, length] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1];
  return relative.format(Math.trunc(seconds / length), unit);
}

export function Time({ value, none = '—' }: { value: string | null | undefined; none?: string }) {
  useSyncExternalStore(subscribe, () => now);
  if (!value) return <span className="quiet">{none}</span>;
  const time = new Date(value);
  return (
    <time dateTime={value} title={exact.format(time)}>
      {ago(time)}
    </time>
  );
}

/** When something is due. "now" once that time has passed: it has begun or is about to begin. */
export function DueTime({ value }: { value: string | null | undefined }) {
  useSyncExternalStore(subscribe, () => now);
  if (!value || Date.parse(value) > Date.now()) return <Time value={value} />;
  return (
    <time dateTime={value} title={exact.format(new Date(value))}>
      now
    </time>
  );
}

const day = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric' });
const isToday = (time: Date) => time.toDateString() === new Date().toDateString();

/** For lines of a log or a tail: with the day, unless it is today. */
export function ClockTime({ value }: { value: string }) {
  const time = new Date(value);
  return (
    <time dateTime={value} title={exact.format(time)} className="quiet clock">
      {!isToday(time) && `${day.format(time)}, `}
      {clock.format(time)}
    </time>
  );
}
