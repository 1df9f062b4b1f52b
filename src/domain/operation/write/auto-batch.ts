/**
 * Auto-batching: single writes of an installation, object and type are collected in one open task, which
 * runs when it is full or its first record has waited long enough. Running it closes it (task.ts).
 */
import { createHash } from 'node:crypto';
import type { Row } from '../../../database/rows.ts';
import { run, sql } from '../../../database/statements.ts';
import type { Transaction } from '../../../database/transaction.ts';
import { HOUR_MS, MINUTE_MS } from '../../../work/durations.ts';
import type { Services } from '../../call.ts';
import type { WriteInput } from './write-input.ts';
import { WRITE_LIMITS } from './write-input.ts';

export interface RecordToCollect {
  operation: Row<'Operation'>;
  objectName: string;
  type: Row<'WriteTask'>['type'];
  headers: object | null;
  policy: NonNullable<WriteInput['autoBatchPolicy']>;
  entry: { record: object; associations?: object };
}

/** Adds a record to what is collected; the first one's policy holds for all. */
export async function collectRecord(
  { queue, now }: Pick<Services, 'queue' | 'now'>,
  tx: Transaction,
  { operation, objectName, type, headers, policy, entry }: RecordToCollect,
): Promise<void> {
  const { id, projectId, installationId } = operation;
  const due = new Date(now().getTime() + policy.maxDelayMinutes * MINUTE_MS);
  const deadline = new Date(due.getTime() + policy.retryDeadlineHours * HOUR_MS);
  const group = groupOf({ installationId, objectName, type, headers });
  const insert = sql<Pick<Row<'WriteTask'>, 'id' | 'recordCount'>>`
    insert into "WriteTask" ("id", "projectId", "installationId", "objectName", "type", "mode",
      "headers", "openGroup", "recordCount", "dueTime", "deadlineTime")
    values (${id}, ${projectId}, ${installationId}, ${objectName}, ${type}::"WriteType", 'ASYNCHRONOUS',
      ${headers && JSON.stringify(headers)}::jsonb, ${group}, 1, ${due}, ${deadline})
    on conflict ("openGroup") do update set "recordCount" = "WriteTask"."recordCount" + 1
    returning "id", "recordCount"`;
  const [task] = await run(tx, insert);
  if (!task) throw new Error('A record was not collected.');
  const { id: taskId, recordCount } = task;
  await tx.writeEntry.create({
    data: { taskId, position: recordCount - 1, projectId, operationId: id, ...entry },
  });
  const options = { group: installationId };
  if (taskId === id) {
    const later = { ...options, startAfter: due, singletonKey: taskId };
    await queue.enqueue(tx, 'run-write', { taskId }, later);
  }
  if (recordCount < WRITE_LIMITS.batch) return;
  await tx.writeTask.update({
    where: { id: taskId },
    data: { openGroup: null, dueTime: now() },
  });
  await queue.enqueue(tx, 'run-write', { taskId }, { ...options, singletonKey: `${taskId}.full` });
}

/** Headers belong to a request, so that records with other headers are collected apart. */
function groupOf({
  headers,
  ...group
}: Pick<RecordToCollect, 'objectName' | 'type' | 'headers'> & { installationId: string }): string {
  const parts = [group.installationId, group.type, group.objectName];
  if (!headers) return JSON.stringify(parts);
  const hash = createHash('sha256').update(JSON.stringify(headers)).digest('base64url');
  return JSON.stringify([...parts, hash]);
}
