/** Describes the common cron expressions. All schedules are in UTC. */

const HOUR_MINUTES = 60;
const DAY_HOURS = 24;
const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const WORKDAYS = '1-5';

/** Returns a text like "Every 10 minutes". Null for an expression that has no such text. */
export function describeSchedule(cron: string): string | null {
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = cron.trim().split(/\s+/);
  if (month !== '*') return null;
  const isDaily = day === '*' && weekday === '*';
  if (isDaily && hour === '*') return describeMinutes(minute);
  if (isDaily && hour.startsWith('*/')) return minute === '0' ? describeHours(hour) : null;
  const time = formatTime(hour, minute);
  if (time === null) return null;
  if (isDaily) return `Every day at ${time}`;
  if (day === '*' && weekday === WORKDAYS) return `Monday to Friday at ${time}`;
  if (day === '*' && /^[0-7]$/.test(weekday)) {
    return `Every ${WEEKDAYS[Number(weekday) % WEEKDAYS.length]} at ${time}`;
  }
  if (weekday === '*' && isNumber(day)) return `Monthly on day ${day} at ${time}`;
  return null;
}

/** A step that does not divide 60 starts again each hour, so its intervals differ. */
function describeMinutes(minute: string): string | null {
  if (minute === '0') return 'Every hour';
  if (isNumber(minute)) return `Every hour at :${minute.padStart(2, '0')}`;
  const step = readStep(minute);
  return step && HOUR_MINUTES % step === 0 ? `Every ${step} minutes` : null;
}

function describeHours(hour: string): string | null {
  const step = readStep(hour);
  return step && DAY_HOURS % step === 0 ? `Every ${step} hours` : null;
}

/** Returns the step of a field that is a star with a step. Null for other fields and for a step of 1. */
function readStep(field: string): number | null {
  const step = /^\*\/(\d+)$/.exec(field)?.[1];
  return step !== undefined && Number(step) > 1 ? Number(step) : null;
}

function formatTime(hour: string, minute: string): string | null {
  if (!isNumber(hour) || !isNumber(minute)) return null;
  return `${hour.padStart(2, '0')}:${minute.padStart(2, '0')} UTC`;
}

const isNumber = (field: string) => /^\d+$/.test(field);
