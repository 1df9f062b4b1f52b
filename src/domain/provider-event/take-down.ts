/** Takes down what is at a provider for a subscription that nobody wants. */
import type { Services } from '../call.ts';
import { openSession } from '../connection/connection-session.ts';
import type { ObjectSubscription } from './object-subscription.ts';
import { takeDownPing } from './stream/stream-ping.ts';

type AtProvider = Pick<
  ObjectSubscription,
  'projectId' | 'installationId' | 'objectName' | 'provider' | 'connectionId' | 'providerRef'
>;

/** Does nothing if nothing is there, or the connection is gone: its credentials went with it. Throws ProviderError. */
export async function takeDownAtProvider(
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
  if (list) return takeDownPing(services, list, { subscription, session });
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
