/** Adds activity deltas to the stored counts. Processes may run it in parallel: a lock makes them take turns. */
import { acrossProjects, sweep } from '../../database/projects/all-projects.ts';
import type { Services } from '../call.ts';

/** The most deltas of one statement. It locks the counts for tens of milliseconds. */
const STATEMENT_DELTAS_MAX = 5_000;

/**
 * Steps of durations, as the SQL function activity_bucket numbers them: four for each doubling, from 1 ms to 55 s. No
 * attempt takes longer.
 */
const STEPS = Array.from({ length: 64 }, (_, step) => step);

/** Adds deltas until none are left, or another process has the lock. */
export async function foldActivity(
  { database }: Pick<Services, 'database'>,
  signal?: AbortSignal,
): Promise<void> {
  let hasMore = true;
  while (hasMore && !signal?.aborted) {
    const results = await sweep<{ deltaCount: number }>(database, FOLD_DELTAS);
    hasMore = results.some(({ deltaCount }) => deltaCount === STATEMENT_DELTAS_MAX);
  }
}

/** Deletes deltas and adds them to the counts in one statement, in the order of the counts' keys. */
const FOLD_DELTAS = acrossProjects(
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
    select d."projectId", g."grain", date_trunc(g."grain", d."time", 'UTC') as "time", d."kind", d."key",
      sum(d."first")::int as "first", sum(d."second")::int as "second", sum(d."third")::int as "third",
      array[${STEPS.map((step) => `coalesce(sum(d."first") filter (where d."bucket" = ${step}), 0)`).join(', ')}]::int[]
        as "durations"
    from deltas d cross join (values ('minute'), ('hour'), ('day')) g("grain")
    group by 1, 2, 3, 4, 5
  ),
  percentiles as (
    insert into "ActivityHistogram" as h ("projectId", "grain", "key", "time", "durations")
    select "projectId", "grain", "key", "time", "durations" from sums where "kind" = 'delivery' order by 1, 2, 3, 4
    on conflict ("projectId", "grain", "key", "time") do update
      set "durations" = activity_sum(h."durations", excluded."durations")
    returning h."projectId", h."grain", h."key", h."time", activity_percentiles(h."durations") as "ms"
  ),
  buckets as (
    select s.*, activity_place(s."grain", s."time") as "place", p."ms"
    from sums s left join percentiles p on s."kind" = 'delivery'
      and p."projectId" = s."projectId" and p."grain" = s."grain" and p."key" = s."key" and p."time" = s."time"
  ),
  count_rows as (
    select "projectId", "grain", activity_block("grain", "time") as "time", "kind", "key",
      ${['first', 'second', 'third']
        .map((name) => `activity_line(array_agg("place"), array_agg("${name}")) as "${name}"`)
        .join(', ')},
      ${['p50Ms', 'p95Ms', 'p99Ms']
        .map(
          (name, index) =>
            `case when "kind" = 'delivery' then activity_line(array_agg("place"), array_agg("ms"[${index + 1}]))
             else '{}' end as "${name}"`,
        )
        .join(', ')}
    from buckets group by 1, 2, 3, 4, 5
  ),
  stored as (
    insert into "ActivityCount" as c
      ("projectId", "grain", "time", "kind", "key", "first", "second", "third", "p50Ms", "p95Ms", "p99Ms")
    select "projectId", "grain", "time", "kind", "key", "first", "second", "third", "p50Ms", "p95Ms", "p99Ms"
    from count_rows order by 1, 2, 4, 3, 5
    on conflict ("projectId", "grain", "kind", "time", "key") do update set
      "first" = activity_sum(c."first", excluded."first"), "second" = activity_sum(c."second", excluded."second"),
      "third" = activity_sum(c."third", excluded."third"), "p50Ms" = activity_over(c."p50Ms", excluded."p50Ms"),
      "p95Ms" = activity_over(c."p95Ms", excluded."p95Ms"), "p99Ms" = activity_over(c."p99Ms", excluded."p99Ms")
  )
  select count(*)::int as "deltaCount" from deltas`,
);
