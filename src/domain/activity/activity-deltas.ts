/** Adds the deltas of activity to its counts. Safe in several processes at once: they take turns. */
import type { Services } from '../call.ts';
import { HISTOGRAM_BUCKETS } from './percentile.ts';

/** Of one statement: it holds the counts for some tens of milliseconds. */
const DELTAS_AT_ONCE = 5_000;

const BUCKETS = Array.from({ length: HISTOGRAM_BUCKETS }, (_, bucket) => bucket);

/** The deltas go and the counts grow in one statement, in the order of the counts' keys. */
const FOLD = `
  with turn as (select pg_try_advisory_xact_lock(hashtext('fold-activity')) as "isMine"),
  taken as (
    delete from "ActivityDelta" where ("projectId", "number") in (
      select "projectId", "number" from "ActivityDelta" where (select "isMine" from turn)
      order by "number" limit ${DELTAS_AT_ONCE})
    returning *
  ),
  added as (
    select t."projectId", g."grain", date_trunc(g."grain", t."time", 'UTC') as "time", t."kind", t."key",
      sum(t."first")::int as "first", sum(t."second")::int as "second", sum(t."third")::int as "third",
      case when t."kind" = 'delivery' then array[${BUCKETS.map(
        (bucket) => `coalesce(sum(t."first") filter (where t."bucket" = ${bucket}), 0)`,
      ).join(', ')}]::int[] else '{}' end as "durations"
    from taken t cross join (values ('minute'), ('hour'), ('day')) g("grain")
    group by 1, 2, 3, 4, 5
  ),
  folded as (
    insert into "ActivityCount" as c
      ("projectId", "grain", "time", "kind", "key", "first", "second", "third", "durations")
    select "projectId", "grain", "time", "kind", "key", "first", "second", "third", "durations"
    from added order by 1, 2, 4, 3, 5
    on conflict ("projectId", "grain", "kind", "time", "key") do update set
      "first" = c."first" + excluded."first", "second" = c."second" + excluded."second",
      "third" = c."third" + excluded."third",
      "durations" = array(
        select coalesce(u."old", 0) + coalesce(u."new", 0)
        from unnest(c."durations", excluded."durations") with ordinality u("old", "new", "n") order by u."n")
    returning 1
  )
  select (select count(*)::int from taken) as "taken", (select count(*)::int from folded) as "folded"`;

/** Until no deltas are left, or another process has its turn. */
export async function foldActivity(
  { database }: Pick<Services, 'database'>,
  signal?: AbortSignal,
): Promise<void> {
  for (let taken = DELTAS_AT_ONCE; taken === DELTAS_AT_ONCE && !signal?.aborted; ) {
    const [row] = await database.rows.query<{ taken: number }>(FOLD, []);
    taken = row?.taken ?? 0;
  }
}
