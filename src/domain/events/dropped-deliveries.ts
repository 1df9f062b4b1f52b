/**
 * Fails pending deliveries to deleted destinations. Statements are small, and several processes can run them at the
 * same time. An interrupted run can be repeated.
 */
import type { Database } from '../../database/open/database.ts';
import {
  isAtPositionSql,
  type MissedCount,
  missedCountSql,
  rowsByKeySql,
} from '../../database/statements/keyed-rows.ts';
import { acrossProjects, sweep } from '../../database/statements/projects/all-projects.ts';
import { sqlStatement } from '../../database/statements/statements.ts';
import { type DestinationKey, IS_PENDING, selectPendingSql } from '../../deliveries/outbox.ts';

const ROWS_PER_STATEMENT = 1_000;
const DESTINATIONS_PER_SWEEP = 1_000;

interface DropOptions {
  now: Date;
  /** The number of deliveries after which the function stops. `dropRemainingDeliveries` fails the remaining deliveries. */
  countMax?: number;
  signal?: AbortSignal;
}

/**
 * Fails pending deliveries to a deleted destination, and returns their number. If an attempt is still running, its
 * result is discarded.
 */
export async function dropPendingDeliveries(
  database: Database,
  { projectId, destinationId }: DestinationKey,
  { now, countMax = Number.POSITIVE_INFINITY, signal }: DropOptions,
): Promise<number> {
  let droppedCount = 0;
  let hasMore = true;
  while (hasMore && droppedCount < countMax && !signal?.aborted) {
    const values = [projectId, destinationId, now];
    const [counts] = await database.run(DROP_BATCH, values);
    const { selected, missed } = counts ?? { selected: 0, missed: 0 };
    droppedCount += selected - missed;
    hasMore = selected === ROWS_PER_STATEMENT;
  }
  return droppedCount;
}

interface DropCounts extends MissedCount {
  selected: number;
}

const DROP_BATCH = sqlStatement<DropCounts>(`
  with selected as materialized (
    select delivery."place", destination."projectId" from (select $1 as "projectId", $2 as "id") destination
    cross join ${rowsByKeySql(
      'Delivery',
      {
        projectId: 'destination."projectId"',
        destinationId: 'destination."id"',
        status: `'PENDING'::"DeliveryStatus"`,
      },
      { limit: ROWS_PER_STATEMENT },
    )} delivery
  ), dropped as (
    update "Delivery" delivery set "status" = 'FAILED', "isRetrying" = false,
      "failureReason" = 'The destination was deleted.',
      "nextAttemptTime" = null, "afterId" = null, "leaseToken" = null, "leaseExpireTime" = null, "updateTime" = $3
    from selected where ${isAtPositionSql('delivery', 'selected')} and ${IS_PENDING}
    returning 1
  )
  select (select count(*)::int from selected) as "selected", ${missedCountSql('selected', 'dropped')}`);

/**
 * Selects deleted destinations with pending deliveries. Skips projects under erasure, whose deliveries are deleted.
 */
const DELETED_WITH_PENDING = acrossProjects<DestinationKey>(
  'deleted destinations with pending deliveries',
  (inProjects) => `
  ${selectPendingSql("'', ''", inProjects)}
  select pending_destination."projectId", pending_destination."id" as "destinationId" from pending_destination
  left join "Destination" destination on destination."projectId" = pending_destination."projectId"
    and destination."id" = pending_destination."id"
  left join "Erasure" erasure on erasure."projectId" = pending_destination."projectId"
    and erasure."id" = pending_destination."projectId"
  where destination."id" is null and erasure."id" is null limit ${DESTINATIONS_PER_SWEEP}`,
);

/** Fails the deliveries that a deletion left pending, and returns their number. */
export async function dropRemainingDeliveries(
  database: Database,
  options: DropOptions,
): Promise<number> {
  let droppedCount = 0;
  for (const destination of await sweep(database, DELETED_WITH_PENDING)) {
    droppedCount += await dropPendingDeliveries(database, destination, options);
  }
  return droppedCount;
}
