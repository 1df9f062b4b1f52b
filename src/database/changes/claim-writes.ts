/** How workers take writes on. */
import type { Tables } from '../tables.ts';
import type { ChangeOfMany } from './shared-changes.ts';

export interface WriteToClaim {
  projectId: string;
  id: string;
  leaseToken: string;
  now: Date;
}

/** The task as it is now, and whether the outcome of an earlier attempt is not known. */
export type ClaimedWrite = Tables['WriteTask'] & { wasUncertain: boolean };

/**
 * Begins the next attempt of writes. What is not due, has ended, or is held or looked at by another has no row. A
 * write that is claimed collects no more records.
 */
export function claimWrites({
  isFree,
  leaseEnd,
}: {
  isFree: string;
  leaseEnd: string;
}): ChangeOfMany<WriteToClaim, ClaimedWrite> {
  return {
    lineOf: () => 'all',
    keyOf: ({ id }) => id,
    text: `
  with given as (
    select * from jsonb_to_recordset($1::jsonb) as g(
      "projectId" text, "id" text, "leaseToken" text, "now" timestamptz)
  ),
  free as (
    select "projectId", "id", "isUncertain", "dueTime" from "WriteTask"
    where "projectId" = any(array(select "projectId" from given))
      and "id" = any(array(select "id" from given)) and ${isFree}
    order by "id" for update skip locked
  )
  update "WriteTask" t set "openGroup" = null, "leaseToken" = g."leaseToken", "isUncertain" = true,
    "leaseExpireTime" = ${leaseEnd}, "attempts" = t."attempts" + 1, "lastAttempt" = g."now"
  from free f join given g on g."projectId" = f."projectId" and g."id" = f."id"
  where t."projectId" = f."projectId" and t."id" = f."id" and f."dueTime" <= greatest(g."now", now())
  returning t."id" as "of", t.*, f."isUncertain" as "wasUncertain"`,
  };
}
