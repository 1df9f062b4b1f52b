/** Stores and finds recorded requests to providers. */

import { type RowKey, toKeyColumns } from '../row-keys.ts';
import { type RunStatement, sqlStatement } from '../statements.ts';
import type { Tables } from '../tables.ts';
import type { SharedStatement } from './shared-statements.ts';

export type RequestRow = Tables['RecordedRequest'];

/** The database refuses a request of an operation or a connection that was deleted in the meantime. */
export const STORE_REQUESTS: SharedStatement<RequestRow, Pick<RequestRow, 'id'>> = {
  getQueue: () => 'requests',
  getKey: ({ id }) => id,
  text: `
  insert into "RecordedRequest" ("id", "projectId", "operationId", "connectionId", "kind", "method", "host", "path",
    "responseStatus", "error", "isFailed", "durationMs", "requestHeaders", "responseHeaders", "responseBody", "createTime")
  select "id", "projectId", "operationId", "connectionId", "kind", "method", "host", "path",
    "responseStatus", "error", "isFailed", "durationMs", "requestHeaders", "responseHeaders", "responseBody", "createTime"
  from jsonb_to_recordset($1::jsonb) as input(
    "id" text, "projectId" text, "operationId" text, "connectionId" text, "kind" "RequestKind", "method" text, "host" text,
    "path" text, "responseStatus" int, "error" text, "isFailed" boolean, "durationMs" int, "requestHeaders" jsonb,
    "responseHeaders" jsonb, "responseBody" text, "createTime" timestamptz)
  returning "id" as "key", "id"`,
};

const REMOVE_SURPLUS = sqlStatement(`
  delete from "RecordedRequest" where "projectId" = $1 and "id" = any(array(
    select "id" from "RecordedRequest" where "projectId" = $1 and "operationId" = $2
    order by "isFailed" desc, "id" desc offset $3))`);

/** Removes the requests of an operation beyond `countMax`, successful ones first, then the oldest. */
export async function removeSurplusRequests(
  run: RunStatement,
  { projectId, id }: RowKey,
  countMax: number,
): Promise<void> {
  await run(REMOVE_SURPLUS, [projectId, id, countMax]);
}

const WRITE_TASKS = sqlStatement<{ operationId: string; taskId: string }>(`
  select distinct "operationId", "taskId" from "WriteEntry" where "projectId" = any($1) and "operationId" = any($2)`);

/** Returns the ids of the write tasks of operations, by the operation's id. Requests of a write have the id of its task. */
export async function listWriteTasks(
  run: RunStatement,
  operations: readonly RowKey[],
): Promise<Map<string, string>> {
  const rows = await run(WRITE_TASKS, toKeyColumns(operations));
  return new Map(rows.map(({ operationId, taskId }) => [operationId, taskId]));
}
