/** The lease of a worker that maintains a subscription. */
import { LeasedRows } from '../../database/leased-rows.ts';
import { inTransaction, type Transaction } from '../../database/transaction.ts';
import { LEASE, RELEASED_LEASE, requireLease } from '../../work/lease.ts';
import type { Services } from '../call.ts';
import type { ObjectSubscription } from './object-subscription.ts';
import { removeEvents, removeSubscription } from './remove-subscription.ts';

const KEY_COLUMNS = ['projectId', 'installationId', 'objectName'] as const;

export const SUBSCRIPTION_LEASES = new LeasedRows({
  table: 'ObjectSubscription',
  key: KEY_COLUMNS,
  leaseMs: 30_000,
  columns: LEASE,
});

/** Claims the subscription that is due first, in all projects. Null if none is due. */
export async function claimDueSubscription({
  database,
  now,
}: Pick<Services, 'database' | 'now'>): Promise<ObjectSubscription | null> {
  const due = { countMax: 1, now: now(), columns: KEY_COLUMNS };
  const [key] = await SUBSCRIPTION_LEASES.claimDue(database, due);
  if (!key) return null;
  const where = { projectId_installationId_objectName: key };
  return database.prisma.objectSubscription.findUnique({ where });
}

type SubscriptionChange = Partial<
  Pick<
    ObjectSubscription,
    | 'providerAppId'
    | 'account'
    | 'status'
    | 'error'
    | 'providerRef'
    | 'madeFor'
    | 'dueTime'
    | 'failures'
  >
>;

/**
 * Stores the result of a claim. A `dueTime` in the change releases the claim. A subscription that changed during the
 * claim stays due. Throws LeaseLost if the claim no longer holds the subscription.
 */
export function updateClaimedSubscription(
  { database }: Pick<Services, 'database'>,
  subscription: ObjectSubscription,
  change: SubscriptionChange,
): Promise<void> {
  return inTransaction(database, (tx) => updateInTransaction(tx, subscription, change));
}

/** Stores the result of a claim as `updateClaimedSubscription` does, within a transaction. */
export async function updateInTransaction(
  tx: Transaction,
  subscription: ObjectSubscription,
  change: SubscriptionChange,
): Promise<void> {
  const where = SUBSCRIPTION_LEASES.getClaimFilter(subscription);
  const isReleased = change.dueTime !== undefined;
  const row = await tx.objectSubscription.findFirst({ where });
  requireLease(row ? 1 : 0);
  const hasChanged = row?.dueTime?.getTime() !== subscription.dueTime?.getTime();
  const { providerRef } = change;
  await tx.objectSubscription.updateMany({
    where,
    data: {
      ...(hasChanged ? { ...(providerRef !== undefined && { providerRef }) } : change),
      ...(isReleased && RELEASED_LEASE),
    },
  });
}

/** Deletes a subscription with its events. Must run after its removal at the provider. */
export async function deleteClaimedSubscription(
  { database }: Pick<Services, 'database'>,
  subscription: ObjectSubscription,
): Promise<void> {
  await removeEvents(database.rows.query, subscription);
  const where = SUBSCRIPTION_LEASES.getClaimFilter(subscription);
  await inTransaction(database, async (tx) => {
    if (await removeSubscription(tx, subscription, { ...where, isWanted: false })) return;
    // The subscription is needed again. The next maintenance creates it at the provider.
    await tx.objectSubscription.updateMany({
      where,
      data: { providerRef: null, ...RELEASED_LEASE },
    });
  });
}
