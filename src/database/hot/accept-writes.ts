/** Accepts writes: the operation, the records and the idempotency key of each are stored together. */
import { formatRowsByKey, matchPosition } from '../keyed-rows.ts';
import { listColumns, type Tables } from '../tables.ts';
import type { BatchChange } from './shared-changes.ts';

type Operation = Tables['Operation'];
type WriteTask = Tables['WriteTask'];
type OperationLog = Tables['OperationLog'];

/** A write of one call, in the form that the statement reads. */
export interface WriteToAccept
  extends Pick<
      Operation,
      | 'id'
      | 'projectId'
      | 'integrationId'
      | 'installationId'
      | 'configId'
      | 'groupId'
      | 'consumerId'
      | 'metadata'
    >,
    Pick<
      WriteTask,
      | 'objectName'
      | 'type'
      | 'mode'
      | 'allOrNone'
      | 'headers'
      | 'openGroup'
      | 'dueTime'
      | 'deadlineTime'
      | 'leaseToken'
    > {
  /** The approved proposal that the write commits. Null for other writes. */
  proposal: { id: string; committedBy: string; dueTime: Date } | null;
  now: Date;
  firstLine: Pick<OperationLog, 'id' | 'severity' | 'message'> & { details?: object };
  entries: EntryToAccept[];
  /** Null if the caller sent no idempotency key. */
  idempotencyKey: { key: string; inputHash: string; expireTime: Date } | null;
}

/** A record to write. Its members are stored unchanged. */
interface EntryToAccept {
  position: number;
  record: object;
  associations: object | null;
  ifEmpty: string[] | null;
  expected: object | null;
}

/** The operation of an accepted write, and the columns of its task that the operation does not have. */
type AcceptedWrite = Operation &
  Omit<WriteTask, keyof Operation> & {
    /** The id of the task. It differs from that of the operation if the write joined an open task. */
    taskId: string;
  };

const TASK_COLUMNS = listColumns('WriteTask')
  .filter((column) => !(listColumns('Operation') as readonly string[]).includes(column))
  .map((column) => `t."${column}"`);

/** SQL: how the statement finds the task of a write. */
interface TaskOfWrite {
  /** Selects the write `a` with the task of its records. */
  source: string;
  taskId: string;
  /** The position of a record `e` in its task. */
  position: string;
  /** The condition that joins a task `t` to its operation `o`. */
  isOfOperation: string;
}

/**
 * SQL: accepts the writes of `input`. `tasks` inserts or updates a task for each write. Skips a write if another write
 * has taken its idempotency key, unless that key has expired. Skips a write if its proposal is not approved, has
 * expired, or has been committed by another write.
 */
function formatAcceptance(
  tasks: string,
  { source, taskId, position, isOfOperation }: TaskOfWrite,
): string {
  return `
  with input as (
    select * from jsonb_to_recordset($1::jsonb) as i(
      "id" text, "projectId" text, "integrationId" text, "installationId" text, "configId" text,
      "groupId" text, "consumerId" text, "metadata" jsonb,
      "objectName" text, "type" "WriteType", "mode" "WriteMode", "allOrNone" boolean, "headers" jsonb,
      "openGroup" text, "dueTime" timestamptz, "deadlineTime" timestamptz, "leaseToken" text, "now" timestamptz,
      "firstLine" jsonb, "entries" jsonb, "idempotencyKey" jsonb, "proposal" jsonb)
  ),
  proposals as materialized (
    select p."place", i."projectId", i."id" as "operationId", i."now", c."committedBy", c."dueTime"
    from input i cross join jsonb_to_record(i."proposal") as c(
      "id" text, "committedBy" text, "dueTime" timestamptz)
    cross join ${formatRowsByKey('Proposal', { projectId: 'i."projectId"', id: 'c."id"' })} p
    where i."proposal" is not null
  ),
  committed_proposals as (
    update "Proposal" p set "status" = 'COMMITTING', "operationId" = c."operationId",
      "committedBy" = c."committedBy", "dueTime" = c."dueTime", "updateTime" = c."now"
    from proposals c
    where ${matchPosition('p', { with: 'proposals', as: 'c' })} and p."status" = 'APPROVED' and p."expireTime" > c."now"
    returning p."operationId"
  ),
  input_keys as (
    select i."projectId", k."key", k."inputHash", i."id" as "operationId", k."expireTime", i."now"
    from input i cross join jsonb_to_record(i."idempotencyKey") as k(
      "key" text, "inputHash" text, "expireTime" timestamptz)
    where i."idempotencyKey" is not null
  ),
  taken_keys as (
    insert into "IdempotencyKey" as k
      ("projectId", "key", "inputHash", "operationId", "expireTime", "createTime")
    select * from input_keys order by "projectId", "key"
    on conflict ("projectId", "key") do update set "inputHash" = excluded."inputHash",
      "operationId" = excluded."operationId", "expireTime" = excluded."expireTime",
      "createTime" = excluded."createTime"
    where k."expireTime" <= excluded."createTime"
    returning "operationId"
  ),
  accepted_writes as (
    select * from input
    where ("idempotencyKey" is null or "id" in (select "operationId" from taken_keys))
      and ("proposal" is null or "id" in (select "operationId" from committed_proposals))
  ),
  operations as (
    insert into "Operation" ("id", "projectId", "integrationId", "installationId", "configId",
      "groupId", "consumerId", "actionType", "status", "metadata")
    select "id", "projectId", "integrationId", "installationId", "configId", "groupId", "consumerId",
      'WRITE', 'IN_PROGRESS', "metadata"
    from accepted_writes
    returning *
  ),
  log_lines as (
    insert into "OperationLog" ("id", "projectId", "operationId", "severity", "message", "details")
    select l."id", a."projectId", a."id", l."severity", l."message", l."details"
    from accepted_writes a cross join jsonb_to_record(a."firstLine") as l(
      "id" text, "severity" "LogSeverity", "message" text, "details" jsonb)
  ),
  tasks as (${tasks} returning *),
  entries as (
    insert into "WriteEntry" ("taskId", "position", "projectId", "operationId", "record", "associations",
      "ifEmpty", "expected")
    select ${taskId}, ${position}, a."projectId", a."id", e."record", e."associations", e."ifEmpty", e."expected"
    from ${source}
    cross join jsonb_to_recordset(a."entries") as e(
      "position" int, "record" jsonb, "associations" jsonb, "ifEmpty" jsonb, "expected" jsonb)
  )
  select o."id" as "key", o.*, t."id" as "taskId", ${TASK_COLUMNS.join(', ')}
  from operations o join tasks t on ${isOfOperation}`;
}

/**
 * Accepts writes and creates a task for each, with the id of its operation. A write with a lease token holds its task
 * from the start, and its first attempt counts as begun. A write that was skipped has no row in the result.
 */
export function acceptWrites(leaseEnd: string): BatchChange<WriteToAccept, AcceptedWrite> {
  const tasks = `
    insert into "WriteTask" ("id", "projectId", "installationId", "objectName", "type", "mode", "allOrNone",
      "headers", "recordCount", "dueTime", "deadlineTime",
      "leaseToken", "leaseExpireTime", "isUncertain", "uncertainSince", "attempts", "lastAttempt")
    select "id", "projectId", "installationId", "objectName", "type", "mode", "allOrNone",
      "headers", jsonb_array_length("entries"), "dueTime", "deadlineTime",
      "leaseToken", case when "leaseToken" is not null then ${leaseEnd} end, "leaseToken" is not null,
      case when "leaseToken" is not null then "now" end,
      case when "leaseToken" is null then 0 else 1 end, case when "leaseToken" is not null then "now" end
    from accepted_writes`;
  return {
    getQueue: ({ projectId }) => projectId,
    getKey: ({ id }) => id,
    text: formatAcceptance(tasks, {
      source: 'accepted_writes a',
      taskId: 'a."id"',
      position: 'e."position"',
      isOfOperation: 't."id" = o."id"',
    }),
  };
}

/**
 * Accepts a write of one record and adds it to the open task of its group. Creates that task if there is none. The task
 * is due at the earliest due time of its records. A full task is due immediately, and collects no more records. Its
 * retries last until the latest deadline of its records.
 */
export function collectWrites(recordsMax: number): BatchChange<WriteToAccept, AcceptedWrite> {
  const tasks = `
    insert into "WriteTask" as t ("id", "projectId", "installationId", "objectName", "type", "mode",
      "headers", "openGroup", "recordCount", "dueTime", "deadlineTime", "createTime")
    select "id", "projectId", "installationId", "objectName", "type", "mode",
      "headers", "openGroup", 1, "dueTime", "deadlineTime", "now"
    from accepted_writes
    on conflict ("projectId", "openGroup") do update set "recordCount" = t."recordCount" + 1,
      "openGroup" = case when t."recordCount" + 1 < ${recordsMax} then t."openGroup" end,
      "dueTime" = case when t."recordCount" + 1 < ${recordsMax}
        then least(t."dueTime", excluded."dueTime") else excluded."createTime" end,
      "deadlineTime" = greatest(t."deadlineTime", excluded."deadlineTime")`;
  return {
    // One write per statement, because the task of a record depends on the records before it.
    getQueue: ({ id }) => id,
    getKey: ({ id }) => id,
    text: formatAcceptance(tasks, {
      source: 'accepted_writes a cross join tasks t',
      taskId: 't."id"',
      position: 't."recordCount" - 1',
      isOfOperation: 'true',
    }),
  };
}
