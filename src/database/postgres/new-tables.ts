/**
 * The planner knows nothing of a table until it is analyzed, and autovacuum looks once a minute. Until then it may take
 * any index that begins with the project for a look-up by key, and walk all of the project's rows: ten times the work
 * for an event after 10,000 of them. So tables that are new are analyzed as soon as they have rows.
 */
import type { RunQuery } from '../rows.ts';

/** As many as a wrong plan does not matter for. */
const ROWS_MIN = 100;

const IS_NEW = `
  from pg_stat_user_tables s join pg_class c on c.oid = s.relid
  where s.schemaname = current_schema() and c.reltuples <= 0 and s.n_mod_since_analyze >= ${ROWS_MIN}`;

/** SQL: now, if there is one to analyze. */
export const NEW_TABLE_DUE = `select clock_timestamp() where exists (select 1 ${IS_NEW})`;

/** Answers which were analyzed. */
export async function analyzeNewTables(query: RunQuery): Promise<string[]> {
  const select = `select format('%I.%I', s.schemaname, s.relname) as "name" ${IS_NEW}`;
  const tables = await query<{ name: string }>(select, []);
  for (const { name } of tables) await query(`analyze ${name}`, []);
  return tables.map(({ name }) => name);
}
