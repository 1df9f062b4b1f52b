/** Subscriptions of what is erased: taken down at the provider, as far as it takes that, and deleted with their events. */
import type { Services } from '../call.ts';
import type { ObjectSubscription } from '../provider-event/object-subscription.ts';
import { takeDownAtProvider } from '../provider-event/take-down.ts';
import { conditionOf } from './erase-rows.ts';
import type { ErasureKey } from './erasure.ts';

/** Each waits for its provider. */
const AT_ONCE = 20;
const EVENTS_AT_ONCE = 1_000;

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
  for (const { projectId, installationId, objectName } of found) {
    const values = [projectId, installationId, objectName];
    // What is being stored for it ends before it goes; from here on nothing more is.
    await query(NOT_WANTED, values);
    await query(DELETE_SUBSCRIPTION, values);
    for (let gone = EVENTS_AT_ONCE; gone === EVENTS_AT_ONCE; ) {
      gone = (await query(DELETE_EVENTS, values)).length;
    }
  }
  return found.length > 0;
}

const NOT_WANTED = `
  update "ObjectSubscription" set "isWanted" = false
  where "projectId" = $1 and "installationId" = $2 and "objectName" = $3`;
const DELETE_SUBSCRIPTION = `
  delete from "ObjectSubscription"
  where "projectId" = $1 and "installationId" = $2 and "objectName" = $3`;
const DELETE_EVENTS = `
  delete from "ProviderEvent" where "projectId" = $1 and ctid = any(array(
    select ctid from "ProviderEvent"
    where "projectId" = $1 and "installationId" = $2 and "objectName" = $3 limit ${EVENTS_AT_ONCE}))
  returning 1`;

/** Tried once: the erasure does not wait for a provider that fails. */
async function tryToTakeDown(services: Services, subscription: Found): Promise<void> {
  await takeDownAtProvider(services, subscription).catch((error: unknown) => {
    const { installationId } = subscription;
    services.log.warn({ err: error, installationId }, 'subscription.not_taken_down');
  });
}
