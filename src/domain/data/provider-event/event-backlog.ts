/** Limits the undelivered events of a provider app. Above the limit, new events are refused. */
import { setTimeout as delay } from 'node:timers/promises';
import type { CoreServices, Services } from '../../access/call.ts';
import { createBoundedCount } from '../../base/bounded-count.ts';
import type { FollowedAccount } from './stream/followed-account.ts';

/** The seconds after which a provider should retry. */
export const FULL_WAIT_SECONDS = 30;

const countWaitingEvents = createBoundedCount({
  text: `
  select count(*)::int as "count" from (
    select 1 from "ObjectSubscription" subscription join "ProviderEvent" event
      on event."projectId" = subscription."projectId" and event."installationId" = subscription."installationId"
      and event."objectName" = subscription."objectName" and event."doneTime" is null
    where subscription."projectId" = $1 and subscription."providerAppId" = $2 limit $3) waiting`,
  freshMs: 5_000,
});

/** True if at least LIMIT_WAITING_EVENTS events of the app are waiting. */
export async function isEventBacklogged(
  { config, database }: Pick<Services, 'config' | 'database'>,
  { projectId, providerAppId }: { projectId: string; providerAppId: string },
): Promise<boolean> {
  const limit = config.LIMIT_WAITING_EVENTS;
  return (await countWaitingEvents(database, [projectId, providerAppId], limit)) >= limit;
}

/** The interval between checks of the backlog. */
const CAPACITY_POLL_MS = 1_000;

/** Waits while too many events are undelivered. The provider keeps further events in the meantime. */
export async function waitForCapacity(
  services: CoreServices,
  { stream: { projectId }, appIds }: FollowedAccount,
  signal: AbortSignal,
): Promise<void> {
  const isFull = async () => {
    for (const providerAppId of appIds) {
      if (await isEventBacklogged(services, { projectId, providerAppId })) return true;
    }
    return false;
  };
  while (!signal.aborted && (await isFull())) {
    await delay(CAPACITY_POLL_MS, undefined, { signal }).catch(() => {});
  }
}
