/** Shows a schedule in words, with the cron expression as its tooltip. */
import { describeSchedule } from './describe-schedule.ts';

export function Schedule({ cron }: { cron: string }) {
  const description = describeSchedule(cron);
  return description ? <span title={cron}>{description}</span> : <code>{cron}</code>;
}
