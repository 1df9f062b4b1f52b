/** Deletes rows of a project in small statements, so that nothing waits for them; each may be repeated. */
import type { Database } from '../../database/database.ts';
import type { RunQuery } from '../../database/rows.ts';
import { inTransaction, type Transaction } from '../../database/transaction.ts';
import { prefixOf } from '../../ids.ts';
import type { ErasureKey } from './erasure.ts';

/** Rows of one statement, with what hangs on them. */
const ROWS_AT_ONCE = 500;
/** Each has up to thousands of log lines, which go first. */
const OPERATIONS_AT_ONCE = 100;
const LOGS_AT_ONCE = 1_000;

/** SQL: whose rows of a table are meant. `$1` is the project, `$2` the group or the consumer. */
export function conditionOf({ projectId, id }: ErasureKey): string {
  if (id === projectId) return '"projectId" = $1 and $2 = "projectId"';
  return `"projectId" = $1 and "${prefixOf(id) === 'grp' ? 'groupId' : 'consumerId'}" = $2`;
}

/** Of one table, at most so many; the number of those that went. */
export async function removeRows(query: RunQuery, table: string, key: ErasureKey): Promise<number> {
  const gone = await query(
    `delete from "${table}" where "projectId" = $1 and ctid = any(array(
       select ctid from "${table}" where ${conditionOf(key)} limit ${ROWS_AT_ONCE}))
     returning 1`,
    [key.projectId, key.id],
  );
  return gone.length;
}

/** All of them, with their configs and objects. */
export async function removeInstallations(query: RunQuery, key: ErasureKey): Promise<void> {
  const isOfConsumer = prefixOf(key.id) === 'csm';
  const statement = isOfConsumer ? INSTALLATIONS_OF_CONSUMER : installationsOf(key);
  for (let gone = ROWS_AT_ONCE; gone === ROWS_AT_ONCE; ) {
    gone = (await query(statement, [key.projectId, key.id])).length;
  }
}

const INSTALLATIONS_OF_CONSUMER = `
  delete from "Installation" where "projectId" = $1 and ctid = any(array(
    select i.ctid from "Connection" c
    join "Installation" i on i."projectId" = c."projectId" and i."connectionId" = c."id"
    where c."projectId" = $1 and c."consumerId" = $2 limit ${ROWS_AT_ONCE}))
  returning 1`;

function installationsOf(key: ErasureKey): string {
  return `
    delete from "Installation" where "projectId" = $1 and ctid = any(array(
      select ctid from "Installation" where ${conditionOf(key)} limit ${ROWS_AT_ONCE}))
    returning 1`;
}

/** Operations with their logs, their records to write and the keys of those. Whether there may be more. */
export async function removeOperations(database: Database, key: ErasureKey): Promise<boolean> {
  const { query } = database.rows;
  const { projectId } = key;
  const found = await query<{ id: string }>(
    `select "id" from "Operation" where ${conditionOf(key)} limit ${OPERATIONS_AT_ONCE}`,
    [projectId, key.id],
  );
  const ids = found.map(({ id }) => id);
  if (ids.length === 0) return false;
  for (let lines = LOGS_AT_ONCE; lines === LOGS_AT_ONCE; ) {
    lines = (await query(REMOVE_LOGS, [projectId, ids])).length;
  }
  await inTransaction(database, (tx) => removeWrites(tx, projectId, ids));
  for (const statement of WITH_OPERATIONS) await query(statement, [projectId, ids]);
  return true;
}

const REMOVE_LOGS = `
  delete from "OperationLog" where "projectId" = $1 and ctid = any(array(
    select line.ctid from unnest($2::text[]) as operation("id") cross join lateral (
      select ctid from "OperationLog"
      where "projectId" = $1 and "operationId" = operation."id" limit ${LOGS_AT_ONCE}
    ) line limit ${LOGS_AT_ONCE}))
  returning 1`;

/**
 * The records of operations, and the tasks that had no others: what was collected for several consumers is one task. It
 * keeps its `recordCount`, by which the next record gets its position.
 */
async function removeWrites(
  tx: Transaction,
  projectId: string,
  operationIds: string[],
): Promise<void> {
  // Held, none of them gets a record meanwhile.
  const tasks = await tx.$queryRawUnsafe<{ id: string }[]>(HOLD_TASKS, projectId, operationIds);
  if (tasks.length === 0) return;
  await tx.writeEntry.deleteMany({ where: { projectId, operationId: { in: operationIds } } });
  const ids = tasks.map(({ id }) => id);
  await tx.writeTask.deleteMany({ where: { projectId, id: { in: ids }, entries: { none: {} } } });
}

const HOLD_TASKS = `
  select "id" from "WriteTask" where "projectId" = $1 and "id" in (
    select "taskId" from "WriteEntry" where "projectId" = $1 and "operationId" = any($2))
  order by "id" for update`;

const WITH_OPERATIONS = [
  `delete from "IdempotencyKey" where "projectId" = $1 and "operationId" = any($2)`,
  `delete from "Operation" where "projectId" = $1 and "id" = any($2)`,
];
