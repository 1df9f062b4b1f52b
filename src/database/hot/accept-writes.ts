/** Accepts writes: the operation, the records and the idempotency key of each are stored together. */
import type { Tables } from '../tables.ts';
import type { ChangeOfMany } from './shared-changes.ts';

type Operation = Tables['Operation'];
type WriteTask = Tables['WriteTask'];
type OperationLog = Tables['OperationLog'];

/** A write of one call, as the row that the statement reads. */
export interface WriteToAccept<Entry extends EntryToAccept = EntryToAccept>
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
  now: Date;
  firstLine: Pick<OperationLog, 'id' | 'severity' | 'message'> & { details?: object };
  entries: Entry[];
  /** Null if the caller sent no idempotency key. */
  idempotencyKey: { key: string; inputHash: string; expireTime: Date } | null;
}

/** A record to write. Its members are stored unchanged. */
interface EntryToAccept {
  record: object;
  associations?: object;
  ifEmpty?: string[];
}

export interface AcceptedWrite {
  createTime: Date;
}

const SENT = `
    select * from jsonb_to_recordset($1::jsonb) as g(
      "id" text, "projectId" text, "integrationId" text, "installationId" text, "configId" text,
      "groupId" text, "consumerId" text, "metadata" jsonb,
      "objectName" text, "type" "WriteType", "mode" "WriteMode", "allOrNone" boolean, "headers" jsonb,
      "openGroup" text, "dueTime" timestamptz, "deadlineTime" timestamptz, "leaseToken" text, "now" timestamptz,
      "firstLine" jsonb, "entries" jsonb, "idempotencyKey" jsonb)`;

/**
 * SQL: the first part of a statement that accepts the writes of `given`. It skips writes whose idempotency key another
 * write has taken, unless that key has expired.
 */
export const ACCEPTING = `
  with given as (${SENT}),
  given_keys as (
    select g."projectId", k."key", k."inputHash", g."id" as "operationId", k."expireTime", g."now"
    from given g cross join jsonb_to_record(g."idempotencyKey") as k(
      "key" text, "inputHash" text, "expireTime" timestamptz)
    where g."idempotencyKey" is not null
  ),
  taken_keys as (
    insert into "IdempotencyKey" as k
      ("projectId", "key", "inputHash", "operationId", "expireTime", "createTime")
    select * from given_keys order by "projectId", "key"
    on conflict ("projectId", "key") do update set "inputHash" = excluded."inputHash",
      "operationId" = excluded."operationId", "expireTime" = excluded."expireTime",
      "createTime" = excluded."createTime"
    where k."expireTime" <= excluded."createTime"
    returning "operationId"
  ),
  accepted as (
    select * from given
    where "idempotencyKey" is null or "id" in (select "operationId" from taken_keys)
  ),
  operations as (
    insert into "Operation" ("id", "projectId", "integrationId", "installationId", "configId",
      "groupId", "consumerId", "actionType", "status", "metadata")
    select "id", "projectId", "integrationId", "installationId", "configId", "groupId", "consumerId",
      'WRITE', 'IN_PROGRESS', "metadata"
    from accepted
    returning "id", "createTime"
  ),
  logs as (
    insert into "OperationLog" ("id", "projectId", "operationId", "severity", "message", "details")
    select l."id", a."projectId", a."id", l."severity", l."message", l."details"
    from accepted a cross join jsonb_to_record(a."firstLine") as l(
      "id" text, "severity" "LogSeverity", "message" text, "details" jsonb)
  )`;

/**
 * Accepts writes and creates a task for each, with the id of its operation. A write with a lease token holds its task
 * from the start, and its first attempt counts as begun. A write that was skipped has no row in the result.
 */
export function acceptWrites(leaseEnd: string): ChangeOfMany<WriteToAccept, AcceptedWrite> {
  return {
    lineOf: ({ projectId }) => projectId,
    keyOf: ({ id }) => id,
    text: `${ACCEPTING},
  tasks as (
    insert into "WriteTask" ("id", "projectId", "installationId", "objectName", "type", "mode", "allOrNone",
      "headers", "recordCount", "dueTime", "deadlineTime",
      "leaseToken", "leaseExpireTime", "isUncertain", "uncertainSince", "attempts", "lastAttempt")
    select "id", "projectId", "installationId", "objectName", "type", "mode", "allOrNone",
      "headers", jsonb_array_length("entries"), "dueTime", "deadlineTime",
      "leaseToken", case when "leaseToken" is not null then ${leaseEnd} end, "leaseToken" is not null,
      case when "leaseToken" is not null then "now" end,
      case when "leaseToken" is null then 0 else 1 end, case when "leaseToken" is not null then "now" end
    from accepted
  ),
  entries as (
    insert into "WriteEntry" ("taskId", "position", "projectId", "operationId", "record", "associations",
      "ifEmpty")
    select a."id", e."number" - 1, a."projectId", a."id", e."entry" -> 'record', e."entry" -> 'associations',
      e."entry" -> 'ifEmpty'
    from accepted a cross join jsonb_array_elements(a."entries") with ordinality as e("entry", "number")
  )
  select "id" as "of", "createTime" from operations`,
  };
}

export interface CollectedRecord extends AcceptedWrite {
  /** The id of the operation that created the task. */
  taskId: string;
  /** The records of the task, including this one. */
  recordCount: number;
}

/**
 * Accepts a write of one record and adds it to the open task of its group; creates that task if there is none. The task
 * is due at the earliest due time of its records, or immediately once it is full; then it collects no more. Its retries
 * last until the latest deadline of its records.
 */
export function collectRecords(recordsMax: number): ChangeOfMany<WriteToAccept, CollectedRecord> {
  return {
    // One write per statement: the task of a record depends on the records before it.
    lineOf: ({ id }) => id,
    keyOf: ({ id }) => id,
    text: `${ACCEPTING},
  collecting as (
    insert into "WriteTask" as t ("id", "projectId", "installationId", "objectName", "type", "mode",
      "headers", "openGroup", "recordCount", "dueTime", "deadlineTime", "createTime")
    select "id", "projectId", "installationId", "objectName", "type", "mode",
      "headers", "openGroup", 1, "dueTime", "deadlineTime", "now"
    from accepted
    on conflict ("projectId", "openGroup") do update set "recordCount" = t."recordCount" + 1,
      "openGroup" = case when t."recordCount" + 1 < ${recordsMax} then t."openGroup" end,
      "dueTime" = case when t."recordCount" + 1 < ${recordsMax}
        then least(t."dueTime", excluded."dueTime") else excluded."createTime" end,
      "deadlineTime" = greatest(t."deadlineTime", excluded."deadlineTime")
    returning "id", "recordCount"
  ),
  entries as (
    insert into "WriteEntry" ("taskId", "position", "projectId", "operationId", "record", "associations",
      "ifEmpty")
    select c."id", c."recordCount" - 1, a."projectId", a."id",
      a."entries" -> 0 -> 'record', a."entries" -> 0 -> 'associations', a."entries" -> 0 -> 'ifEmpty'
    from accepted a cross join collecting c
  )
  select o."id" as "of", o."createTime", c."id" as "taskId", c."recordCount"
  from operations o cross join collecting c`,
  };
}
