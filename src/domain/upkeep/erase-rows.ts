/** Deletes rows of a project in small statements, which block other statements only briefly and may run repeatedly. */

import type { Database } from '../../database/open/database.ts';
import {
  type RunStatement,
  run as runStatement,
  sqlStatement,
} from '../../database/statements/statements.ts';
import { inTransaction, type Transaction } from '../../database/transactions/transaction.ts';
import { findPrefix } from '../../kernel/ids.ts';
import type { ErasureKey } from './erasure.ts';

/** The maximum number of rows that one statement deletes. Rows that are deleted by cascade do not count. */
const STATEMENT_ROWS_MAX = 500;
const STATEMENT_LOG_LINES_MAX = 1_000;
/** The maximum number of operations in one round. An operation may have thousands of log lines, which are deleted first. */
const ROUND_OPERATIONS_MAX = 100;

/**
 * Formats an SQL condition for the rows of the erased subject. `$1` is the project, and `$2` the group, the consumer or
 * the project itself.
 */
export function formatSubjectCondition({ projectId, id }: ErasureKey): string {
  if (id === projectId) return '"projectId" = $1 and $2 = "projectId"';
  return `"projectId" = $1 and "${findPrefix(id) === 'grp' ? 'groupId' : 'consumerId'}" = $2`;
}

/** Deletes up to STATEMENT_ROWS_MAX rows of a table, and returns their number. */
export async function removeRows(
  run: RunStatement,
  table: string,
  key: ErasureKey,
): Promise<number> {
  const statement = sqlStatement(
    `delete from "${table}" where "projectId" = $1 and ctid = any(array(
       select ctid from "${table}" where ${formatSubjectCondition(key)} limit ${STATEMENT_ROWS_MAX}))
     returning 1`,
  );
  const deleted = await run(statement, [key.projectId, key.id]);
  return deleted.length;
}

/** Deletes all installations of the subject with their configs and objects. */
export async function removeInstallations(run: RunStatement, key: ErasureKey): Promise<void> {
  const isConsumer = findPrefix(key.id) === 'csm';
  let count: number;
  do {
    count = isConsumer
      ? (await run(REMOVE_CONSUMER_INSTALLATIONS, [key.projectId, key.id])).length
      : await removeRows(run, 'Installation', key);
  } while (count === STATEMENT_ROWS_MAX);
}

/** Finds installations through their connections, because only a connection refers to a consumer. */
const REMOVE_CONSUMER_INSTALLATIONS = sqlStatement(`
  delete from "Installation" where "projectId" = $1 and ctid = any(array(
    select installation.ctid from "Connection" connection
    join "Installation" installation
      on installation."projectId" = connection."projectId" and installation."connectionId" = connection."id"
    where connection."projectId" = $1 and connection."consumerId" = $2 limit ${STATEMENT_ROWS_MAX}))
  returning 1`);

/**
 * Deletes operations with their logs, their written records and the idempotency keys. Returns true if there may be
 * more.
 */
export async function removeOperations(database: Database, key: ErasureKey): Promise<boolean> {
  const { run } = database;
  const { projectId } = key;
  const statement = sqlStatement<{ id: string }>(
    `select "id" from "Operation" where ${formatSubjectCondition(key)} limit ${ROUND_OPERATIONS_MAX}`,
  );
  const operations = await run(statement, [projectId, key.id]);
  const ids = operations.map(({ id }) => id);
  if (ids.length === 0) return false;
  let removedLines: unknown[];
  do {
    removedLines = await run(REMOVE_LOGS, [projectId, ids]);
  } while (removedLines.length === STATEMENT_LOG_LINES_MAX);
  await inTransaction(database, (tx) => removeWrites(tx, projectId, ids));
  await run(REMOVE_IDEMPOTENCY_KEYS, [projectId, ids]);
  await run(REMOVE_OPERATIONS, [projectId, ids]);
  return true;
}

const REMOVE_LOGS = sqlStatement(`
  delete from "OperationLog" where "projectId" = $1 and ctid = any(array(
    select line.ctid from unnest($2::text[]) as operation("id") cross join lateral (
      select ctid from "OperationLog"
      where "projectId" = $1 and "operationId" = operation."id" limit ${STATEMENT_LOG_LINES_MAX}
    ) line limit ${STATEMENT_LOG_LINES_MAX}))
  returning 1`);

/**
 * Deletes the records of operations, and the tasks without other records. A task can collect records of several
 * consumers. It keeps its `recordCount`, which determines the position of its next record.
 */
async function removeWrites(
  tx: Transaction,
  projectId: string,
  operationIds: string[],
): Promise<void> {
  // Locked tasks get no new records.
  const tasks = await runStatement(tx, LOCK_TASKS, [projectId, operationIds]);
  if (tasks.length === 0) return;
  await tx.writeEntry.deleteMany({ where: { projectId, operationId: { in: operationIds } } });
  const ids = tasks.map(({ id }) => id);
  await tx.writeTask.deleteMany({ where: { projectId, id: { in: ids }, entries: { none: {} } } });
}

const LOCK_TASKS = sqlStatement<{ id: string }>(`
  select "id" from "WriteTask" where "projectId" = $1 and "id" in (
    select "taskId" from "WriteEntry" where "projectId" = $1 and "operationId" = any($2))
  order by "id" for update`);

const REMOVE_IDEMPOTENCY_KEYS = sqlStatement(
  'delete from "IdempotencyKey" where "projectId" = $1 and "operationId" = any($2)',
);
const REMOVE_OPERATIONS = sqlStatement(
  'delete from "Operation" where "projectId" = $1 and "id" = any($2)',
);
