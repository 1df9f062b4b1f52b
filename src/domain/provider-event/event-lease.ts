/** The lease of a worker that delivers a subscription's events. */
import { Prisma } from '../../database/generated/client.ts';
import { inProjectsSql, LeasedRows } from '../../database/leased-rows.ts';
import type { Services } from '../call.ts';
import type { ObjectSubscription } from './object-subscription.ts';

export const EVENT_LEASES = new LeasedRows({
  table: 'ObjectSubscription',
  key: ['projectId', 'installationId', 'objectName'],
  leaseMs: 10_000,
  columns: { token: 'eventLeaseToken', expireTime: 'eventLeaseExpireTime' },
});

const CLAIMED_COLUMNS = [
  'projectId',
  'installationId',
  'objectName',
  'provider',
  'connectionId',
  'status',
  'eventFailures',
  'eventLeaseToken',
] as const;

export type EventClaim = Pick<ObjectSubscription, (typeof CLAIMED_COLUMNS)[number]>;

export const RELEASED_EVENT_LEASE = { eventLeaseToken: null, eventLeaseExpireTime: null } as const;

/**
 * Claims subscriptions with waiting events, in all projects. The recursive query reads one index entry for each
 * subscription, so a subscription with a million events costs no more than one with a single event. The row lock
 * prevents the deletion of the subscription, but does not block the storing of new events.
 */
export async function claimSubscriptionsWithEvents(
  { database }: Pick<Services, 'database'>,
  countMax: number,
): Promise<EventClaim[]> {
  return EVENT_LEASES.claim(
    database,
    { countMax, columns: CLAIMED_COLUMNS },
    (projects, limit) => Prisma.sql`waiting as (
      (select "projectId", "installationId", "objectName" from "ProviderEvent"
        where ${inProjectsSql(projects, 'ProviderEvent')} and "doneTime" is null order by "projectId", "installationId", "objectName" limit 1)
      union all
      select following.* from waiting cross join lateral (
        select "projectId", "installationId", "objectName" from "ProviderEvent"
        where ${inProjectsSql(projects, 'ProviderEvent')} and "doneTime" is null and ("projectId", "installationId", "objectName")
          > (waiting."projectId", waiting."installationId", waiting."objectName")
        order by "projectId", "installationId", "objectName" limit 1) following
    ), chosen as (
      select held."projectId", held."installationId", held."objectName"
      from waiting
      join "ObjectSubscription" held using ("projectId", "installationId", "objectName")
      where (held."eventsRetryTime" is null or held."eventsRetryTime" <= now())
        and ${EVENT_LEASES.isFreeSql}
      limit ${limit}::int for no key update of held skip locked
    )`,
  );
}
