/** Removes subscriptions that are no longer needed: first at the provider, then their events and rows. */

import type { Prisma } from '../../../database/generated/client.ts';
import { type RunStatement, sqlStatement } from '../../../database/statements/statements.ts';
import type { Transaction } from '../../../database/transactions/transaction.ts';
import type { ProviderServices, Services } from '../../access/call.ts';
import { findProviderOf } from '../../access/catalog.ts';
import { openProviderSessionOf } from '../../connections/connection/connection-session.ts';
import type { ObjectSubscription, SubscriptionKey } from './object-subscription.ts';
import { removeListWebhook } from './stream/list-webhook.ts';

const EVENT_BATCH = 1_000;

type SubscriptionAtProvider = Pick<
  ObjectSubscription,
  'projectId' | 'installationId' | 'objectName' | 'provider' | 'connectionId' | 'providerRef'
>;

/**
 * Removes a subscription at the provider. Does nothing if the provider has none, or if the connection was deleted with
 * its credentials. Throws ProviderError if the provider rejects the removal or cannot be reached.
 */
export async function removeAtProvider(
  services: ProviderServices,
  subscription: SubscriptionAtProvider,
): Promise<void> {
  const { projectId, connectionId: id, providerRef } = subscription;
  const provider = await findProviderOf(services, subscription);
  const { calls, list } = provider?.capabilities.subscribe ?? {};
  if (providerRef === null || !calls) return;
  const { prisma } = services.database;
  const connection = await prisma.connection.findUnique({
    where: { projectId_id: { projectId, id } },
    omit: { credentialsSealed: true },
  });
  if (!connection) return;
  const session = await openProviderSessionOf(services, connection);
  if (list) return removeListWebhook(services, list, { subscription, session });
  if (calls.isShared && (await isUsedByOthers(services, subscription))) return;
  await calls.delete(session, providerRef);
  // Another installation may have started to use the subscription during its removal. The maintenance recreates it.
  if (calls.isShared) {
    const dueTime = services.now();
    await prisma.objectSubscription.updateMany({
      where: toOthersFilter(subscription),
      data: { dueTime },
    });
  }
}

/** True if another installation of the connection needs the subscription, which both share at the provider. */
export async function isUsedByOthers(
  { database }: Pick<Services, 'database'>,
  subscription: SubscriptionAtProvider,
): Promise<boolean> {
  const where = toOthersFilter(subscription);
  return (await database.prisma.objectSubscription.findFirst({ where })) !== null;
}

function toOthersFilter({
  projectId,
  connectionId,
  objectName,
  installationId,
}: SubscriptionAtProvider) {
  return {
    projectId,
    connectionId,
    objectName,
    isWanted: true,
    installationId: { not: installationId },
  };
}

const REMOVE_BATCH = sqlStatement(`
  delete from "ProviderEvent" where "projectId" = $1 and ctid = any(array(
    select event.ctid from "ObjectSubscription" subscription cross join lateral (
      select ctid from "ProviderEvent"
      where "projectId" = $1 and "installationId" = $2 and "objectName" = $3
      limit ${EVENT_BATCH} for update skip locked) event
    where subscription."projectId" = $1 and subscription."installationId" = $2
      and subscription."objectName" = $3 and not subscription."isWanted"))
  returning 1`);

/**
 * Deletes the events of an unwanted subscription in batches, because there may be millions. The caller deletes the
 * subscription afterwards, so that an interrupted removal can continue. Skips locked events, and stops if the
 * subscription is wanted again.
 */
export async function removeEvents(
  run: RunStatement,
  { projectId, installationId, objectName }: SubscriptionKey,
): Promise<void> {
  const values = [projectId, installationId, objectName];
  let removedEvents: unknown[];
  do {
    removedEvents = await run(REMOVE_BATCH, values);
  } while (removedEvents.length === EVENT_BATCH);
}

/** Deletes a subscription and its remaining events. Returns false and changes nothing if the condition does not hold. */
export async function removeSubscription(
  tx: Transaction,
  { projectId, installationId, objectName }: SubscriptionKey,
  condition: Prisma.ObjectSubscriptionWhereInput = {},
): Promise<boolean> {
  const key = { projectId, installationId, objectName };
  // Waits for statements that are storing events. No event can be stored after this deletion.
  const { count } = await tx.objectSubscription.deleteMany({ where: { ...condition, ...key } });
  if (count > 0) await tx.providerEvent.deleteMany({ where: key });
  return count > 0;
}
