/** Claims writes for a worker. */
import { formatRowsByKey, matchPosition } from '../keyed-rows.ts';
import type { Tables } from '../tables.ts';
import type { BatchChange } from './shared-changes.ts';

interface WriteToClaim {
  projectId: string;
  id: string;
  leaseToken: string;
  now: Date;
}

/** The claimed task, and whether the outcome of an earlier attempt is unknown. */
type ClaimedWrite = Tables['WriteTask'] & { wasUncertain: boolean };

/**
 * Claims due writes and counts an attempt for each. Writes that are not due, have ended, or are locked by another
 * worker have no row. A claimed write collects no more records.
 */
export function claimWrites({
  isFree,
  leaseEnd,
}: {
  isFree: string;
  leaseEnd: string;
}): BatchChange<WriteToClaim, ClaimedWrite> {
  return {
    getQueue: () => 'all',
    getKey: ({ id }) => id,
    text: `
  with input as (
    select * from jsonb_to_recordset($1::jsonb) as i(
      "projectId" text, "id" text, "leaseToken" text, "now" timestamptz)
  ),
  located_tasks as materialized (
    select t."place", input."projectId" from input cross join ${formatRowsByKey('WriteTask', { projectId: 'input."projectId"', id: 'input."id"' })} t
  ),
  free_tasks as materialized (
    select t.ctid as "place", t."projectId", t."id", t."isUncertain", t."dueTime" from located_tasks l, "WriteTask" t
    where ${matchPosition('t', { with: 'located_tasks', as: 'l' })} and ${isFree}
    order by t."id" for update of t skip locked
  )
  update "WriteTask" t set "openGroup" = null, "leaseToken" = i."leaseToken", "isUncertain" = true,
    "uncertainSince" = case when t."isUncertain" then coalesce(t."uncertainSince", t."createTime") else i."now" end,
    "leaseExpireTime" = ${leaseEnd}, "attempts" = t."attempts" + 1, "lastAttempt" = i."now"
  from free_tasks f join input i on i."projectId" = f."projectId" and i."id" = f."id"
  where ${matchPosition('t', { with: 'free_tasks', as: 'f' })} and f."dueTime" <= greatest(i."now", now())
  returning t."id" as "key", t.*, f."isUncertain" as "wasUncertain"`,
  };
}
