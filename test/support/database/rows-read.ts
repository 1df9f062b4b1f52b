/** How many rows a statement reads, for checks of foreign keys too, as the server counts them on either kind of database. */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { literal } from './plans.ts';
import { inTurn, recordStatements, type Statement } from './statements.ts';

/** The plan is made for the values, or once for all: it is that of the text's first run on the connection, until a table is analyzed. */
export type PlanMode = 'custom' | 'kept';

export interface RowsRead {
  mode: PlanMode;
  rows: number;
  text: string;
}

type Ask = (text: string) => Promise<pg.QueryResult>;

const SETTINGS: Record<PlanMode, string> = {
  custom: 'force_custom_plan',
  kept: 'force_generic_plan',
};

/** Since statistics were last given to the server, but for what a transaction is asked in between. */
const ROWS = `
  select sum(pg_stat_get_xact_tuples_returned(oid) + pg_stat_get_xact_tuples_fetched(oid))::int as "rows"
  from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'i')`;

/** What the work's statements about these tables read. Each is run and undone in both modes before it is run for the work. */
export async function rowsReadBy(
  work: () => Promise<unknown>,
  tables: readonly string[],
): Promise<RowsRead[]> {
  const read: RowsRead[] = [];
  const errors: unknown[] = [];
  const isOther = (text: string) => !tables.some((table) => text.includes(`"${table}"`));
  const before = inTurn(async (connection, statement, query) => {
    const ask: Ask = (text) => query.call(connection, text) as Promise<pg.QueryResult>;
    try {
      for (const mode of ['custom', 'kept'] as const) {
        read.push(await measured(ask, statement, mode));
      }
    } catch (error) {
      errors.push(error);
    }
  });
  await recordStatements(work, before, isOther);
  if (errors.length > 0) throw new AggregateError(errors, String(errors[0]));
  return read;
}

async function measured(ask: Ask, { text, values }: Statement, mode: PlanMode): Promise<RowsRead> {
  const name = `${mode}_${createHash('md5').update(text).digest('hex')}`;
  const known = await ask(`select 1 from pg_prepared_statements where name = '${name}'`);
  if (known.rows.length === 0) await ask(`prepare ${name} as ${text}`);
  const given = values.length > 0 ? `(${values.map(literal).join(', ')})` : '';
  await ask('begin');
  try {
    await ask(`set local plan_cache_mode = ${SETTINGS[mode]}`);
    const [before] = (await ask(ROWS)).rows;
    await ask(`execute ${name}${given}`);
    const [after] = (await ask(ROWS)).rows;
    return { mode, rows: after.rows - before.rows, text };
  } finally {
    await ask('rollback');
  }
}
