/** Who looks after a subscription. */
import { LeasedRows } from '../../database/leased-rows.ts';
import { inTransaction, type Transaction } from '../../database/transaction.ts';
import { LEASE, RELEASED_LEASE, requireLease } from '../../work/lease.ts';
import type { Services } from '../call.ts';
import type { ObjectSubscription } from './object-subscription.ts';
import { removeEvents, removeSubscription } from './remove-subscription.ts';

const KEY = ['projectId', 'installationId', 'objectName'] as const;

export const SUBSCRIPTIONS = new LeasedRows({
  table: 'ObjectSubscription',
  key: KEY,
  leaseMs: 30_000,
  columns: LEASE,
});

/** The one that is due first, of any project; null if none is. */
export async function claimDue({
  database,
  now,
}: Pick<Services, 'database' | 'now'>): Promise<ObjectSubscription | null> {
  const due = { countMax: 1, now: now(), columns: KEY };
  const [key] = await SUBSCRIPTIONS.claimDue(database, due);
  if (!key) return null;
  const where = { projectId_installationId_objectName: key };
  return database.prisma.objectSubscription.findUnique({ where });
}

type Change = Partial<
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
 * Notes what has come of the claim. With a dueTime the claim ends; what was wanted anew meanwhile stays due. Throws
 * LeaseLost.
 */
export async function changeHeld(
  { database }: Pick<Services, 'database'>,
  subscription: ObjectSubscription,
  change: Change,
  tx: Transaction | null = null,
): Promise<void> {
  if (!tx)
    return inTransaction(database, (own) => changeHeld({ database }, subscription, change, own));
  const where = SUBSCRIPTIONS.heldBy(subscription);
  const ends = change.dueTime !== undefined;
  const current = await tx.objectSubscription.findFirst({ where });
  requireLease(current ? 1 : 0);
  const isAnew = current?.dueTime?.getTime() !== subscription.dueTime?.getTime();
  const { dueTime, ...rest } = change;
  await tx.objectSubscription.updateMany({
    where,
    data: {
      ...(isAnew ? {} : { ...rest, ...(dueTime !== undefined && { dueTime }) }),
      ...(isAnew && change.providerRef !== undefined && { providerRef: change.providerRef }),
      ...(ends && RELEASED_LEASE),
    },
  });
}

/** It is gone at the provider, and goes here with its events. */
export async function endHeld(
  { database }: Pick<Services, 'database'>,
  subscription: ObjectSubscription,
): Promise<void> {
  await removeEvents(database.rows.query, subscription);
  const where = SUBSCRIPTIONS.heldBy(subscription);
  await inTransaction(database, async (tx) => {
    if (await removeSubscription(tx, subscription, { ...where, isWanted: false })) return;
    // It is wanted again: the next look makes it anew.
    await tx.objectSubscription.updateMany({
      where,
      data: { providerRef: null, ...RELEASED_LEASE },
    });
  });
}
