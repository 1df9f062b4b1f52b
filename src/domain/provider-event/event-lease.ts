/** Who does a subscription's events, held by a lease: a late result of an older claim is refused. */
import { Prisma } from '../../database/generated/client.ts';
import type { Transaction } from '../../database/transaction.ts';
import {
  isFreeSql,
  keepLease,
  leaseEndSql,
  newLeaseToken,
  requireLease,
} from '../../work/lease.ts';
import type { Services } from '../call.ts';
import type { ObjectSubscription } from './object-subscription.ts';

const LEASE_MS = 10_000;
const LEASE_END = Prisma.raw(leaseEndSql(LEASE_MS));
const IS_FREE = Prisma.raw(
  isFreeSql({ token: 'eventLeaseToken', expireTime: 'eventLeaseExpireTime' }),
);

export type EventClaim = Pick<
  ObjectSubscription,
  | 'projectId'
  | 'installationId'
  | 'objectName'
  | 'provider'
  | 'connectionId'
  | 'status'
  | 'eventFailures'
  | 'eventLeaseToken'
>;

/**
 * Subscriptions with events that wait, of all projects. The first step walks from one subscription to the next, one
 * entry of the index for each: one with a million events costs no more than one with a single one.
 */
export async function claimWaiting(
  { database }: Pick<Services, 'database'>,
  countMax: number,
): Promise<EventClaim[]> {
  return database.prisma.$queryRaw<EventClaim[]>`
    with recursive waiting as (
      (select "projectId", "installationId", "objectName" from "ProviderEvent"
        where "doneTime" is null order by "projectId", "installationId", "objectName" limit 1)
      union all
      select following.* from waiting cross join lateral (
        select "projectId", "installationId", "objectName" from "ProviderEvent"
        where "doneTime" is null and ("projectId", "installationId", "objectName")
          > (waiting."projectId", waiting."installationId", waiting."objectName")
        order by "projectId", "installationId", "objectName" limit 1) following
    ), chosen as (
      select s."projectId", s."installationId", s."objectName"
      from waiting join "ObjectSubscription" s using ("projectId", "installationId", "objectName")
      where (s."eventsRetryTime" is null or s."eventsRetryTime" <= now()) and ${IS_FREE}
      limit ${countMax}::int for update of s skip locked
    )
    update "ObjectSubscription" s set
      "eventLeaseToken" = ${newLeaseToken(database.processes.id)},
      "eventLeaseExpireTime" = ${LEASE_END}
    from chosen where s."projectId" = chosen."projectId"
      and s."installationId" = chosen."installationId" and s."objectName" = chosen."objectName"
    returning s."projectId", s."installationId", s."objectName", s."provider",
      s."connectionId", s."status", s."eventFailures", s."eventLeaseToken"`;
}

export function holdEvents(
  { database, log }: Pick<Services, 'database' | 'log'>,
  { projectId, installationId, objectName, eventLeaseToken }: EventClaim,
): Disposable {
  const renew = async () => database.prisma.$executeRaw`
    update "ObjectSubscription" set "eventLeaseExpireTime" = ${LEASE_END}
    where "projectId" = ${projectId} and "installationId" = ${installationId}
      and "objectName" = ${objectName} and "eventLeaseToken" = ${eventLeaseToken}`;
  return keepLease(LEASE_MS, renew, (error) =>
    log.warn({ err: error, installationId, objectName }, 'provider_events.lease_not_renewed'),
  );
}

type Change = Parameters<Transaction['objectSubscription']['updateMany']>[0]['data'];

/** Throws LeaseLost. */
export async function changeClaimed(
  tx: Pick<Transaction, 'objectSubscription'>,
  { projectId, installationId, objectName, eventLeaseToken }: EventClaim,
  data: Change,
): Promise<void> {
  const where = { projectId, installationId, objectName, eventLeaseToken };
  const { count } = await tx.objectSubscription.updateMany({ where, data });
  requireLease(count);
}

export const GIVEN_BACK = { eventLeaseToken: null, eventLeaseExpireTime: null } as const;
