/**
 * Stores a batch of a stream and its position in one transaction, so that an interruption neither loses nor repeats an
 * event.
 */
import { inTransaction, type Transaction } from '../../../database/transaction.ts';
import type { ProviderEvent, StreamBatch } from '../../../providers/subscribing.ts';
import type { Services } from '../../call.ts';
import { beginRun } from '../../operation/read/read-run.ts';
import { storeInTransaction } from '../store-events.ts';
import type { FollowedSource } from './followed-source.ts';
import { findMissedChanges, type MissedPeriod, startReads } from './missed-changes.ts';
import { STREAM_LEASES } from './stream-lease.ts';

/** Stores a batch of events and the position after them. Throws LeaseLost if the claim no longer holds the stream. */
export async function storeBatch(
  services: Services,
  source: FollowedSource,
  { events, gaps, position, lastTime }: Omit<StreamBatch, 'gaps'> & { gaps: MissedPeriod[] },
): Promise<void> {
  const { stream } = source;
  const knownTime = lastTime ?? services.now();
  const missedChanges = await findMissedChanges(services, source, gaps);
  const allEvents = [...events, ...missedChanges.events];
  const { storedCount, operations } = await inTransaction(services.database, async (tx) => {
    await STREAM_LEASES.updateClaimed(tx.providerStream, stream, {
      position,
      knownTime,
      failures: 0,
    });
    return {
      storedCount: await storeEvents(tx, source, allEvents),
      operations: await startReads(services, tx, missedChanges),
    };
  });
  Object.assign(stream, { position, knownTime, failures: 0 });
  for (const { id: operationId, projectId } of operations) {
    await beginRun(services, { operationId, projectId });
  }
  if (allEvents.length === 0 && gaps.length === 0) return;
  const { provider, connectionId } = stream;
  services.meters.providerEventReceived({ provider, outcome: 'ACCEPTED' });
  services.meters.providerEventsProcessed({ provider, outcome: 'stored', count: storedCount });
  const counts = { events: events.length, gaps: gaps.length, stored: storedCount };
  services.log.info({ provider, connectionId, ...counts }, 'provider_stream.stored');
}

/** Stores the events that subscriptions need and that are new, and returns their number. Updates `source.appIds`. */
export async function storeEvents(
  tx: Transaction,
  source: FollowedSource,
  events: ProviderEvent[],
): Promise<number> {
  if (events.length === 0) return 0;
  const { projectId } = source.stream;
  source.appIds = await listAppIds(tx, source);
  let storedCount = 0;
  for (const providerAppId of source.appIds) {
    storedCount += await storeInTransaction(tx, { projectId, providerAppId }, events);
  }
  return storedCount;
}

async function listAppIds(
  tx: Transaction,
  { stream: { projectId, connectionId }, account }: FollowedSource,
): Promise<string[]> {
  const subscriptions = await tx.objectSubscription.findMany({
    where: { projectId, connectionId, account, isWanted: true, providerAppId: { not: null } },
    distinct: ['providerAppId'],
    select: { providerAppId: true },
  });
  return subscriptions.flatMap(({ providerAppId }) => providerAppId ?? []);
}
