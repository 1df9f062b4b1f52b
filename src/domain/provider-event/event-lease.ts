/** Who does a subscription's events. */
import { Prisma } from '../../database/generated/client.ts';
import { inProjectsSql, LeasedRows } from '../../database/leased-rows.ts';
import type { Services } from '../call.ts';
import type { ObjectSubscription } from './object-subscription.ts';

export const EVENTS_HELD = new LeasedRows({
  table: 'ObjectSubscription',
  key: ['projectId', 'installationId', 'objectName'],
  leaseMs: 10_000,
  columns: { token: 'eventLeaseToken', expireTime: 'eventLeaseExpireTime' },
});

const CLAIMED = [
  'projectId',
  'installationId',
  'objectName',
  'provider',
  'connectionId',
  'status',
  'eventFailures',
  'eventLeaseToken',
] as const;

export type EventClaim = Pick<ObjectSubscription, (typeof CLAIMED)[number]>;

/**
 * Subscriptions with events that wait, of all projects. The first step walks from one subscription to the next, one
 * entry of the index for each: one with a million events costs no more than one with a single one. What is being stored
 * for one meanwhile keeps it only from being deleted.
 */
export async function claimWaiting(
  { database }: Pick<Services, 'database'>,
  countMax: number,
): Promise<EventClaim[]> {
  return EVENTS_HELD.claim(
    database,
    { countMax, columns: CLAIMED },
    (of, left) => Prisma.sql`waiting as (
      (select "projectId", "installationId", "objectName" from "ProviderEvent"
        where ${inProjectsSql(of, 'ProviderEvent')} and "doneTime" is null order by "projectId", "installationId", "objectName" limit 1)
      union all
      select following.* from waiting cross join lateral (
        select "projectId", "installationId", "objectName" from "ProviderEvent"
        where ${inProjectsSql(of, 'ProviderEvent')} and "doneTime" is null and ("projectId", "installationId", "objectName")
          > (waiting."projectId", waiting."installationId", waiting."objectName")
        order by "projectId", "installationId", "objectName" limit 1) following
    ), chosen as (
      select held."projectId", held."installationId", held."objectName"
      from waiting
      join "ObjectSubscription" held using ("projectId", "installationId", "objectName")
      where (held."eventsRetryTime" is null or held."eventsRetryTime" <= now())
        and ${EVENTS_HELD.isFree}
      limit ${left}::int for no key update of held skip locked
    )`,
  );
}

export const RELEASED_LEASE = { eventLeaseToken: null, eventLeaseExpireTime: null } as const;
