/** Runs that callers pause: a worker stops after its page, and none takes them up until they are resumed. */
import type { Transaction } from '../../../database/transaction.ts';
import type { Services } from '../../call.ts';
import { logOperation } from '../operation-work.ts';
import { enqueueRun } from './read-run.ts';
import { noteWait } from './read-wait.ts';

interface Runs {
  projectId: string;
  installationId: string;
  objectName?: { in: string[] };
}

/** To be called with the objects of the runs locked. */
export async function pauseRuns(tx: Transaction, runs: Runs, now: Date): Promise<void> {
  const paused = await tx.readRun.updateManyAndReturn({
    where: { ...runs, paused: false },
    data: { paused: true },
  });
  for (const run of paused) await noteWait(tx, run, { reason: 'Read paused', now });
}

/** They go on with the page after the last one that was recorded. */
export async function resumeRuns(
  { queue, now }: Pick<Services, 'queue' | 'now'>,
  tx: Transaction,
  runs: Runs,
): Promise<void> {
  const resumed = await tx.readRun.updateManyAndReturn({
    where: { ...runs, paused: true },
    data: { paused: false },
  });
  for (const run of resumed) {
    const { operationId: id, projectId, objectName } = run;
    await tx.operation.updateMany({
      where: { id, projectId, status: 'IN_PROGRESS' },
      data: { result: null, updateTime: now() },
    });
    const message = `[${objectName}] Read resumed`;
    await logOperation(tx, { id, projectId }, { severity: 'INFO', message });
    await enqueueRun({ queue }, tx, run);
  }
}
