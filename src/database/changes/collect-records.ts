/** How auto-batching collects single records of many calls in one task. */
import { ACCEPTING, type AcceptedWrite, type WriteToAccept } from './accept-writes.ts';
import type { ChangeOfMany } from './shared-changes.ts';

export interface CollectedRecord extends AcceptedWrite {
  /** The id of the operation whose record was the task's first. */
  taskId: string;
  /** With this one. */
  recordCount: number;
}

/**
 * Accepts a write of one record, and adds it to the open task of its group, which is begun if there is none. With its
 * last record a task is due, and collects no more.
 */
export function collectRecords(recordsMax: number): ChangeOfMany<WriteToAccept, CollectedRecord> {
  return {
    // Each alone: which task a record comes to is known when the one before it has its place.
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
      "dueTime" = case when t."recordCount" + 1 < ${recordsMax} then t."dueTime" else excluded."createTime" end
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
