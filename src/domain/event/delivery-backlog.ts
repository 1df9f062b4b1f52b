/**
 * A project with more pending deliveries than its destinations take: new work waits or is refused, so that the
 * outbox stays bounded. Deliveries to disabled destinations don't count: they wait for people.
 */
import { rateLimited, unprocessable } from '../../errors.ts';
import { createBoundedCount } from '../bounded-count.ts';
import type { Services } from '../call.ts';

/** What a refused caller is told to wait: deliveries leave at hundreds a second. */
export const BACKLOG_WAIT_SECONDS = 30;

const COUNTED_AT_ONCE = 2_000;

const countPending = createBoundedCount({
  text: `
  select count(*)::int as "count" from (
    select 1 from "Destination" t join "Delivery" d on d."projectId" = t."projectId" and d."destinationId" = t."id"
    where t."projectId" = $1 and t."status" = 'ENABLED' and d."nextAttemptTime" is not null
    limit $2) pending`,
  freshMs: 1_000,
  // Few are counted fast, and near the limit each one counts.
  isKept: (pending, limit) => Math.max(pending, limit - pending) > COUNTED_AT_ONCE,
});

/** Whether the project has LIMIT_PENDING_DELIVERIES pending deliveries or more. Not for use inside a transaction. */
export async function isBacklogged(
  { config, database }: Pick<Services, 'config' | 'database'>,
  projectId: string,
): Promise<boolean> {
  const limit = config.LIMIT_PENDING_DELIVERIES;
  return (await countPending(database, [projectId], limit)) >= limit;
}

/** Throws RATE_LIMITED if the project is backlogged. */
export async function refuseIfBacklogged(
  services: Pick<Services, 'config' | 'database'>,
  projectId: string,
): Promise<void> {
  if (!(await isBacklogged(services, projectId))) return;
  throw rateLimited(wordsOf(services), BACKLOG_WAIT_SECONDS);
}

/** Throws UNPROCESSABLE if the project is backlogged: for work that nobody waits for, and that is tried again. */
export async function stopIfBacklogged(
  services: Pick<Services, 'config' | 'database'>,
  projectId: string,
): Promise<void> {
  if (await isBacklogged(services, projectId)) throw unprocessable(wordsOf(services));
}

function wordsOf({ config }: Pick<Services, 'config'>): string {
  return `The project has ${config.LIMIT_PENDING_DELIVERIES} deliveries pending, which is LIMIT_PENDING_DELIVERIES of the server.`;
}
