/**
 * Counts the rows that a statement reads, including checks of foreign keys, by the server's statistics. Works
 * on both kinds of database.
 */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { toLiteral } from './plans.ts';
import { recordStatements, type Statement, serialize } from './statements.ts';

/**
 * A custom plan is made for the statement's values. A kept plan is made once for all values, and kept until a
 * table is analyzed.
 */
type PlanMode = 'custom' | 'kept';

interface RowsRead {
  mode: PlanMode;
  rows: number;
  text: string;
}

type RunText = (text: string) => Promise<pg.QueryResult>;

const SETTINGS: Record<PlanMode, string> = {
  custom: 'force_custom_plan',
  kept: 'force_generic_plan',
};

/** Counts since the session last reported its statistics. In a transaction, it reports none. */
const ROWS = `
  select sum(pg_stat_get_xact_tuples_returned(oid) + pg_stat_get_xact_tuples_fetched(oid))::int as "rows"
  from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'i')`;

/**
 * Returns the rows that each of the work's statements about these tables reads. Each is run and rolled back
 * in both modes, before it runs for the work.
 */
export async function countRowsRead(
  work: () => Promise<unknown>,
  tables: readonly string[],
): Promise<RowsRead[]> {
  const read: RowsRead[] = [];
  const errors: unknown[] = [];
  const isIgnored = (text: string) => !tables.some((table) => text.includes(`"${table}"`));
  const before = serialize(async (connection, statement, query) => {
    const runText: RunText = (text) => query.call(connection, text) as Promise<pg.QueryResult>;
    try {
      for (const mode of ['custom', 'kept'] as const) {
        read.push(await countRows(runText, statement, mode));
      }
    } catch (error) {
      errors.push(error);
    }
  });
  await recordStatements(work, before, isIgnored);
  if (errors.length > 0) throw new AggregateError(errors, String(errors[0]));
  return read;
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
    await runText(`set local plan_cache_mode = ${SETTINGS[mode]}`);
    const [before] = (await runText(ROWS)).rows;
    await runText(`execute ${name}${parameters}`);
    const [after] = (await runText(ROWS)).rows;
    return { mode, rows: after.rows - before.rows, text };
  } finally {
    await runText('rollback');
  }
}
