/**
 * Deletes subscriptions with their events, of which there may be millions: most in parts, while nobody wants the
 * subscription, and what is left together with it. Whatever is cut off, the subscription is still there to be found.
 */
import type { Prisma } from '../../database/generated/client.ts';
import type { RunQuery } from '../../database/rows.ts';
import type { Transaction } from '../../database/transaction.ts';
import type { ObjectSubscription } from './object-subscription.ts';

const EVENTS_AT_ONCE = 1_000;

export type SubscriptionKey = Pick<
  ObjectSubscription,
  'projectId' | 'installationId' | 'objectName'
>;

/** Leaves what is being stored or done, and all from then on if the subscription is wanted again. */
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
