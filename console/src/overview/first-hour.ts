/** The first hour of the overview's charts and rates, which cover complete hours. */
export const HOUR_MS = 3_600_000;
export const HOURS = 24;

/**
 * Returns the start of the hour 23 hours ago. The value stays the same within an hour, so a refresh finds its
 * cached query.
 */
export function getFirstHour(): number {
  return (Math.floor(Date.now() / HOUR_MS) - HOURS + 1) * HOUR_MS;
}

const hourFormat = new Intl.DateTimeFormat('en', {
  weekday: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

/** Formats the first hour, like "since Wed 13:00". */
export function formatSince(firstHourMs: number): string {
  return `since ${hourFormat.format(firstHourMs)}`;
}
