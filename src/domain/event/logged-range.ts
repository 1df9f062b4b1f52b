/** The part of a project's log in which the events of some time are. */
import type { Call } from '../call.ts';
import { type CreatedFilters, createdRange, orderOf } from '../paging/created-range.ts';
import { nextRow } from '../paging/page-of-rows.ts';

/**
 * The exact times as a condition, and positions around them: the log is in the order of commits, and so, but for the time
 * that a commit takes, in that of ids.
 */
export async function loggedRange(call: Call, projectId: string, filters: CreatedFilters) {
  const { inTime, ordered } = createdRange('evt', filters);
  if (!('within' in ordered)) return { inTime, ordered: orderOf(filters) };
  const { above, below } = ordered.within;
  const [before, after] = await Promise.all([
    above === undefined ? undefined : positionNextTo(call, projectId, { below: above }),
    below === undefined ? undefined : positionNextTo(call, projectId, { above: below }),
  ]);
  return { inTime, ordered: { ...orderOf(filters), within: { above: before, below: after } } };
}

type Side = { above: string } | { below: string };

/** Of the event next to an id, on one side of it; undefined if there is none. */
async function positionNextTo(call: Call, projectId: string, side: Side) {
  const where = { projectId };
  return (await nextRow(call, { table: 'NotificationEvent', where, side }))?.position;
}
