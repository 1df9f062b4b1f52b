/**
 * Fails pending deliveries to deleted destinations. It works in small statements, and is safe in several processes in
 * parallel and after any interruption.
 */
import type { Database } from '../../database/database.ts';
import {
  type MissedCount,
  matchPosition,
  rowsByKey,
  selectMissedCount,
} from '../../database/keyed-rows.ts';
import { acrossProjects, sweep } from '../../database/projects/all-projects.ts';
import { type DestinationKey, IS_PENDING, selectPendingSql } from '../../deliveries/outbox.ts';

const STATEMENT_ROWS = 1_000;
const SWEEP_DESTINATIONS = 1_000;

interface Dropping {
  now: Date;
  /** The most deliveries to fail. `dropRemaining` fails the rest. */
  countMax?: number;
  signal?: AbortSignal;
}

/**
 * Fails the pending deliveries of a deleted destination, and returns their number. If an attempt is still
 * running, its result is discarded.
 */
export async function dropPending(
  database: Database,
  { projectId, destinationId }: DestinationKey,
  { now, countMax = Number.POSITIVE_INFINITY, signal }: Dropping,
): Promise<number> {
  let droppedCount = 0;
  let isMore = true;
  while (isMore && droppedCount < countMax && !signal?.aborted) {
    const values = [projectId, destinationId, now];
    const [counts] = await database.rows.query<DropCounts>(DROP_SOME, values);
    const { selected, missed } = counts ?? { selected: 0, missed: 0 };
    droppedCount += selected - missed;
    isMore = selected === STATEMENT_ROWS;
  }
  return droppedCount;
}

interface DropCounts extends MissedCount {
  selected: number;
}

const DROP_SOME = `
  with selected as materialized (
    select d."place", destination."projectId" from (select $1 as "projectId", $2 as "id") destination
    cross join ${rowsByKey(
      'Delivery',
      {
        projectId: 'destination."projectId"',
        destinationId: 'destination."id"',
        status: `'PENDING'::"DeliveryStatus"`,
      },
      { limit: STATEMENT_ROWS },
    )} d
  ), dropped as (
    update "Delivery" d set "status" = 'FAILED', "isRetrying" = false, "failureReason" = 'The destination was deleted.',
      "nextAttemptTime" = null, "afterId" = null, "leaseToken" = null, "leaseExpireTime" = null, "updateTime" = $3
    from selected s where ${matchPosition('d', { with: 'selected', as: 's' })} and ${IS_PENDING}
    returning 1
  )
  select (select count(*)::int from selected) as "selected", ${selectMissedCount('selected', 'dropped')}`;

/**
 * Selects deleted destinations with pending deliveries. Projects under erasure are skipped, because their
 * deliveries are deleted.
 */
const DELETED_WITH_PENDING = acrossProjects(
  'deleted destinations with pending deliveries',
  (inProjects) => `
  ${selectPendingSql("'', ''", inProjects)}
  select pending_destination."projectId", pending_destination."id" as "destinationId" from pending_destination
  left join "Destination" d on d."projectId" = pending_destination."projectId" and d."id" = pending_destination."id"
  left join "Erasure" e on e."projectId" = pending_destination."projectId" and e."id" = pending_destination."projectId"
  where d."id" is null and e."id" is null limit ${SWEEP_DESTINATIONS}`,
);

/** Fails the deliveries that remain after a process ended while it deleted a destination. Returns their number. */
export async function dropRemaining(database: Database, dropping: Dropping): Promise<number> {
  let droppedCount = 0;
  for (const destination of await sweep<DestinationKey>(database, DELETED_WITH_PENDING)) {
    droppedCount += await dropPending(database, destination, dropping);
  }
  return droppedCount;
}
