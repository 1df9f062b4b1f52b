/** Subscriptions of what is erased: taken down at the provider, as far as it takes that, and deleted with their events. */
import { inTransaction } from '../../database/transaction.ts';
import type { Services } from '../call.ts';
import type { ObjectSubscription } from '../provider-event/object-subscription.ts';
import {
  removeAtProvider,
  removeEvents,
  removeSubscription,
} from '../provider-event/remove-subscription.ts';
import { conditionOf } from './erase-rows.ts';
import type { ErasureKey } from './erasure.ts';

/** Each waits for its provider. */
const AT_ONCE = 20;

type Found = Pick<
  ObjectSubscription,
  'projectId' | 'installationId' | 'objectName' | 'provider' | 'connectionId' | 'providerRef'
>;

/** Some of them. Whether there may be more. */
export async function endSubscriptions(services: Services, key: ErasureKey): Promise<boolean> {
  const { query } = services.database.rows;
  const found = await query<Found>(
    `select "projectId", "installationId", "objectName", "provider", "connectionId", "providerRef"
     from "ObjectSubscription" where "projectId" = $1 and "connectionId" in (
       select "id" from "Connection" where ${conditionOf(key)})
     limit ${AT_ONCE}`,
    [key.projectId, key.id],
  );
  await Promise.all(found.map((subscription) => tryToTakeDown(services, subscription)));
  for (const subscription of found) {
    const { projectId, installationId, objectName } = subscription;
    await query(NOT_WANTED, [projectId, installationId, objectName]);
    await removeEvents(query, subscription);
    await inTransaction(services.database, (tx) => removeSubscription(tx, subscription));
  }
  return found.length > 0;
}

const NOT_WANTED = `
  update "ObjectSubscription" set "isWanted" = false
  where "projectId" = $1 and "installationId" = $2 and "objectName" = $3`;

/** Tried once: the erasure does not wait for a provider that fails. */
async function tryToTakeDown(services: Services, subscription: Found): Promise<void> {
  await removeAtProvider(services, subscription).catch((error: unknown) => {
    const { installationId } = subscription;
    services.log.warn({ err: error, installationId }, 'subscription.not_taken_down');
  });
}
