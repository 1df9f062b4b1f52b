/**
 * A project with more pending deliveries than its destinations take: new work waits or is refused, so that the
 * outbox stays bounded. Deliveries to disabled destinations don't count: they wait for people.
 */
import { LRUCache } from 'lru-cache';
import type { Database } from '../../database/database.ts';
import { rateLimited } from '../../errors.ts';
import type { Services } from '../call.ts';

/** What a refused caller is told to wait: deliveries leave at hundreds a second. */
export const BACKLOG_WAIT_SECONDS = 30;

/** Counting more takes milliseconds, so it is done once a second for each project; so it is if there is room for more. */
const COUNTED_AT_ONCE = 2_000;
const COUNT_FRESH_MS = 1_000;
const PROJECTS_KNOWN = 10_000;

/** Looks at no more entries of the index than the limit. */
const PENDING = `
  select count(*)::int as "pending" from (
    select 1 from "Destination" t join "Delivery" d on d."destinationId" = t."id"
    where t."projectId" = $1 and t."status" = 'ENABLED' and d."nextAttemptTime" is not null
    limit $2) pending`;

const COUNTS = new WeakMap<Database, LRUCache<string, number>>();

/** Whether the project has LIMIT_PENDING_DELIVERIES pending deliveries or more. Not for use inside a transaction. */
export async function isBacklogged(
  { config, database }: Pick<Services, 'config' | 'database'>,
  projectId: string,
): Promise<boolean> {
  const counts = COUNTS.get(database) ?? new LRUCache({ max: PROJECTS_KNOWN, ttl: COUNT_FRESH_MS });
  COUNTS.set(database, counts);
  const limit = config.LIMIT_PENDING_DELIVERIES;
  let pending = counts.get(projectId);
  if (pending === undefined) {
    const [row] = await database.rows.query<{ pending: number }>(PENDING, [projectId, limit]);
    pending = row?.pending ?? 0;
    const room = limit - pending;
    if (Math.max(pending, room) > COUNTED_AT_ONCE) counts.set(projectId, pending);
  }
  return pending >= limit;
}

/** Throws RATE_LIMITED if the project is backlogged. */
export async function refuseIfBacklogged(
  services: Pick<Services, 'config' | 'database'>,
  projectId: string,
): Promise<void> {
  if (!(await isBacklogged(services, projectId))) return;
  throw rateLimited(
    `The project has ${services.config.LIMIT_PENDING_DELIVERIES} deliveries pending, which is the most.`,
    BACKLOG_WAIT_SECONDS,
  );
}
