/** How a write is taken on: its operation, its records and its idempotency key are stored together. */
import { VERSIONS_OF_TARGET } from '../reads/write-target.ts';
import type { Table, Tables } from '../tables.ts';
import type { ChangeOfMany } from './shared-changes.ts';

type Operation = Tables['Operation'];
type WriteTask = Tables['WriteTask'];
type OperationLog = Tables['OperationLog'];

/** A write of one call, as statements take it. */
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
  /** Of what it goes to, as it was known: only then it is accepted. Not looked at where that was just read. */
  versions?: readonly string[] | undefined;
  /** Null if the caller gave none. */
  idempotencyKey: { key: string; inputHash: string; expireTime: Date } | null;
}

/** A record to write; its members are stored as they are. */
interface EntryToAccept {
  record: object;
  associations?: object;
  ifEmpty?: string[];
}

/** Of a write that was accepted. */
export interface AcceptedWrite {
  createTime: Date;
}

const SENT = `
    select * from jsonb_to_recordset($1::jsonb) as g(
      "id" text, "projectId" text, "integrationId" text, "installationId" text, "configId" text,
      "groupId" text, "consumerId" text, "metadata" jsonb,
      "objectName" text, "type" "WriteType", "mode" "WriteMode", "allOrNone" boolean, "headers" jsonb,
      "openGroup" text, "dueTime" timestamptz, "deadlineTime" timestamptz, "leaseToken" text, "now" timestamptz,
      "firstLine" jsonb, "entries" jsonb, "idempotencyKey" jsonb, "versions" text[])`;

/** SQL: an item of FROM, the row of that key. With a limit it is looked up for each write, and never joined. */
const rowOf = (table: Table, id: string, columns: string[] = []) => {
  const selected = ['xmin', ...columns].map((column) => `"${column}"`).join(', ');
  const ofProject = table === 'Project' ? '' : '"projectId" = s."projectId" and ';
  return `lateral (select ${selected} from "${table}" where ${ofProject}"id" = ${id} limit 1)`;
};

/** Those whose target has its versions still, and is not being erased. */
const UNCHANGED = `
    select s.* from sent s
    cross join ${rowOf('Project', 's."projectId"')} p
    cross join ${rowOf('Integration', 's."integrationId"')} n
    cross join ${rowOf('Group', 's."groupId"')} g
    cross join ${rowOf('Installation', 's."installationId"', ['connectionId'])} i
    cross join ${rowOf('Connection', 'i."connectionId"', ['consumerId'])} c
    where ${VERSIONS_OF_TARGET} = s."versions" and (
      select true from "Erasure" e
      where e."projectId" = s."projectId" and (e."id" = s."groupId" or e."id" = c."consumerId") limit 1) is null`;

/**
 * The beginning of a statement that accepts the writes of `accepted`. A write whose idempotency key belongs to another,
 * and has not expired, is not among them.
 */
export const ACCEPTING = accepting(`given as (${SENT})`);
const ACCEPTING_UNCHANGED = accepting(
  `sent as materialized (${SENT}), given as materialized (${UNCHANGED})`,
);

function accepting(given: string): string {
  return `
  with ${given},
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
}

/**
 * Accepts writes, each with a task that has the id of its operation; one with a lease token is held by it, with its
 * first attempt begun. A write that is not accepted has no row. The second is for writes with `versions`.
 */
export function acceptWrites(leaseEnd: string) {
  return { read: accepts(ACCEPTING, leaseEnd), known: accepts(ACCEPTING_UNCHANGED, leaseEnd) };
}

function accepts(beginning: string, leaseEnd: string): ChangeOfMany<WriteToAccept, AcceptedWrite> {
  return {
    lineOf: ({ projectId }) => projectId,
    keyOf: ({ id }) => id,
    text: `${beginning},
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
