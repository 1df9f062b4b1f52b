/** Removes subscriptions that no installation needs: at the provider first, then their rows with their events. */
import type { Prisma } from '../../database/generated/client.ts';
import type { RunQuery } from '../../database/rows.ts';
import type { Transaction } from '../../database/transaction.ts';
import type { Services } from '../call.ts';
import { openSession } from '../connection/connection-session.ts';
import type { ObjectSubscription } from './object-subscription.ts';
import { removePing } from './stream/stream-ping.ts';

const EVENTS_AT_ONCE = 1_000;

type AtProvider = Pick<
  ObjectSubscription,
  'projectId' | 'installationId' | 'objectName' | 'provider' | 'connectionId' | 'providerRef'
>;

/** Does nothing if nothing is there, or the connection is gone: its credentials went with it. Throws ProviderError. */
export async function removeAtProvider(
  services: Services,
  subscription: AtProvider,
): Promise<void> {
  const { projectId, provider, connectionId: id, providerRef } = subscription;
  const { calls, list } = services.catalogue.find(provider)?.capabilities.subscribe ?? {};
  if (providerRef === null || !calls) return;
  const { prisma } = services.database;
  const connection = await prisma.connection.findUnique({
    where: { projectId_id: { projectId, id } },
    omit: { credentialsSealed: true },
  });
  if (!connection) return;
  const session = openSession(services, connection);
  if (list) return removePing(services, list, { subscription, session });
  if (calls.areShared && (await isUsedByOthers(services, subscription))) return;
  await calls.takeDown(session, providerRef);
  // One that was wanted meanwhile may have found what is gone now: it looks again.
  if (calls.areShared) {
    const dueTime = services.now();
    await prisma.objectSubscription.updateMany({
      where: othersOf(subscription),
      data: { dueTime },
    });
  }
}

/** Whether other installations of the connection want what it has at the provider, where they share that. */
export async function isUsedByOthers(
  { database }: Pick<Services, 'database'>,
  subscription: AtProvider,
): Promise<boolean> {
  const where = othersOf(subscription);
  return (await database.prisma.objectSubscription.findFirst({ where })) !== null;
}

function othersOf({ projectId, connectionId, objectName, installationId }: AtProvider) {
  const not = installationId;
  return { projectId, connectionId, objectName, isWanted: true, installationId: { not } } as const;
}

type SubscriptionKey = Pick<ObjectSubscription, 'projectId' | 'installationId' | 'objectName'>;

/**
 * Of a subscription that nobody wants: there may be millions. They go before it, in parts, so that it is still there to be
 * found if that is cut off. Leaves what is being stored or done, and all from then on if the subscription is wanted again.
 */
export async function removeEvents(
  query: RunQuery,
  { projectId, installationId, objectName }: SubscriptionKey,
): Promise<void> {
  const values = [projectId, installationId, objectName];
  for (let gone = EVENTS_AT_ONCE; gone === EVENTS_AT_ONCE; ) {
    gone = (await query(REMOVE_SOME, values)).length;
  }
}

const REMOVE_SOME = `
  delete from "ProviderEvent" where "projectId" = $1 and ctid = any(array(
    select event.ctid from "ObjectSubscription" s cross join lateral (
      select ctid from "ProviderEvent"
      where "projectId" = $1 and "installationId" = $2 and "objectName" = $3
      limit ${EVENTS_AT_ONCE} for update skip locked) event
    where s."projectId" = $1 and s."installationId" = $2 and s."objectName" = $3 and not s."isWanted"))
  returning 1`;

/** Called when its events have been removed. Does nothing, and gives false, if it does not meet the condition. */
export async function removeSubscription(
  tx: Transaction,
  { projectId, installationId, objectName }: SubscriptionKey,
  condition: Prisma.ObjectSubscriptionWhereInput = {},
): Promise<boolean> {
  const key = { projectId, installationId, objectName };
  // Waits for what is being stored for it; from here on nothing more is.
  const { count } = await tx.objectSubscription.deleteMany({ where: { ...condition, ...key } });
  if (count > 0) await tx.providerEvent.deleteMany({ where: key });
  return count > 0;
}
