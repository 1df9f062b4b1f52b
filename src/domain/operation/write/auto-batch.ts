/**
 * Auto-batching: single writes of an installation, object and type are collected in one open task. It runs when it is
 * full, or when one of its records has waited for its maximum delay. Running it closes it (task.ts).
 */
import { createHash } from 'node:crypto';
import type { WriteToAccept } from '../../../database/hot/accept-writes.ts';
import { type CollectedRecord, collectRecords } from '../../../database/hot/accept-writes.ts';
import type { Row } from '../../../database/rows.ts';
import { HOUR_MS, MINUTE_MS } from '../../../work/durations.ts';
import type { Services } from '../../call.ts';
import { acceptedRow, operationOf, type WriteToStart } from './start.ts';
import { WRITE_LIMITS } from './write-input.ts';

const COLLECT_RECORDS = collectRecords(WRITE_LIMITS.batch);

/** Adds a record to its open task. Null if another call took the idempotency key, as in `startWrite`. */
export async function collectWrite(
  services: Services,
  write: WriteToStart,
): Promise<Row<'Operation'> | null> {
  const row = rowOf(services, write);
  const collected = await services.database.changes.run(COLLECT_RECORDS, row);
  if (!collected) return null;
  await beginFull(services, row, collected);
  return operationOf(row, collected.createTime);
}

function rowOf(services: Services, write: WriteToStart): WriteToAccept {
  const { autoBatchPolicy: policy } = write.input;
  if (!policy) throw new Error('Bug: a write without autoBatchPolicy was collected.');
  const row = acceptedRow(services, write);
  const dueTime = new Date(row.now.getTime() + policy.maxDelayMinutes * MINUTE_MS);
  return {
    ...row,
    openGroup: groupOf(row),
    dueTime,
    deadlineTime: new Date(dueTime.getTime() + policy.retryDeadlineHours * HOUR_MS),
  };
}

/** Enqueues a full task. The sweep `writes to recover` runs a task that becomes due before it is full. */
async function beginFull(
  { queue }: Services,
  { projectId, installationId: group }: WriteToAccept,
  { taskId, recordCount }: CollectedRecord,
): Promise<void> {
  if (recordCount < WRITE_LIMITS.batch) return;
  await queue.begin('run-write', { projectId, taskId }, { singletonKey: `${taskId}.full`, group });
}

/** Records with different headers go to different tasks, because headers belong to a request. */
function groupOf({ installationId, type, objectName, headers }: WriteToAccept): string {
  const parts = [installationId, type, objectName];
  if (!headers) return JSON.stringify(parts);
  const hash = createHash('sha256').update(JSON.stringify(headers)).digest('base64url');
  return JSON.stringify([...parts, hash]);
}
