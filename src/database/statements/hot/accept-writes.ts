/** Accepts writes: the operation, the records and the idempotency key of each are stored together. */
import { isAtPositionSql, rowsByKeySql } from '../keyed-rows.ts';
import { listColumns, type Tables } from '../tables.ts';
import type { SharedStatement } from './shared-statements.ts';

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
      | 'batchKey'
      | 'dueTime'
      | 'deadlineTime'
      | 'leaseToken'
      | 'traceparent'
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
  omittedFields: string[] | null;
  expected: object | null;
}

/** The operation of an accepted write, and the columns of its task that the operation does not have. */
type AcceptedWrite = Operation &
  Omit<WriteTask, keyof Operation> & {
    /** The id of the task. It differs from the operation's id if the write joined an open task. */
    taskId: string;
  };

const TASK_COLUMNS = listColumns('WriteTask')
  .filter((column) => !(listColumns('Operation') as readonly string[]).includes(column))
  .map((column) => `task."${column}"`);

/** SQL: how the statement finds the task of a write. */
interface TaskOfWrite {
  /** Selects each accepted `write`, with the `task` of its records if other expressions need it. */
  source: string;
  taskId: string;
  /** The position of a record `entry` in its task. */
  position: string;
  /** The condition that joins a `task` to its `operation`. */
  isOfOperation: string;
}

/** CTE: accepts each write of `input`. */
const ALL_WRITES = `accepted_writes as (select * from input)`;

/**
 * CTEs that omit a write of `input` if another write has taken its idempotency key, unless that key has expired. They
 * also omit a write if its proposal is not approved, has expired, or has been committed by another write. Other writes
 * don't use them, because PostgreSQL prepares a statement for each table that it may change.
 */
const CONDITIONAL_WRITES = `
  commits as materialized (
    select proposal."place", input."projectId", input."id" as "operationId", input."now", commit."committedBy",
      commit."dueTime"
    from input cross join jsonb_to_record(input."proposal") as commit(
      "id" text, "committedBy" text, "dueTime" timestamptz)
    cross join ${rowsByKeySql('Proposal', { projectId: 'input."projectId"', id: 'commit."id"' })} proposal
    where input."proposal" is not null
  ),
  committed_proposals as (
    update "Proposal" proposal set "status" = 'COMMITTING', "operationId" = commits."operationId",
      "committedBy" = commits."committedBy", "dueTime" = commits."dueTime", "updateTime" = commits."now"
    from commits
    where ${isAtPositionSql('proposal', 'commits')}
      and proposal."status" = 'APPROVED' and proposal."expireTime" > commits."now"
    returning proposal."operationId"
  ),
  input_keys as (
    select input."projectId", input_key."key", input_key."inputHash", input."id" as "operationId",
      input_key."expireTime", input."now"
    from input cross join jsonb_to_record(input."idempotencyKey") as input_key(
      "key" text, "inputHash" text, "expireTime" timestamptz)
    where input."idempotencyKey" is not null
  ),
  taken_keys as (
    insert into "IdempotencyKey" as stored_key
      ("projectId", "key", "inputHash", "operationId", "expireTime", "createTime")
    select * from input_keys order by "projectId", "key"
    on conflict ("projectId", "key") do update set "inputHash" = excluded."inputHash",
      "operationId" = excluded."operationId", "expireTime" = excluded."expireTime",
      "createTime" = excluded."createTime"
    where stored_key."expireTime" <= excluded."createTime"
    returning "operationId"
  ),
  accepted_writes as (
    select * from input
    where ("idempotencyKey" is null or "id" in (select "operationId" from taken_keys))
      and ("proposal" is null or "id" in (select "operationId" from committed_proposals))
  )`;

/** SQL: accepts the writes of `input`. `tasks` inserts or updates a task for each write. */
function acceptWritesSql(
  acceptedWrites: string,
  tasks: string,
  { source, taskId, position, isOfOperation }: TaskOfWrite,
): string {
  return `
  with input as (
    select * from jsonb_to_recordset($1::jsonb) as input(
      "id" text, "projectId" text, "integrationId" text, "installationId" text, "configId" text,
      "groupId" text, "consumerId" text, "metadata" jsonb,
      "objectName" text, "type" "WriteType", "mode" "WriteMode", "allOrNone" boolean, "headers" jsonb,
      "batchKey" text, "dueTime" timestamptz, "deadlineTime" timestamptz, "leaseToken" text,
      "traceparent" text, "now" timestamptz, "firstLine" jsonb, "entries" jsonb, "idempotencyKey" jsonb, "proposal" jsonb)
  ),
  ${acceptedWrites},
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
    select line."id", write."projectId", write."id", line."severity", line."message", line."details"
    from accepted_writes write cross join jsonb_to_record(write."firstLine") as line(
      "id" text, "severity" "LogSeverity", "message" text, "details" jsonb)
  ),
  tasks as (${tasks} returning *),
  entries as (
    insert into "WriteEntry" ("taskId", "position", "projectId", "operationId", "record", "associations",
      "ifEmpty", "omittedFields", "expected")
    select ${taskId}, ${position}, write."projectId", write."id", entry."record", entry."associations",
      entry."ifEmpty", entry."omittedFields", entry."expected"
    from ${source}
    cross join jsonb_to_recordset(write."entries") as entry(
      "position" int, "record" jsonb, "associations" jsonb, "ifEmpty" jsonb, "omittedFields" jsonb,
      "expected" jsonb)
  )
  select operation."id" as "key", operation.*, task."id" as "taskId", ${TASK_COLUMNS.join(', ')}
  from operations operation join tasks task on ${isOfOperation}`;
}

/**
 * Accepts writes and creates a task for each, with the id of its operation. A write with a lease token holds its task
 * from the start, and its first attempt counts as begun. Writes with an idempotency key or a proposal need
 * `isConditional`. Such a write has no row in the result if it was not accepted.
 */
export function acceptWrites(
  leaseEnd: string,
  { isConditional }: { isConditional: boolean },
): SharedStatement<WriteToAccept, AcceptedWrite> {
  const tasks = `
    insert into "WriteTask" ("id", "projectId", "installationId", "objectName", "type", "mode", "allOrNone",
      "headers", "recordCount", "dueTime", "deadlineTime", "traceparent",
      "leaseToken", "leaseExpireTime", "isUncertain", "uncertainSince", "attempts", "lastAttemptTime")
    select "id", "projectId", "installationId", "objectName", "type", "mode", "allOrNone",
      "headers", jsonb_array_length("entries"), "dueTime", "deadlineTime", "traceparent",
      "leaseToken", case when "leaseToken" is not null then ${leaseEnd} end, "leaseToken" is not null,
      case when "leaseToken" is not null then "now" end,
      case when "leaseToken" is null then 0 else 1 end, case when "leaseToken" is not null then "now" end
    from accepted_writes`;
  return {
    getQueue: ({ projectId }) => projectId,
    getKey: ({ id }) => id,
    text: acceptWritesSql(isConditional ? CONDITIONAL_WRITES : ALL_WRITES, tasks, {
      source: 'accepted_writes write',
      taskId: 'write."id"',
      position: 'entry."position"',
      isOfOperation: 'task."id" = operation."id"',
    }),
  };
}

/**
 * Accepts a write of one record and adds it to the open task of its batch. Creates that task if there is none. The task
 * is due at the earliest due time of its records. A full task is due immediately, and collects no more records. Its
 * retries last until the latest deadline of its records.
 */
export function collectWrites(recordsMax: number): SharedStatement<WriteToAccept, AcceptedWrite> {
  const tasks = `
    insert into "WriteTask" as task ("id", "projectId", "installationId", "objectName", "type", "mode",
      "headers", "batchKey", "recordCount", "dueTime", "deadlineTime", "traceparent", "createTime")
    select "id", "projectId", "installationId", "objectName", "type", "mode",
      "headers", "batchKey", 1, "dueTime", "deadlineTime", "traceparent", "now"
    from accepted_writes
    on conflict ("projectId", "batchKey") do update set "recordCount" = task."recordCount" + 1,
      "batchKey" = case when task."recordCount" + 1 < ${recordsMax} then task."batchKey" end,
      "dueTime" = case when task."recordCount" + 1 < ${recordsMax}
        then least(task."dueTime", excluded."dueTime") else excluded."createTime" end,
      "deadlineTime" = greatest(task."deadlineTime", excluded."deadlineTime")`;
  return {
    // One write per statement, because the task of a record depends on the records before it.
    getQueue: ({ id }) => id,
    getKey: ({ id }) => id,
    text: acceptWritesSql(CONDITIONAL_WRITES, tasks, {
      source: 'accepted_writes write cross join tasks task',
      taskId: 'task."id"',
      position: 'task."recordCount" - 1',
      isOfOperation: 'true',
    }),
  };
}
