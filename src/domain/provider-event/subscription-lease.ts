/** Who looks after a subscription, held by a lease: a late result of an older claim is refused. */
import { Prisma } from '../../database/generated/client.ts';
import type { Transaction } from '../../database/transaction.ts';
import { inTransaction } from '../../database/transaction.ts';
import {
  isFreeSql,
  keepLease,
  leaseEndSql,
  newLeaseToken,
  requireLease,
} from '../../work/lease.ts';
import type { Services } from '../call.ts';
import type { ObjectSubscription } from './object-subscription.ts';

const LEASE_MS = 30_000;
const LEASE_END = Prisma.raw(leaseEndSql(LEASE_MS));
const IS_FREE = Prisma.raw(isFreeSql());

/** The one that is due first, of any project; null if none is. */
export async function claimDue({
  database,
}: Pick<Services, 'database'>): Promise<ObjectSubscription | null> {
  const [key] = await database.prisma.$queryRaw<Key[]>`
    with due as (
      select "projectId", "installationId", "objectName" from "ObjectSubscription"
      where "dueTime" <= now() and ${IS_FREE} order by "dueTime" limit 1 for update skip locked
    )
    update "ObjectSubscription" s set
      "leaseToken" = ${newLeaseToken(database.processes.id)}, "leaseExpireTime" = ${LEASE_END}
    from due where s."projectId" = due."projectId" and s."installationId" = due."installationId"
      and s."objectName" = due."objectName"
    returning s."projectId", s."installationId", s."objectName"`;
  if (!key) return null;
  const where = { projectId_installationId_objectName: key };
  return database.prisma.objectSubscription.findUnique({ where });
}

type Key = Pick<ObjectSubscription, 'projectId' | 'installationId' | 'objectName'>;

/** Keeps the claim's lease from ending until it is disposed of. */
export function holdClaim(
  { database, log }: Pick<Services, 'database' | 'log'>,
  subscription: ObjectSubscription,
): Disposable {
  const { projectId, installationId, objectName, leaseToken } = subscription;
  const renew = async () => database.prisma.$executeRaw`
    update "ObjectSubscription" set "leaseExpireTime" = ${LEASE_END}
    where "projectId" = ${projectId} and "installationId" = ${installationId}
      and "objectName" = ${objectName} and "leaseToken" = ${leaseToken}`;
  return keepLease(LEASE_MS, renew, (error) =>
    log.warn({ err: error, installationId, objectName }, 'subscription.lease_not_renewed'),
  );
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
  const { leaseToken } = subscription;
  const key = keyOf(subscription);
  const ends = change.dueTime !== undefined;
  const current = await tx.objectSubscription.findFirst({ where: { ...key, leaseToken } });
  requireLease(current ? 1 : 0);
  const isAnew = current?.dueTime?.getTime() !== subscription.dueTime?.getTime();
  const { dueTime, ...rest } = change;
  await tx.objectSubscription.updateMany({
    where: { ...key, leaseToken },
    data: {
      ...(isAnew ? {} : { ...rest, ...(dueTime !== undefined && { dueTime }) }),
      ...(isAnew && change.providerRef !== undefined && { providerRef: change.providerRef }),
      ...(ends && { leaseToken: null, leaseExpireTime: null }),
    },
  });
}

/** It is gone at the provider, and goes here with its events. Throws LeaseLost. */
export async function endHeld(
  { database }: Pick<Services, 'database'>,
  subscription: ObjectSubscription,
): Promise<void> {
  const key = keyOf(subscription);
  await inTransaction(database, async (tx) => {
    const { count } = await tx.objectSubscription.deleteMany({
      where: { ...key, leaseToken: subscription.leaseToken, isWanted: false },
    });
    if (count > 0) await tx.providerEvent.deleteMany({ where: key });
    // It is wanted again: the next look makes it anew.
    else
      await tx.objectSubscription.updateMany({
        where: { ...key, leaseToken: subscription.leaseToken },
        data: { providerRef: null, leaseToken: null, leaseExpireTime: null },
      });
  });
}

function keyOf({ projectId, installationId, objectName }: ObjectSubscription): Key {
  return { projectId, installationId, objectName };
}
