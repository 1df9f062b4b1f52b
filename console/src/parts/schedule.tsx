/** Schedules in words. The tooltip is the cron expression. */
import { describeSchedule } from './describe-schedule.ts';

export function Schedule({ cron }: { cron: string }) {
  const description = describeSchedule(cron);
  return description ? <span title={cron}>{description}</span> : <code>{cron}</code>;
}
