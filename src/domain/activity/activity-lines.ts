/** What has been counted of a project, as numbers in the order of time: read from few rows of many buckets each. */
import type { Call } from '../call.ts';

/** A range of whole buckets. */
export interface ActivityRange {
  projectId: string;
  /** Only of this destination. */
  destinationId: string | null;
  grain: 'minute' | 'hour' | 'day';
  bucketMs: number;
  from: Date;
  until: Date;
}

const COUNTED = ['first', 'second', 'third'] as const;
const TIMED = ['p50Ms', 'p95Ms', 'p99Ms'] as const;
type Column = (typeof COUNTED)[number] | (typeof TIMED)[number];

/** What has been counted under one key: a number for each bucket of the range. */
export interface ActivityLine extends Readonly<Record<Column, Int32Array>> {
  key: string;
}

/** Numbers of some buckets that follow each other, as PostgreSQL writes arrays. */
interface Run extends Partial<Record<Column, string>> {
  time: Date;
  key: string;
}

type Kind = 'operation' | 'delivery' | 'record' | 'stream';

/** What is counted already, and what is still to be added, in one statement: so it is of one moment. */
const COUNTS = (kind: Kind, columns: readonly Column[], ofKey: string) => `
  select false as "isNew", "time", "key", ${columns.map((name) => `"${name}"::text`).join(', ')} from "ActivityCount"
  where "projectId" = $1 and "grain" = $2 and "kind" = '${kind}' and "time" >= activity_block($2, $3) and "time" < $4 ${ofKey}
  union all
  select true, date_trunc($2, "time", 'UTC'), "key", ${columns.map((name) => `array["${name}"]::text`).join(', ')}
  from (
    select "time", "key", ${columns.map((name) => `sum("${name}") as "${name}"`).join(', ')} from "ActivityDelta"
    where "projectId" = $1 and "kind" = '${kind}' and "time" >= $3 and "time" < $4 ${ofKey} group by 1, 2
  ) added`;

/** Percentiles of a bucket that something is to be added to are those of all its durations: they come last, and hold. */
const DELIVERIES = (ofKey: string) => `
  with added as materialized (
    select date_trunc($2, "time", 'UTC') as "time", "key", "bucket", sum("first")::int as "first", sum("second")::int as "second"
    from (
      select "time", "key", "bucket", sum("first") as "first", sum("second") as "second" from "ActivityDelta"
      where "projectId" = $1 and "kind" = 'delivery' and "time" >= $3 and "time" < $4 ${ofKey} group by 1, 2, 3
    ) of_minutes group by 1, 2, 3
  )
  select false as "isNew", "time", "key", "first"::text, "second"::text, "p50Ms"::text, "p95Ms"::text, "p99Ms"::text
  from "ActivityCount" where "projectId" = $1 and "grain" = $2 and "kind" = 'delivery' and "time" >= activity_block($2, $3) and "time" < $4 ${ofKey}
  union all
  select true, a."time", a."key", array[a."first"]::text, array[a."second"]::text,
    array[p."ms"[1]]::text, array[p."ms"[2]]::text, array[p."ms"[3]]::text
  from (select "time", "key", sum("first")::int as "first", sum("second")::int as "second" from added group by 1, 2) a
  cross join lateral (select activity_percentiles(array(
    select coalesce(sum(d."count"), 0)::int from generate_series(0, 63) n
    left join (
      select "bucket", "first" from added b where b."time" = a."time" and b."key" = a."key"
      union all
      select (s."place" - 1)::int, s."count" from "ActivityHistogram" h
      cross join lateral unnest(h."durations") with ordinality s("count", "place")
      where h."projectId" = $1 and h."grain" = $2 and h."key" = a."key" and h."time" = a."time"
    ) d("step", "count") on d."step" = n
    group by n order by n)) offset 0) p("ms")
  order by "isNew"`;

const STATEMENTS = (ofKey: string): Record<Kind, string> => ({
  operation: COUNTS('operation', ['first'], ofKey),
  delivery: DELIVERIES(ofKey),
  record: COUNTS('record', COUNTED, ofKey),
  stream: COUNTS('stream', ['first'], ofKey),
});
const OF_ALL = STATEMENTS('');
const OF_ONE = STATEMENTS('and "key" = $5');

/** In the order of their keys. */
export async function activityLines(
  { database }: Call,
  kind: Kind,
  range: ActivityRange,
): Promise<ActivityLine[]> {
  const { projectId, destinationId, grain, from, until } = range;
  const values = [projectId, grain, from, until];
  const runs =
    destinationId === null
      ? await database.rows.query<Run>(OF_ALL[kind], values)
      : await database.rows.query<Run>(OF_ONE[kind], [...values, destinationId]);
  return linesOf(range, runs);
}

function linesOf({ from, until, bucketMs }: ActivityRange, runs: readonly Run[]): ActivityLine[] {
  const length = (until.getTime() - from.getTime()) / bucketMs;
  const lines = new Map<string, ActivityLine>();
  for (const run of runs) {
    const line = lines.get(run.key) ?? emptyLine(run.key, length);
    lines.set(run.key, line);
    const start = (run.time.getTime() - from.getTime()) / bucketMs;
    for (const column of COUNTED) addTo(line[column], start, run[column]);
    for (const column of TIMED) putInto(line[column], start, run[column]);
  }
  return [...lines.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

function emptyLine(key: string, length: number): ActivityLine {
  const numbers = () => new Int32Array(length);
  const counted = { first: numbers(), second: numbers(), third: numbers() };
  return { key, ...counted, p50Ms: numbers(), p95Ms: numbers(), p99Ms: numbers() };
}

/** A run may begin before the line and end after it: a typed array ignores what is outside. */
function addTo(line: Int32Array, start: number, run: string | undefined): void {
  const numbers = numbersOf(run);
  for (let place = 0; place < numbers.length; place += 1) {
    line[start + place] = (line[start + place] ?? 0) + (numbers[place] ?? 0);
  }
}

function putInto(line: Int32Array, start: number, run: string | undefined): void {
  const numbers = numbersOf(run);
  for (let place = 0; place < numbers.length; place += 1) {
    if (numbers[place]) line[start + place] = numbers[place] ?? 0;
  }
}

/** Of `{1,2}`, as PostgreSQL writes it; by JSON it takes a tenth of the driver's time. */
function numbersOf(run: string | undefined): readonly number[] {
  return run === undefined ? [] : JSON.parse(`[${run.slice(1, -1)}]`);
}
