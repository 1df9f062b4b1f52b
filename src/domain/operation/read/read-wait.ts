/** Reads that wait for people: their operations say for what, and their logs say it once. */
import type { Transaction } from '../../../database/transaction.ts';
import { announceOperation } from '../../../events/channel.ts';
import { logOperation } from '../operation-work.ts';
import type { ReadRun } from './read-run.ts';

export async function noteWait(
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
