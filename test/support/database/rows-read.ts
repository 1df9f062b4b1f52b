/**
 * Counts the rows that a statement reads, including checks of foreign keys, by the server's statistics. Works
 * on both kinds of database.
 */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { toLiteral } from './query-plans.ts';
import { recordStatements, type Statement, serialize } from './statements.ts';

/**
 * A custom plan is made for the statement's values. A generic plan is made once for all values, and kept until a table is
 * analyzed.
 */
type PlanMode = 'custom' | 'generic';

interface RowsRead {
  mode: PlanMode;
  rows: number;
  text: string;
}

type RunText = (text: string) => Promise<pg.QueryResult>;

const PLAN_CACHE_MODES: Record<PlanMode, string> = {
  custom: 'force_custom_plan',
  generic: 'force_generic_plan',
};

/**
 * Counts the rows since the session last reported its statistics. In a transaction, a session does not
 * report.
 */
const COUNT_ROWS = `
  select sum(pg_stat_get_xact_tuples_returned(oid) + pg_stat_get_xact_tuples_fetched(oid))::int as "rows"
  from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'i')`;

/**
 * Counts the rows that each statement of `work` about these tables reads. Each statement first runs in both modes and is
 * rolled back.
 */
export async function countRowsRead(
  work: () => Promise<unknown>,
  tables: readonly string[],
): Promise<RowsRead[]> {
  const counts: RowsRead[] = [];
  const errors: unknown[] = [];
  const isIgnored = (text: string) => !tables.some((table) => text.includes(`"${table}"`));
  const countEachMode = serialize(async (connection, statement, query) => {
    const runText: RunText = (text) => query.call(connection, text) as Promise<pg.QueryResult>;
    try {
      for (const mode of ['custom', 'generic'] as const) {
        counts.push(await countRows(runText, statement, mode));
      }
    } catch (error) {
      errors.push(error);
    }
  });
  await recordStatements(work, countEachMode, isIgnored);
  if (errors.length > 0) throw new AggregateError(errors, String(errors[0]));
  return counts;
}

async function countRows(
  runText: RunText,
  { text, values }: Statement,
  mode: PlanMode,
): Promise<RowsRead> {
  const name = `${mode}_${createHash('md5').update(text).digest('hex')}`;
  const prepared = await runText(`select 1 from pg_prepared_statements where name = '${name}'`);
  if (prepared.rows.length === 0) await runText(`prepare ${name} as ${text}`);
  const parameters = values.length > 0 ? `(${values.map(toLiteral).join(', ')})` : '';
  await runText('begin');
  try {
    await runText(`set local plan_cache_mode = ${PLAN_CACHE_MODES[mode]}`);
    const [start] = (await runText(COUNT_ROWS)).rows;
    await runText(`execute ${name}${parameters}`);
    const [end] = (await runText(COUNT_ROWS)).rows;
    return { mode, rows: end.rows - start.rows, text };
  } finally {
    await runText('rollback');
  }
}
