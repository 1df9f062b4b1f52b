/**
 * Erasures: a group, a consumer or a project with all that names it. One transaction puts it out of sight and leaves
 * a row and a job; the rows go in parts (erase-slice.ts), whatever process is killed meanwhile.
 */
import { acrossProjects, sweep } from '../../database/projects/all-projects.ts';
import { inTransaction, type Transaction } from '../../database/transaction.ts';
import { announceErasure } from '../../events/channel.ts';
import type { Services } from '../call.ts';

/** Erasures whose job was lost: in a database that was moved or restored, all of them are. */

const TAKEN_AT_ONCE = 200;

const BEGUN = acrossProjects(
  'erasures that have begun',
  (inProjects) => `select "projectId", "id" from "Erasure" where ${inProjects('"projectId"')}
   order by "createTime" limit ${TAKEN_AT_ONCE}`,
);

/** Enqueues them again; one that waits already is not enqueued twice, and two that run do no harm. */
export async function recoverErasures(services: Services): Promise<void> {
  const { database } = services;
  const begun = await sweep<ErasureKey>(database, BEGUN);
  if (begun.length === 0) return;
  await inTransaction(database, async (tx) => {
    for (const key of begun) await enqueueErasure(services, tx, key);
  });
}

export interface ErasureKey {
  projectId: string;
  /** The id of the group, of the consumer, or of the project itself. */
  id: string;
}

/** Called in the transaction that puts it out of sight. One that has begun already goes on. */
export async function beginErasure(
  { queue }: Pick<Services, 'queue'>,
  tx: Transaction,
  key: ErasureKey,
): Promise<void> {
  await tx.erasure.createMany({ data: key, skipDuplicates: true });
  announceErasure(tx);
  await enqueueErasure({ queue }, tx, key);
}

/** The job that goes on with it. */
export function enqueueErasure(
  { queue }: Pick<Services, 'queue'>,
  tx: Transaction,
  { projectId, id }: ErasureKey,
): Promise<void> {
  return queue.enqueue(tx, 'run-erasure', { projectId, id }, { singletonKey: id });
}
