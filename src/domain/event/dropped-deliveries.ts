/** Fails what is owed to destinations that are gone. In parts, safe in several processes at once and after any interruption. */
import type { Database } from '../../database/database.ts';
import { isAtPlaceOf, type Missed, missedColumn, rowsByKey } from '../../database/keyed-rows.ts';
import { acrossProjects, sweep } from '../../database/projects/all-projects.ts';
import { type DestinationKey, IS_PENDING, pendingSql } from '../../deliveries/outbox.ts';

const DROPPED_AT_ONCE = 1_000;
const DESTINATIONS_AT_ONCE = 1_000;

interface Dropping {
  now: Date;
  /** Then the rest is left to who looks for it. */
  countMax?: number;
  signal?: AbortSignal;
}

/** A late result of an attempt under way is refused. How many deliveries have failed. */
export async function dropPending(
  database: Database,
  { projectId, destinationId }: DestinationKey,
  { now, countMax = Number.POSITIVE_INFINITY, signal }: Dropping,
): Promise<number> {
  let dropped = 0;
  for (let isMore = true; isMore && dropped < countMax && !signal?.aborted; ) {
    const [part] = await database.rows.query<Part>(DROP_SOME, [projectId, destinationId, now]);
    const { found, missed } = part ?? { found: 0, missed: 0 };
    dropped += found - missed;
    isMore = found === DROPPED_AT_ONCE;
  }
  return dropped;
}

interface Part extends Missed {
  found: number;
}

const DROP_SOME = `
  with found as materialized (
    select d."place", gone."projectId" from (select $1 as "projectId", $2 as "id") gone
    cross join ${rowsByKey(
      'Delivery',
      {
        projectId: 'gone."projectId"',
        destinationId: 'gone."id"',
        status: `'PENDING'::"DeliveryStatus"`,
      },
      { limit: DROPPED_AT_ONCE },
    )} d
  ), dropped as (
    update "Delivery" d set "status" = 'FAILED', "failureReason" = 'The destination was deleted.',
      "nextAttemptTime" = null, "afterId" = null, "leaseToken" = null, "leaseExpireTime" = null, "updateTime" = $3
    from found f where ${isAtPlaceOf('d', { with: 'found', as: 'f' })} and ${IS_PENDING}
    returning 1
  )
  select (select count(*)::int from found) as "found", ${missedColumn('found', 'dropped')}`;

/** What a project was owed that is being erased goes with it. */
const GONE = acrossProjects(
  'destinations that are gone and owed deliveries',
  (inProjects) => `
  ${pendingSql("'', ''", inProjects)}
  select owed."projectId", owed."id" as "destinationId" from owed
  left join "Destination" d on d."projectId" = owed."projectId" and d."id" = owed."id"
  left join "Erasure" e on e."projectId" = owed."projectId" and e."id" = owed."projectId"
  where d."id" is null and e."id" is null limit ${DESTINATIONS_AT_ONCE}`,
);

/** Those that a process has left which was deleting the destination. How many deliveries have failed. */
export async function dropLeft(database: Database, dropping: Dropping): Promise<number> {
  let dropped = 0;
  for (const gone of await sweep<DestinationKey>(database, GONE)) {
    dropped += await dropPending(database, gone, dropping);
  }
  return dropped;
}
