/** The period of the first read of an object. The integration or the customer sets it. */
import { z } from 'zod';
import { member, text } from '../../../kernel/text.ts';
import { orNull } from '../../base/input-schemas.ts';
import { createRuleIssue } from '../../base/issues.ts';
import { resource } from '../../base/resource.ts';

/** A hundred years, which is older than any record of a provider. */
const DAYS_MAX = 36_500;

const DAYS =
  'The number of days before now that the first read covers. 0 reads no earlier changes.';
const FULL_HISTORY = 'If true, the first read covers all records.';

export const backfillPeriod = {
  days: orNull(z.number().int().min(0).max(DAYS_MAX)).describe(DAYS),
  fullHistory: orNull(z.boolean()).describe(FULL_HISTORY),
};

export const PERIOD = 'How far back the first read goes: exactly one of days and fullHistory.';

export const backfillPeriodResource = resource('BackfillPeriod', PERIOD, {
  days: z.int().nullable().describe(DAYS),
  fullHistory: z.boolean().nullable().describe(FULL_HISTORY),
});

export type BackfillPeriod = z.output<typeof backfillPeriodResource>;

export function* listPeriodIssues({ days, fullHistory }: BackfillPeriod) {
  const options = { showsValue: true };
  if ((days === null) === (fullHistory === null)) {
    const detail = text`must have exactly one of ${member('days')} and ${member('fullHistory')}.`;
    yield createRuleIssue([], detail, options);
  } else if (fullHistory === false) {
    const detail = text`must be true. To limit the period, set ${member('days')} instead.`;
    yield createRuleIssue(['fullHistory'], detail, options);
  }
}
