/**
 * The planner knows nothing of a table until it is analyzed, and takes it for small while it has grown since; autovacuum
 * looks once a minute. Until then it may take any index that begins with the project for a look-up by key, and walk all
 * of the project's rows: ten times the work for an event after 10,000 of them. So tables that have outgrown what is known
 * of them are analyzed within seconds. A vacuum tells how many rows there are, but nothing of their values: a project then
 * seems to have one row of each table with a few hundred. (When a table was last analyzed is forgotten by a server that
 * was killed, and not known to a standby that takes over; what was found then is.)
 */
import type { RunQuery } from '../rows.ts';

/** As many as a wrong plan does not matter for. */
const ROWS_MIN = 100;
/** So many times the rows that are known. Changes that are no growth are left to autovacuum: plans made anew cost too. */
const GROWTH = 2;

const HAS_OUTGROWN = `
  from pg_stat_user_tables s join pg_class c on c.oid = s.relid
  where s.schemaname = current_schema() and s.n_mod_since_analyze >= ${ROWS_MIN} and s.n_live_tup >= ${ROWS_MIN}
    and (s.n_live_tup >= ${GROWTH} * c.reltuples or not exists (
      select from pg_stats p where p.schemaname = s.schemaname and p.tablename = s.relname))`;

/** SQL: now, if there is one to analyze. */
export const OUTGROWN_TABLE_DUE = `select clock_timestamp() where exists (select 1 ${HAS_OUTGROWN})`;

/**
 * Answers which were analyzed, those left out that somebody else is at. Throws the first failure when all others have had
 * their turn.
 */
export async function analyzeOutgrownTables(query: RunQuery): Promise<string[]> {
  const select = `select format('%I.%I', s.schemaname, s.relname) as "name" ${HAS_OUTGROWN}`;
  const tables = await query<{ name: string }>(select, []);
  const failures: unknown[] = [];
  for (const { name } of tables) {
    await query(`analyze (skip_locked) ${name}`, []).catch((error) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
  return tables.map(({ name }) => name);
}
