/**
 * Analyzes tables that have outgrown their statistics within seconds. Autovacuum checks only once a minute. Until then,
 * the planner assumes a small table. For a lookup by key it may use any index that begins with the project, and scan
 * all rows of the project. An event then takes ten times as long after 10,000 others. A vacuum alone does not help: it
 * updates the number of rows but not their values, so that a project seems to have one row in each table. The check
 * reads the statistics themselves, because a killed server and a promoted standby have lost the time of the last
 * analyze.
 */
import type { SweepDatabase } from './projects/all-projects.ts';
import { sqlStatement } from './statements.ts';

/** Below this number of rows a wrong query plan does not matter. */
const ROWS_MIN = 100;
/**
 * The growth that requires an analyze, as a multiple of the known rows. Other changes are left to autovacuum, because
 * replanning costs too.
 */
const GROWTH = 2;

const HAS_OUTGROWN = `
  from pg_stat_user_tables statistics join pg_class class on class.oid = statistics.relid
  where statistics.schemaname = current_schema()
    and statistics.n_mod_since_analyze >= ${ROWS_MIN} and statistics.n_live_tup >= ${ROWS_MIN}
    and (statistics.n_live_tup >= ${GROWTH} * class.reltuples or not exists (
      select from pg_stats column_statistics
      where column_statistics.schemaname = statistics.schemaname
        and column_statistics.tablename = statistics.relname))`;

/** SQL: the current time if a table needs an analyze. */
export const OUTGROWN_TABLE_DUE = `select clock_timestamp() where exists (select 1 ${HAS_OUTGROWN})`;

const SELECT_OUTGROWN = sqlStatement<{ name: string }>(
  `select format('%I.%I', statistics.schemaname, statistics.relname) as "name" ${HAS_OUTGROWN}`,
);

/**
 * Returns the tables that it analyzed. Tables that another session has locked are skipped. Throws the first failure
 * after all tables were tried.
 */
export async function analyzeOutgrownTables({
  sweeps,
  shardGroup,
}: SweepDatabase): Promise<string[]> {
  const run = sweeps(shardGroup);
  const tables = await run(SELECT_OUTGROWN, []);
  const failures: unknown[] = [];
  for (const { name } of tables) {
    const analyze = sqlStatement(`analyze (skip_locked) ${name}`);
    await run(analyze, []).catch((error) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
  return tables.map(({ name }) => name);
}
