/** A connection's stream of events, of which each of its subscriptions is a part. */
import type { Transaction } from '../../../database/transaction.ts';
import type { ObjectSubscription } from '../object-subscription.ts';
import type { EventStream } from './stream-lease.ts';

/** There is a stream from now on. How it is doing: that can't change before the transaction ends. */
export async function joinStream(
  tx: Transaction,
  { projectId, connectionId, provider }: ObjectSubscription,
): Promise<Pick<EventStream, 'status' | 'error'>> {
  return tx.eventStream.upsert({
    where: { projectId_connectionId: { projectId, connectionId } },
    create: { projectId, connectionId, provider },
    update: { provider },
    select: { status: true, error: true },
  });
}
