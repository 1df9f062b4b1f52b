/**
 * Records that a read waits for people: its operation shows the reason, and its log gets a line if the reason is new.
 */
import type { Transaction } from '../../../database/transaction.ts';
import { announceOperation } from '../../../events/channel.ts';
import { logOperation } from '../operation-work.ts';
import type { ReadRun } from './read-run.ts';

export async function recordWait(
  tx: Transaction,
  {
    operationId: id,
    projectId,
    objectName,
  }: Pick<ReadRun, 'operationId' | 'projectId' | 'objectName'>,
  { reason, now }: { reason: string; now: Date },
): Promise<void> {
  const result = `[${objectName}] ${reason}`;
  const { count } = await tx.operation.updateMany({
    where: {
      id,
      projectId,
      status: 'IN_PROGRESS',
      OR: [{ result: null }, { result: { not: result } }],
    },
    data: { result, updateTime: now },
  });
  if (count === 0) return;
  await logOperation(tx, { id, projectId }, { severity: 'WARNING', message: result });
  announceOperation(tx, id);
}
