/** Ends writes: stores the outcomes of their records, and ends their operations. */

import { notificationsSql } from '../../transactions/notification-channels.ts';
import { isAtPositionSql, rowsByKeySql } from '../keyed-rows.ts';
import type { Tables } from '../tables.ts';
import {
  OPERATION_END_COLUMNS,
  OPERATION_END_CTES,
  type OperationEndRow,
  UNREPORTED_OPERATION_END_CTES,
} from './end-operations.ts';
import type { SharedStatement } from './shared-statements.ts';

/** The end of a write with a task of its own, which has the same id as the operation. */
export interface WriteEndRow extends OperationEndRow {
  /** The lease token of the claim that ends the write. */
  leaseToken: string | null;
  /** The outcomes of all records, in their order. */
  outcomes: object[];
}

/** The ended operation. Nulls if it had already ended. */
export type EndedWrite = Tables['Operation'] | Record<keyof Tables['Operation'], null>;

/** `rowsByKeySql` needs a limit. A write has at most 100 entries. */
const ENTRIES_MAX = 10_000;

/** Ends writes with their operations. A write that another claim holds has no row in the result. */
export const END_WRITES = createWriteEnd(OPERATION_END_CTES);
/** Ends writes without events. */
export const END_UNREPORTED_WRITES = createWriteEnd(UNREPORTED_OPERATION_END_CTES);

function createWriteEnd(endingOperations: string): SharedStatement<WriteEndRow, EndedWrite> {
  return {
    getQueue: ({ projectId }) => projectId,
    getKey: ({ operationId }) => operationId,
    text: `
  with input as (
    select * from jsonb_to_recordset($1::jsonb) as input(
      ${OPERATION_END_COLUMNS}, "leaseToken" text, "outcomes" jsonb)
  ),
  located_tasks as materialized (
    select input."projectId", input."leaseToken", input."now", task."place" from input
    cross join ${rowsByKeySql('WriteTask', { projectId: 'input."projectId"', id: 'input."operationId"' })} task
  ),
  ended_tasks as (
    update "WriteTask" task set "dueTime" = null, "leaseToken" = null, "leaseExpireTime" = null,
      "isUncertain" = false, "endTime" = located_tasks."now"
    from located_tasks
    where ${isAtPositionSql('task', 'located_tasks')}
      and task."leaseToken" = located_tasks."leaseToken"
    returning task."id"
  ),
  ending as (select input.* from input join ended_tasks task on task."id" = input."operationId"),
  located_entries as materialized (
    select ending."projectId", entry."place", ending."outcomes" -> entry."position" as "outcome" from ending
    cross join ${rowsByKeySql(
      'WriteEntry',
      { projectId: 'ending."projectId"', taskId: 'ending."operationId"' },
      { columns: ['position'], limit: ENTRIES_MAX },
    )} entry
  ),
  outcomes as (
    update "WriteEntry" entry set "outcome" = located_entries."outcome"
    from located_entries
    where ${isAtPositionSql('entry', 'located_entries')}
  ),
  ${endingOperations}
  select task."id" as "key", operation.*, ${notificationsSql('end_notifications')}
  from ended_tasks task left join ended_operations operation on operation."id" = task."id"`,
  };
}
