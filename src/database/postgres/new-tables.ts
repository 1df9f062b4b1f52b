/**
 * The planner knows nothing of a table until it is analyzed, and autovacuum looks once a minute. Until then it may take
 * any index that begins with the project for a look-up by key, and walk all of the project's rows: ten times the work
 * for an event after 10,000 of them. So tables that are new are analyzed as soon as they have rows.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '../../log.ts';
import { MINUTE_MS } from '../../work/durations.ts';
import { Outage } from '../../work/outage.ts';
import type { RunQuery } from '../rows.ts';

const LOOK_MS = 10_000;
/** From then on autovacuum has seen to them. */
const WATCHED_MS = 10 * MINUTE_MS;
/** As many as a wrong plan does not matter for. */
const ROWS_MIN = 100;

const NEW_TABLES = `
  select format('%I.%I', s.schemaname, s.relname) as "name"
  from pg_stat_user_tables s join pg_class c on c.oid = s.relid
  where s.schemaname = current_schema() and c.reltuples <= 0 and s.n_mod_since_analyze >= ${ROWS_MIN}`;

/** Answers which were analyzed. */
export async function analyzeNewTables(query: RunQuery): Promise<string[]> {
  const tables = await query<{ name: string }>(NEW_TABLES, []);
  for (const { name } of tables) await query(`analyze ${name}`, []);
  return tables.map(({ name }) => name);
}

/** For the first minutes, or until it is disposed of. */
export function watchNewTables(query: RunQuery, log: Log): Disposable {
  const stopping = new AbortController();
  const { signal } = stopping;
  const outage = new Outage(log, 'database.new_tables_not_analyzed');
  const run = async () => {
    const endMs = performance.now() + WATCHED_MS;
    while (performance.now() < endMs) {
      await wait(LOOK_MS, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      await outage.watch(() => analyzeNewTables(query));
    }
  };
  void run();
  return { [Symbol.dispose]: () => stopping.abort() };
}
