/** Ends operations of any kind: their last log line, their event, and the notifications of followers. */
import type { Tables } from '../tables.ts';
import { changeAndNotify, type Transaction } from '../transaction.ts';
import { EVENT_COLUMNS, EVENT_CTES, type EventRow } from './append-events.ts';
import { OPERATIONS_CHANNEL, selectNotifications } from './notification-channels.ts';

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
    update "Operation" o set "status" = e."status", "result" = e."result", "metadata" = e."metadata",
      "updateTime" = e."now"
    from ending e
    where o."id" = e."operationId" and o."projectId" = e."projectId" and o."status" is not distinct from 'IN_PROGRESS'
    returning o.*
  ),
  last_lines as (
    insert into "OperationLog" ("id", "projectId", "operationId", "severity", "message", "details")
    select l."id", e."projectId", e."operationId", l."severity", l."message", l."details"
    from ending e
    join ended_operations o on o."id" = e."operationId"
    cross join jsonb_to_record(e."lastLine") as l(
      "id" text, "severity" "LogSeverity", "message" text, "details" jsonb)
  ),
  operation_notifications as (select '${OPERATIONS_CHANNEL} ' || "id" as "notification" from ended_operations)`;

/**
 * CTEs that end the operations of `ending`, which must precede them with OPERATION_END_COLUMNS.
 * `ended_operations` contains those that had not ended before, with their new values. The caller sends the
 * notifications in `end_notifications`.
 */
export const OPERATION_END_CTES = `${END_CTES},
  new_events as (
    select h.* from ending e
    join ended_operations o on o."id" = e."operationId"
    join "Installation" i on i."projectId" = e."projectId" and i."id" = e."installationId"
    cross join jsonb_to_record(e."event") as h(${EVENT_COLUMNS})
    where e."event" is not null
  ),
  ${EVENT_CTES},
  end_notifications as (select "notification" from operation_notifications union all select "notification" from event_notifications)`;

/**
 * CTEs that end operations without events. They are separate, because PostgreSQL prepares a statement for each table
 * that it may change, which takes as long as ending an operation.
 */
export const UNREPORTED_OPERATION_END_CTES = `${END_CTES},
  end_notifications as (select "notification" from operation_notifications)`;

const END_OPERATIONS = `
  with ending as (select * from jsonb_to_recordset($1::jsonb) as e(${OPERATION_END_COLUMNS})),
  ${OPERATION_END_CTES}
  select ${selectNotifications('end_notifications')}`;

/** Ends operations. Call it last in a transaction. Operations that have already ended do not change. */
export async function endOperations(
  tx: Transaction,
  rows: readonly OperationEndRow[],
): Promise<void> {
  await changeAndNotify(tx, END_OPERATIONS, [JSON.stringify(rows)]);
}
