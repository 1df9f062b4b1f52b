/** Claims writes for a worker. */
import { isAtPositionSql, rowsByKeySql } from '../keyed-rows.ts';
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
    select * from jsonb_to_recordset($1::jsonb) as input(
      "projectId" text, "id" text, "leaseToken" text, "now" timestamptz)
  ),
  located_tasks as materialized (
    select task."place", input."projectId" from input
    cross join ${rowsByKeySql('WriteTask', { projectId: 'input."projectId"', id: 'input."id"' })} task
  ),
  free_tasks as materialized (
    select task.ctid as "place", task."projectId", task."id", task."isUncertain", task."dueTime"
    from located_tasks, "WriteTask" task
    where ${isAtPositionSql('task', 'located_tasks')} and ${isFree}
    order by task."id" for update of task skip locked
  )
  update "WriteTask" task set "openGroup" = null, "leaseToken" = input."leaseToken", "isUncertain" = true,
    "uncertainSince" = case when task."isUncertain"
      then coalesce(task."uncertainSince", task."createTime") else input."now" end,
    "leaseExpireTime" = ${leaseEnd}, "attempts" = task."attempts" + 1, "lastAttempt" = input."now"
  from free_tasks
  join input on input."projectId" = free_tasks."projectId" and input."id" = free_tasks."id"
  where ${isAtPositionSql('task', 'free_tasks')}
    and free_tasks."dueTime" <= greatest(input."now", now())
  returning task."id" as "key", task.*, free_tasks."isUncertain" as "wasUncertain"`,
  };
}
