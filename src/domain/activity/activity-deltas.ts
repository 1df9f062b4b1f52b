/**
 * Adds activity deltas to the stored counts. Several processes may run it in parallel, because a lock makes them take
 * turns.
 */
import { acrossProjects, sweep } from '../../database/projects/all-projects.ts';
import type { Services } from '../call.ts';

/** The most deltas of one statement. It locks the counts for tens of milliseconds. */
const STATEMENT_DELTAS = 5_000;

/**
 * Steps of durations (SQL function activity_bucket): four for each doubling, from 1 ms to 55 s, longer than any
 * attempt.
 */
const STEPS = Array.from({ length: 64 }, (_, step) => step);

/**
 * Deletes deltas and adds them to the counts in one statement, in the order of the counts' keys. It adds zero to
 * buckets of a row without new counts.
 */
const FOLD = acrossProjects(
  'activity deltas to add to the counts',
  (inProjects) => `
  with turn as (select pg_try_advisory_xact_lock(hashtext('fold-activity')) as "isMine"),
  taken as (
    delete from "ActivityDelta" where ("projectId", "number") in (
      select "projectId", "number" from "ActivityDelta" where (select "isMine" from turn) and ${inProjects('"projectId"')}
      order by "number" limit ${STATEMENT_DELTAS})
    returning *
  ),
  added as (
    select t."projectId", g."grain", date_trunc(g."grain", t."time", 'UTC') as "time", t."kind", t."key",
      sum(t."first")::int as "first", sum(t."second")::int as "second", sum(t."third")::int as "third",
      array[${STEPS.map((step) => `coalesce(sum(t."first") filter (where t."bucket" = ${step}), 0)`).join(', ')}]::int[]
        as "durations"
    from taken t cross join (values ('minute'), ('hour'), ('day')) g("grain")
    group by 1, 2, 3, 4, 5
  ),
  timed as (
    insert into "ActivityHistogram" as h ("projectId", "grain", "key", "time", "durations")
    select "projectId", "grain", "key", "time", "durations" from added where "kind" = 'delivery' order by 1, 2, 3, 4
    on conflict ("projectId", "grain", "key", "time") do update
      set "durations" = activity_sum(h."durations", excluded."durations")
    returning h."projectId", h."grain", h."key", h."time", activity_percentiles(h."durations") as "ms"
  ),
  placed as (
    select a.*, activity_place(a."grain", a."time") as "place", t."ms"
    from added a left join timed t on a."kind" = 'delivery'
      and t."projectId" = a."projectId" and t."grain" = a."grain" and t."key" = a."key" and t."time" = a."time"
  ),
  lines as (
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
    from placed group by 1, 2, 3, 4, 5
  ),
  folded as (
    insert into "ActivityCount" as c
      ("projectId", "grain", "time", "kind", "key", "first", "second", "third", "p50Ms", "p95Ms", "p99Ms")
    select "projectId", "grain", "time", "kind", "key", "first", "second", "third", "p50Ms", "p95Ms", "p99Ms"
    from lines order by 1, 2, 4, 3, 5
    on conflict ("projectId", "grain", "kind", "time", "key") do update set
      "first" = activity_sum(c."first", excluded."first"), "second" = activity_sum(c."second", excluded."second"),
      "third" = activity_sum(c."third", excluded."third"), "p50Ms" = activity_over(c."p50Ms", excluded."p50Ms"),
      "p95Ms" = activity_over(c."p95Ms", excluded."p95Ms"), "p99Ms" = activity_over(c."p99Ms", excluded."p99Ms")
    returning 1
  )
  select (select count(*)::int from taken) as "taken", (select count(*)::int from folded) as "folded"`,
);

/** Adds deltas until none are left, or another process has the lock. */
export async function foldActivity(
  { database }: Pick<Services, 'database'>,
  signal?: AbortSignal,
): Promise<void> {
  let isMore = true;
  while (isMore && !signal?.aborted) {
    const results = await sweep<{ taken: number }>(database, FOLD);
    isMore = results.some(({ taken }) => taken === STATEMENT_DELTAS);
  }
}
