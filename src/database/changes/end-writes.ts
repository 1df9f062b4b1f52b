/** How writes end: the outcomes of their records, and their operations. */
import type { Tables } from '../tables.ts';
import {
  ENDING_OPERATIONS,
  OPERATION_END_COLUMNS,
  type OperationEndRow,
} from './end-operations.ts';
import { hintsColumn } from './hint-channels.ts';
import type { ChangeOfMany } from './shared-changes.ts';

/** The end of a write of one call, whose task has the id of its operation. */
export interface WriteEndRow extends OperationEndRow {
  /** Of the claim that ends it. */
  leaseToken: string | null;
  /** Of all its records, in their order. */
  outcomes: object[];
}

/** The operation as it has ended; null if it had ended before. */
export type EndedWrite = Tables['Operation'] | Record<keyof Tables['Operation'], null>;

/** Ends writes with their operations. One that another claim holds has no row. */
export const END_WRITES: ChangeOfMany<WriteEndRow, EndedWrite> = {
  lineOf: ({ projectId }) => projectId,
  keyOf: ({ operationId }) => operationId,
  text: `
  with given as (
    select * from jsonb_to_recordset($1::jsonb) as g(
      ${OPERATION_END_COLUMNS}, "leaseToken" text, "outcomes" jsonb)
  ),
  ended_tasks as (
    update "WriteTask" t set "dueTime" = null, "leaseToken" = null, "leaseExpireTime" = null,
      "isUncertain" = false, "endTime" = g."now"
    from given g
    where t."projectId" = g."projectId" and t."id" = g."operationId" and t."leaseToken" = g."leaseToken"
    returning t."id"
  ),
  ending as (select g.* from given g join ended_tasks t on t."id" = g."operationId"),
  outcomes as (
    update "WriteEntry" e set "outcome" = g."outcomes" -> e."position"
    from ending g where e."projectId" = g."projectId" and e."taskId" = g."operationId"
  ),
  ${ENDING_OPERATIONS}
  select t."id" as "of", o.*, ${hintsColumn('end_hints')}
  from ended_tasks t left join ended_operations o on o."id" = t."id"`,
};
