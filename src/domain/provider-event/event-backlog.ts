/** A project whose providers send more than is done: more is refused, so that what waits stays bounded. */
import { createBoundedCount } from '../bounded-count.ts';
import type { Services } from '../call.ts';

/** When it may be better. */
export const FULL_WAIT_SECONDS = 30;

const countWaiting = createBoundedCount({
  text: `
  select count(*)::int as "count" from (
    select 1 from "ProviderEvent" where "projectId" = $1 and "doneTime" is null limit $2) waiting`,
  freshMs: 5_000,
});

/** Whether LIMIT_WAITING_EVENTS or more of the project wait. */
export async function isEventBacklogged(
  { config, database }: Pick<Services, 'config' | 'database'>,
  projectId: string,
): Promise<boolean> {
  const limit = config.LIMIT_WAITING_EVENTS;
  return (await countWaiting(database, projectId, limit)) >= limit;
}
