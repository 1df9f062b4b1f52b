/** Removes the subscriptions of an erased subject at their providers, and deletes them with their events. */
import { inTransaction } from '../../database/transaction.ts';
import type { Services } from '../call.ts';
import type { ObjectSubscription } from '../provider-event/object-subscription.ts';
import {
  removeAtProvider,
  removeEvents,
  removeSubscription,
} from '../provider-event/remove-subscription.ts';
import { formatSubjectCondition } from './erase-rows.ts';
import type { ErasureKey } from './erasure.ts';

/** The maximum number of subscriptions that are removed in parallel. Each removal waits for its provider. */
const SUBSCRIPTIONS_MAX = 20;

type SubscriptionRow = Pick<
  ObjectSubscription,
  'projectId' | 'installationId' | 'objectName' | 'provider' | 'connectionId' | 'providerRef'
>;

/**
 * Removes some subscriptions of the subject at providers that support it, and deletes them with their events. Returns
 * true if there may be more.
 */
export async function endSubscriptions(services: Services, key: ErasureKey): Promise<boolean> {
  const { query } = services.database.rows;
  const subscriptions = await query<SubscriptionRow>(
    `select "projectId", "installationId", "objectName", "provider", "connectionId", "providerRef"
     from "ObjectSubscription" where "projectId" = $1 and "connectionId" in (
       select "id" from "Connection" where ${formatSubjectCondition(key)})
     limit ${SUBSCRIPTIONS_MAX}`,
    [key.projectId, key.id],
  );
  await Promise.all(
    subscriptions.map((subscription) => tryToRemoveAtProvider(services, subscription)),
  );
  for (const subscription of subscriptions) {
    const { projectId, installationId, objectName } = subscription;
    await query(MARK_UNWANTED, [projectId, installationId, objectName]);
    await removeEvents(query, subscription);
    await inTransaction(services.database, (tx) => removeSubscription(tx, subscription));
  }
  return subscriptions.length > 0;
}

const MARK_UNWANTED = `
  update "ObjectSubscription" set "isWanted" = false
  where "projectId" = $1 and "installationId" = $2 and "objectName" = $3`;

/** Tries once to remove the subscription, so that the erasure does not wait for a provider that fails. */
async function tryToRemoveAtProvider(
  services: Services,
  subscription: SubscriptionRow,
): Promise<void> {
  await removeAtProvider(services, subscription).catch((error: unknown) => {
    const { installationId } = subscription;
    services.log.warn({ err: error, installationId }, 'subscription.not_removed');
  });
}
