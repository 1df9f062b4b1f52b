/** Ends writes: the outcomes of their records, and their operations. */
import { formatRowsByKey, matchPosition } from '../keyed-rows.ts';
import type { Tables } from '../tables.ts';
import {
  OPERATION_END_COLUMNS,
  OPERATION_END_CTES,
  type OperationEndRow,
  UNREPORTED_OPERATION_END_CTES,
} from './end-operations.ts';
import { selectNotifications } from './notification-channels.ts';
import type { BatchChange } from './shared-changes.ts';

/** The end of a write of one call, whose task has the id of its operation. */
export interface WriteEndRow extends OperationEndRow {
  /** The lease token of the claim that ends the write. */
  leaseToken: string | null;
  /** The outcomes of all records, in their order. */
  outcomes: object[];
}

/** The ended operation. Nulls if it had already ended. */
export type EndedWrite = Tables['Operation'] | Record<keyof Tables['Operation'], null>;

/** More than a write can have: it has at most 100 entries. `formatRowsByKey` needs a limit. */
const ENTRIES_MAX = 10_000;

/** Ends writes with their operations. A write that another claim holds has no row in the result. */
export const END_WRITES = createWriteEnd(OPERATION_END_CTES);
/** Ends writes without events. */
export const END_UNREPORTED_WRITES = createWriteEnd(UNREPORTED_OPERATION_END_CTES);

function createWriteEnd(endingOperations: string): BatchChange<WriteEndRow, EndedWrite> {
  return {
    getQueue: ({ projectId }) => projectId,
    getKey: ({ operationId }) => operationId,
    text: `
  with input as (
    select * from jsonb_to_recordset($1::jsonb) as i(
      ${OPERATION_END_COLUMNS}, "leaseToken" text, "outcomes" jsonb)
  ),
  tasks as materialized (
    select i."projectId", i."leaseToken", i."now", t."place" from input i
    cross join ${formatRowsByKey('WriteTask', { projectId: 'i."projectId"', id: 'i."operationId"' })} t
  ),
  ended_tasks as (
    update "WriteTask" t set "dueTime" = null, "leaseToken" = null, "leaseExpireTime" = null,
      "isUncertain" = false, "endTime" = i."now"
    from tasks i
    where ${matchPosition('t', { with: 'tasks', as: 'i' })} and t."leaseToken" = i."leaseToken"
    returning t."id"
  ),
  ending as (select i.* from input i join ended_tasks t on t."id" = i."operationId"),
  entries as materialized (
    select i."projectId", e."place", i."outcomes" -> e."position" as "outcome" from ending i
    cross join ${formatRowsByKey(
      'WriteEntry',
      { projectId: 'i."projectId"', taskId: 'i."operationId"' },
      { columns: ['position'], limit: ENTRIES_MAX },
    )} e
  ),
  outcomes as (
    update "WriteEntry" e set "outcome" = i."outcome"
    from entries i where ${matchPosition('e', { with: 'entries', as: 'i' })}
  ),
  ${endingOperations}
  select t."id" as "key", o.*, ${selectNotifications('end_notifications')}
  from ended_tasks t left join ended_operations o on o."id" = t."id"`,
  };
}
