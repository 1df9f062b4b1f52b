/**
 * Erasures: a group, a consumer or a project with all that names it. One transaction puts it out of sight and leaves
 * a row and a job; the rows go in parts (erase-slice.ts), whatever process is killed meanwhile.
 */
import type { Transaction } from '../../database/transaction.ts';
import { announceErasure } from '../../events/channel.ts';
import type { Services } from '../call.ts';

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
