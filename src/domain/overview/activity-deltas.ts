/** Adds activity deltas to the stored counts. If several processes run it, a lock lets one of them work at a time. */
import { acrossProjects, sweep } from '../../database/statements/projects/all-projects.ts';
import type { Upkeep } from '../../jobs/upkeep-loop.ts';
import type { Services } from '../access/call.ts';

/** The maximum number of deltas in one statement, which locks the counts for tens of milliseconds. */
const STATEMENT_DELTAS_MAX = 5_000;

/**
 * The numbers of the duration steps of the SQL function activity_bucket: four steps for each doubling, from 1 ms to 55 s.
 * No attempt takes longer than 55 s.
 */
const STEPS = Array.from({ length: 64 }, (_, step) => step);

export const activityCounts: Upkeep<Services> = {
  name: 'activity counts',
  intervalMs: 10_000,
  createDueTimeSql: (inProjects) =>
    `select now() from "ActivityDelta" where ${inProjects('"projectId"')} limit 1`,
  run: foldActivity,
};

/** Adds deltas until none are left, or another process has the lock. */
export async function foldActivity(
  { database }: Pick<Services, 'database'>,
  signal?: AbortSignal,
): Promise<void> {
  let hasMore = true;
  while (hasMore && !signal?.aborted) {
    const results = await sweep(database, FOLD_DELTAS);
    hasMore = results.some(({ deltaCount }) => deltaCount === STATEMENT_DELTAS_MAX);
  }
}

/** The number of attempts in each duration step. */
const DURATION_COUNTS = STEPS.map(
  (step) => `coalesce(sum(delta."total") filter (where delta."bucket" = ${step}), 0)`,
).join(', ');

/** The columns of `ActivityCount` with counts, each an array of the counts of consecutive buckets. */
const COUNT_ARRAYS = ['total', 'failed']
  .map((name) => `activity_array(array_agg("position"), array_agg("${name}")) as "${name}"`)
  .join(', ');

/** The columns of `ActivityCount` with percentiles, which only deliveries have. */
const PERCENTILE_ARRAYS = ['p50Ms', 'p95Ms', 'p99Ms']
  .map(
    (name, index) =>
      `case when "kind" = 'delivery' then activity_array(array_agg("position"), array_agg("ms"[${index + 1}]))
       else '{}' end as "${name}"`,
  )
  .join(', ');

/** Deletes deltas and adds them to the counts in one statement, in the order of the counts' keys. */
const FOLD_DELTAS = acrossProjects<{ deltaCount: number }>(
  'activity deltas to add to the counts',
  (inProjects) => `
  with lock as (select pg_try_advisory_xact_lock(hashtext('fold-activity')) as "isAcquired"),
  deltas as (
    delete from "ActivityDelta" where ("projectId", "number") in (
      select "projectId", "number" from "ActivityDelta" where (select "isAcquired" from lock) and ${inProjects('"projectId"')}
      order by "number" limit ${STATEMENT_DELTAS_MAX})
    returning *
  ),
  sums as (
    select delta."projectId", grains."grain", date_trunc(grains."grain", delta."time", 'UTC') as "time", delta."kind", delta."key",
      sum(delta."total")::int as "total", sum(delta."failed")::int as "failed",
      array[${DURATION_COUNTS}]::int[] as "durations"
    from deltas delta cross join (values ('minute'), ('hour'), ('day')) grains("grain")
    group by 1, 2, 3, 4, 5
  ),
  percentiles as (
    insert into "ActivityHistogram" as stored ("projectId", "grain", "key", "time", "durations")
    select "projectId", "grain", "key", "time", "durations" from sums where "kind" = 'delivery' order by 1, 2, 3, 4
    on conflict ("projectId", "grain", "key", "time") do update
      set "durations" = activity_sum(stored."durations", excluded."durations")
    returning stored."projectId", stored."grain", stored."key", stored."time",
      activity_percentiles(stored."durations") as "ms"
  ),
  buckets as (
    select sums.*, activity_position(sums."grain", sums."time") as "position", percentiles."ms"
    from sums left join percentiles on sums."kind" = 'delivery' and percentiles."projectId" = sums."projectId"
      and percentiles."grain" = sums."grain" and percentiles."key" = sums."key" and percentiles."time" = sums."time"
  ),
  count_rows as (
    select "projectId", "grain", activity_block("grain", "time") as "time", "kind", "key",
      ${COUNT_ARRAYS}, ${PERCENTILE_ARRAYS}
    from buckets group by 1, 2, 3, 4, 5
  ),
  added as (
    insert into "ActivityCount" as stored
      ("projectId", "grain", "time", "kind", "key", "total", "failed", "p50Ms", "p95Ms", "p99Ms")
    select "projectId", "grain", "time", "kind", "key", "total", "failed", "p50Ms", "p95Ms", "p99Ms"
    from count_rows order by 1, 2, 4, 3, 5
    on conflict ("projectId", "grain", "kind", "time", "key") do update set
      "total" = activity_sum(stored."total", excluded."total"),
      "failed" = activity_sum(stored."failed", excluded."failed"),
      "p50Ms" = activity_replace(stored."p50Ms", excluded."p50Ms"),
      "p95Ms" = activity_replace(stored."p95Ms", excluded."p95Ms"),
      "p99Ms" = activity_replace(stored."p99Ms", excluded."p99Ms")
  )
  select count(*)::int as "deltaCount" from deltas`,
);
