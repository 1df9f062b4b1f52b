/** A provider app that is sent more than is done: more is refused, so that what waits stays bounded. */
import { createBoundedCount } from '../bounded-count.ts';
import type { Services } from '../call.ts';

/** When it may be better. */
export const FULL_WAIT_SECONDS = 30;

const countWaiting = createBoundedCount({
  text: `
  select count(*)::int as "count" from (
    select 1 from "ObjectSubscription" s join "ProviderEvent" e
      on e."projectId" = s."projectId" and e."installationId" = s."installationId"
      and e."objectName" = s."objectName" and e."doneTime" is null
    where s."projectId" = $1 and s."providerAppId" = $2 limit $3) waiting`,
  freshMs: 5_000,
});

/** Whether LIMIT_WAITING_EVENTS or more of the app wait. */
export async function isEventBacklogged(
  { config, database }: Pick<Services, 'config' | 'database'>,
  { projectId, providerAppId }: { projectId: string; providerAppId: string },
): Promise<boolean> {
  const limit = config.LIMIT_WAITING_EVENTS;
  return (await countWaiting(database, [projectId, providerAppId], limit)) >= limit;
}
