/**
 * Limits the pending deliveries of a project. If its destinations receive them too slowly, new work waits or is
 * refused, so that the outbox stays bounded. Deliveries to disabled destinations do not count: they stay pending until
 * a person enables the destination.
 */
import { rateLimited, unprocessable } from '../../kernel/errors.ts';
import type { Services } from '../access/call.ts';
import { createBoundedCount } from '../base/bounded-count.ts';

/** How long a refused caller or background work waits before it retries. In that time, thousands of deliveries are sent. */
export const BACKLOG_WAIT_SECONDS = 30;

const SMALL_COUNT = 2_000;

const countPendingDeliveries = createBoundedCount({
  text: `
  select count(*)::int as "count" from (
    select 1 from "Destination" destination join "Delivery" delivery
      on delivery."projectId" = destination."projectId" and delivery."destinationId" = destination."id"
    where destination."projectId" = $1 and destination."status" = 'ENABLED' and delivery."nextAttemptTime" is not null
    limit $2) pending`,
  freshMs: 1_000,
  // Small counts are fast and not cached. Counts near the limit are not cached either, because each delivery matters
  // there.
  isCacheable: (pending, limit) => Math.max(pending, limit - pending) > SMALL_COUNT,
});

/** True if LIMIT_PENDING_DELIVERIES is reached. Must not run inside a transaction. */
export async function isBacklogged(
  { config, database }: Pick<Services, 'config' | 'database'>,
  projectId: string,
): Promise<boolean> {
  const limit = config.LIMIT_PENDING_DELIVERIES;
  return (await countPendingDeliveries(database, [projectId], limit)) >= limit;
}

/** Throws RATE_LIMITED if the project is backlogged. */
export async function refuseIfBacklogged(
  services: Pick<Services, 'config' | 'database'>,
  projectId: string,
): Promise<void> {
  if (!(await isBacklogged(services, projectId))) return;
  throw rateLimited(describeBacklog(services), BACKLOG_WAIT_SECONDS);
}

/** Throws UNPROCESSABLE if the project is backlogged. Use it for background work, which is retried. */
export async function stopIfBacklogged(
  services: Pick<Services, 'config' | 'database'>,
  projectId: string,
): Promise<void> {
  if (await isBacklogged(services, projectId)) throw unprocessable(describeBacklog(services));
}

function describeBacklog({ config }: Pick<Services, 'config'>): string {
  return `The project has ${config.LIMIT_PENDING_DELIVERIES} pending deliveries. This is the limit that the server setting LIMIT_PENDING_DELIVERIES allows.`;
}
