/** Ends operations of any kind, each with its last log line, its event, and notifications for followers. */

import { notificationsSql, OPERATIONS_CHANNEL } from '../../transactions/notification-channels.ts';
import type { Transaction } from '../../transactions/transaction.ts';
import type { Tables } from '../tables.ts';
import { EVENT_COLUMNS, EVENT_CTES, type EventRow } from './append-events.ts';
import { type ChangeStatement, runInTransaction } from './shared-statements.ts';

type Operation = Tables['Operation'];
type OperationLog = Tables['OperationLog'];

/** The end of an operation, in the form that the statement reads. */
export interface OperationEndRow
  extends Pick<Operation, 'projectId' | 'installationId' | 'status' | 'result' | 'metadata'> {
  operationId: string;
  now: Date;
  lastLine: Pick<OperationLog, 'id' | 'severity' | 'message'> & { details?: object };
  /** Null if no event is published. No event is published for a deleted installation either. */
  event: EventRow | null;
}

/** The members of an OperationEndRow as columns, for `jsonb_to_recordset`. */
export const OPERATION_END_COLUMNS = `
  "projectId" text, "installationId" text, "operationId" text, "status" "OperationStatus", "result" text,
  "metadata" jsonb, "now" timestamptz, "lastLine" jsonb, "event" jsonb`;

const END_CTES = `
  ended_operations as (
    update "Operation" operation set "status" = ending."status", "result" = ending."result",
      "metadata" = ending."metadata", "updateTime" = ending."now"
    from ending
    where operation."id" = ending."operationId" and operation."projectId" = ending."projectId"
      and operation."status" is not distinct from 'IN_PROGRESS'
    returning operation.*
  ),
  last_lines as (
    insert into "OperationLog" ("id", "projectId", "operationId", "severity", "message", "details")
    select line."id", ending."projectId", ending."operationId", line."severity", line."message", line."details"
    from ending
    join ended_operations operation on operation."id" = ending."operationId"
    cross join jsonb_to_record(ending."lastLine") as line(
      "id" text, "severity" "LogSeverity", "message" text, "details" jsonb)
  ),
  operation_notifications as (select '${OPERATIONS_CHANNEL} ' || "id" as "notification" from ended_operations)`;

/**
 * CTEs that end the operations of `ending`, which must precede them with OPERATION_END_COLUMNS. `ended_operations`
 * contains the operations that were in progress, with their new values. The caller sends the notifications in
 * `end_notifications`.
 */
export const OPERATION_END_CTES = `${END_CTES},
  new_events as (
    select event.* from ending
    join ended_operations operation on operation."id" = ending."operationId"
    join "Installation" installation on installation."projectId" = ending."projectId"
      and installation."id" = ending."installationId"
    cross join jsonb_to_record(ending."event") as event(${EVENT_COLUMNS})
    where ending."event" is not null
  ),
  ${EVENT_CTES},
  end_notifications as (
    select "notification" from operation_notifications union all select "notification" from event_notifications)`;

/**
 * CTEs that end operations without events. They are separate, because PostgreSQL prepares a statement for each table
 * that it may change, which takes as long as ending an operation.
 */
export const UNREPORTED_OPERATION_END_CTES = `${END_CTES},
  end_notifications as (select "notification" from operation_notifications)`;

const END_OPERATIONS: ChangeStatement<OperationEndRow> = {
  text: `
  with ending as (select * from jsonb_to_recordset($1::jsonb) as ending(${OPERATION_END_COLUMNS})),
  ${OPERATION_END_CTES}
  select ${notificationsSql('end_notifications')}`,
};

/** Ends operations. Call it last in a transaction. Operations that have already ended do not change. */
export async function endOperations(
  tx: Transaction,
  rows: readonly OperationEndRow[],
): Promise<void> {
  await runInTransaction(tx, END_OPERATIONS, rows);
}
