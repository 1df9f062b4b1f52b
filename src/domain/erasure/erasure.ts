/**
 * Starts the erasure of a group, a consumer or a project with all rows that refer to it. One transaction hides the
 * subject and stores an `Erasure` and a job. Jobs then delete the rows, each for some seconds (continue-erasure.ts).
 */
import { acrossProjects, sweep } from '../../database/projects/all-projects.ts';
import { inTransaction, type Transaction } from '../../database/transaction.ts';
import { notifyErasure } from '../../events/channel.ts';
import type { Services } from '../call.ts';

/** The maximum number of erasures that one sweep enqueues. */
const SWEEP_ERASURES_MAX = 200;

const SELECT_ERASURES = acrossProjects(
  'erasures that have begun',
  (inProjects) => `select "projectId", "id" from "Erasure" where ${inProjects('"projectId"')}
   order by "createTime" limit ${SWEEP_ERASURES_MAX}`,
);

export interface ErasureKey {
  projectId: string;
  /** The id of the group, of the consumer, or of the project. */
  id: string;
}

/**
 * Starts an erasure. Must run in the transaction that hides the subject. An erasure that has already begun continues.
 */
export async function beginErasure(
  { queue }: Pick<Services, 'queue'>,
  tx: Transaction,
  key: ErasureKey,
): Promise<void> {
  await tx.erasure.createMany({ data: key, skipDuplicates: true });
  notifyErasure(tx);
  await enqueueErasure({ queue }, tx, key);
}

/**
 * Enqueues erasures whose job may be lost: a database that was moved or restored has lost all jobs. A job that already
 * waits is not enqueued twice, and two jobs of an erasure may run in parallel.
 */
export async function recoverErasures(services: Services): Promise<void> {
  const { database } = services;
  const keys = await sweep<ErasureKey>(database, SELECT_ERASURES);
  if (keys.length === 0) return;
  await inTransaction(database, async (tx) => {
    for (const key of keys) await enqueueErasure(services, tx, key);
  });
}

/** Enqueues the job that continues the erasure. */
export function enqueueErasure(
  { queue }: Pick<Services, 'queue'>,
  tx: Transaction,
  { projectId, id }: ErasureKey,
): Promise<void> {
  return queue.enqueue(tx, 'run-erasure', { projectId, id }, { singletonKey: id });
}
