/** The start of the charts and rates of the overview, which count whole hours. */
export const HOUR_MS = 3_600_000;
export const HOURS = 24;

/** The start of the hour 23 hours before the present one, so that refreshes within an hour repeat the query. */
export function getFirstHour(): number {
  return (Math.floor(Date.now() / HOUR_MS) - HOURS + 1) * HOUR_MS;
}

const hourFormat = new Intl.DateTimeFormat('en', {
  weekday: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

/** Formats the first hour as in "since Wed 13:00". */
export function formatSince(firstHourMs: number): string {
  return `since ${hourFormat.format(firstHourMs)}`;
}
