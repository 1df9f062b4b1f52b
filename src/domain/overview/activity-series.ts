/** Reads a project's activity counts as series of numbers. Each stored row holds the counts of many buckets. */

import { type SqlStatement, sqlStatement } from '../../database/statements/statements.ts';
import type { RowServices } from '../access/call.ts';

/** A range of whole buckets. */
export interface ActivityRange {
  projectId: string;
  /** Limits the counts to this destination. Null means the whole project. */
  destinationId: string | null;
  grain: 'minute' | 'hour' | 'day';
  bucketMs: number;
  from: Date;
  until: Date;
}

const COUNT_COLUMNS = ['total', 'failed'] as const;
const PERCENTILE_COLUMNS = ['p50Ms', 'p95Ms', 'p99Ms'] as const;
type Column = (typeof COUNT_COLUMNS)[number] | (typeof PERCENTILE_COLUMNS)[number];

/** The series of one key: a number for each bucket of the range. */
export interface ActivitySeries extends Readonly<Record<Column, Int32Array>> {
  key: string;
}

/** Numbers of consecutive buckets, as array literals of PostgreSQL. */
interface SeriesRow extends Partial<Record<Column, string>> {
  time: Date;
  key: string;
}

type Kind = 'operation' | 'delivery' | 'record' | 'stream';

/** Reads the series of a kind, ordered by key. */
export async function readActivitySeries(
  { database }: RowServices,
  kind: Kind,
  range: ActivityRange,
): Promise<ActivitySeries[]> {
  const { projectId, destinationId, grain, from, until } = range;
  const values = [projectId, grain, from, until];
  const rows =
    destinationId === null
      ? await database.run(PROJECT_STATEMENTS[kind], values)
      : await database.run(DESTINATION_STATEMENTS[kind], [...values, destinationId]);
  return createSeries(range, rows);
}

/** Selects stored counts, and deltas that are not added yet. One statement reads both, so that no delta counts twice. */
const selectCountsSql = (kind: Kind, columns: readonly Column[], keyCondition: string) => `
  select false as "isNew", "time", "key", ${columns.map((name) => `"${name}"::text`).join(', ')} from "ActivityCount"
  where "projectId" = $1 and "grain" = $2 and "kind" = '${kind}' and "time" >= activity_block($2, $3) and "time" < $4 ${keyCondition}
  union all
  select true, date_trunc($2, "time", 'UTC'), "key", ${columns.map((name) => `array["${name}"]::text`).join(', ')}
  from (
    select "time", "key", ${columns.map((name) => `sum("${name}") as "${name}"`).join(', ')} from "ActivityDelta"
    where "projectId" = $1 and "kind" = '${kind}' and "time" >= $3 and "time" < $4 ${keyCondition} group by 1, 2
  ) added`;

/**
 * Selects deliveries with percentiles. For a bucket with new deltas, it computes the percentiles of all durations.
 * These rows are ordered last, so that their percentiles replace the stored percentiles.
 */
const selectDeliveriesSql = (keyCondition: string) => `
  with added as materialized (
    select date_trunc($2, "time", 'UTC') as "time", "key", "bucket", sum("total")::int as "total", sum("failed")::int as "failed"
    from (
      select "time", "key", "bucket", sum("total") as "total", sum("failed") as "failed" from "ActivityDelta"
      where "projectId" = $1 and "kind" = 'delivery' and "time" >= $3 and "time" < $4 ${keyCondition} group by 1, 2, 3
    ) minutes group by 1, 2, 3
  )
  select false as "isNew", "time", "key", "total"::text, "failed"::text, "p50Ms"::text, "p95Ms"::text, "p99Ms"::text
  from "ActivityCount" where "projectId" = $1 and "grain" = $2 and "kind" = 'delivery' and "time" >= activity_block($2, $3) and "time" < $4 ${keyCondition}
  union all
  select true, summed."time", summed."key", array[summed."total"]::text, array[summed."failed"]::text,
    array[percentiles."ms"[1]]::text, array[percentiles."ms"[2]]::text, array[percentiles."ms"[3]]::text
  from (select "time", "key", sum("total")::int as "total", sum("failed")::int as "failed" from added group by 1, 2) summed
  cross join lateral (select activity_percentiles(array(
    select coalesce(sum(duration."count"), 0)::int from generate_series(0, 63) number
    left join (
      select "bucket", "total" from added where added."time" = summed."time" and added."key" = summed."key"
      union all
      select (stored."position" - 1)::int, stored."count" from "ActivityHistogram" histogram
      cross join lateral unnest(histogram."durations") with ordinality stored("count", "position")
      where histogram."projectId" = $1 and histogram."grain" = $2
        and histogram."key" = summed."key" and histogram."time" = summed."time"
    ) duration("step", "count") on duration."step" = number
    group by number order by number)) offset 0) percentiles("ms")
  order by "isNew"`;

const createStatements = (keyCondition: string): Record<Kind, SqlStatement<SeriesRow>> => ({
  operation: sqlStatement(selectCountsSql('operation', ['total'], keyCondition)),
  delivery: sqlStatement(selectDeliveriesSql(keyCondition)),
  record: sqlStatement(selectCountsSql('record', ['total'], keyCondition)),
  stream: sqlStatement(selectCountsSql('stream', ['total'], keyCondition)),
});
const PROJECT_STATEMENTS = createStatements('');
const DESTINATION_STATEMENTS = createStatements('and "key" = $5');

function createSeries(
  { from, until, bucketMs }: ActivityRange,
  rows: readonly SeriesRow[],
): ActivitySeries[] {
  const length = (until.getTime() - from.getTime()) / bucketMs;
  const seriesByKey = new Map<string, ActivitySeries>();
  for (const row of rows) {
    const series = seriesByKey.get(row.key) ?? createEmptySeries(row.key, length);
    seriesByKey.set(row.key, series);
    const start = (row.time.getTime() - from.getTime()) / bucketMs;
    for (const column of COUNT_COLUMNS) addTo(series[column], start, row[column]);
    for (const column of PERCENTILE_COLUMNS) replaceIn(series[column], start, row[column]);
  }
  return [...seriesByKey.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

function createEmptySeries(key: string, length: number): ActivitySeries {
  const createNumbers = () => new Int32Array(length);
  const counts = { total: createNumbers(), failed: createNumbers() };
  const percentiles = { p50Ms: createNumbers(), p95Ms: createNumbers(), p99Ms: createNumbers() };
  return { key, ...counts, ...percentiles };
}

/** Adds numbers to a series. They may extend beyond the series; a typed array ignores values outside of it. */
function addTo(series: Int32Array, start: number, literal: string | undefined): void {
  const numbers = parseNumbers(literal);
  for (let index = 0; index < numbers.length; index += 1) {
    series[start + index] = (series[start + index] ?? 0) + (numbers[index] ?? 0);
  }
}

function replaceIn(series: Int32Array, start: number, literal: string | undefined): void {
  const numbers = parseNumbers(literal);
  for (let index = 0; index < numbers.length; index += 1) {
    if (numbers[index]) series[start + index] = numbers[index] ?? 0;
  }
}

/** Parses an array literal like `{1,2}`. JSON.parse takes a tenth of the driver's time. */
function parseNumbers(literal: string | undefined): readonly number[] {
  return literal === undefined ? [] : JSON.parse(`[${literal.slice(1, -1)}]`);
}
