/**
 * A project that is owed more than its destinations take: new work waits or is refused, so that the outbox
 * stays bounded. What is owed to disabled destinations doesn't count: it waits for people.
 */
import { rateLimited } from '../errors.ts';
import type { Services } from './call.ts';

/** When it may be better: deliveries leave at hundreds a second. */
export const BACKLOG_WAIT_SECONDS = 30;

/** Looks at no more entries of the index than the limit. */
const IS_BACKLOGGED = `
  select count(*) >= $2 as "isBacklogged" from (
    select 1 from "Destination" t join "Delivery" d on d."destinationId" = t."id"
    where t."projectId" = $1 and t."status" = 'ENABLED' and d."nextAttemptTime" is not null
    limit $2) pending`;

/** Whether the project has LIMIT_PENDING_DELIVERIES pending deliveries or more. Not for use inside a transaction. */
export async function isBacklogged(
  { config, database }: Pick<Services, 'config' | 'database'>,
  projectId: string,
): Promise<boolean> {
  const [row] = await database.rows.query<{ isBacklogged: boolean }>(IS_BACKLOGGED, [
    projectId,
    config.LIMIT_PENDING_DELIVERIES,
  ]);
  return row?.isBacklogged ?? false;
}

/** Throws RATE_LIMITED where the project is backlogged. */
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
