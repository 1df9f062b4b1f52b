/** A connection's stream of events, which all its subscriptions share. */
import type { Transaction } from '../../../database/transaction.ts';
import { notifySubscriptions } from '../../../events/channel.ts';
import type { ObjectSubscription } from '../object-subscription.ts';
import type { ProviderStream } from './stream-lease.ts';

/** Creates the stream unless it exists. Returns its status, which can't change before the transaction ends. */
export async function joinStream(
  tx: Transaction,
  { projectId, connectionId, provider }: ObjectSubscription,
): Promise<Pick<ProviderStream, 'status' | 'error'>> {
  const stream = await tx.providerStream.upsert({
    where: { projectId_connectionId: { projectId, connectionId } },
    create: { projectId, connectionId, provider },
    update: { provider },
    select: { status: true, error: true },
  });
  if (stream.status === 'PENDING') notifySubscriptions(tx);
  return stream;
}
