/** Erasures whose job was lost: in a database that was moved or restored, all of them are. */
import { acrossProjects } from '../../database/all-projects.ts';
import { inTransaction } from '../../database/transaction.ts';
import type { Services } from '../call.ts';
import { type ErasureKey, enqueueErasure } from './erasure.ts';

const TAKEN_AT_ONCE = 200;

/** Enqueues them again; one that waits already is not enqueued twice, and two that run do no harm. */
export async function recoverErasures(services: Services): Promise<void> {
  const { database } = services;
  const begun = await database.rows.query<ErasureKey>(
    acrossProjects(
      'erasures that have begun',
      `select "projectId", "id" from "Erasure" order by "createTime" limit ${TAKEN_AT_ONCE}`,
    ),
    [],
  );
  if (begun.length === 0) return;
  await inTransaction(database, async (tx) => {
    for (const key of begun) await enqueueErasure(services, tx, key);
  });
}
