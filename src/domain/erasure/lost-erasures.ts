/** Erasures whose job was lost: in a database that was moved or restored, all of them are. */
import { acrossProjects, sweep } from '../../database/projects/all-projects.ts';
import { inTransaction } from '../../database/transaction.ts';
import type { Services } from '../call.ts';
import { type ErasureKey, enqueueErasure } from './erasure.ts';

const TAKEN_AT_ONCE = 200;

const BEGUN = acrossProjects(
  'erasures that have begun',
  (isAsked) => `select "projectId", "id" from "Erasure" where ${isAsked('"projectId"')}
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
