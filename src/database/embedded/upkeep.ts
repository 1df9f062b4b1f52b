/**
 * Maintenance that a PostgreSQL server does in the background and PGlite does not. Without checkpoints, the write-ahead
 * log grows forever, and a start after a crash replays all of it. Without vacuum, tables grow by every changed row, and
 * the planner has no statistics. Maintenance works in small steps, at quiet moments if there are any.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '../../log.ts';
import { Outage } from '../../work/outage.ts';
import type { RunQuery } from '../rows.ts';

const STEP_MS = 2_000;
/** The interval while nothing is written. */
const IDLE_STEP_MS = 10_000;
/**
 * The size of the write-ahead log that a start after a crash replays. At a quiet moment, half of it triggers a
 * checkpoint.
 */
const WAL_MAX_BYTES = 64 * 1024 * 1024;
/** A table is vacuumed if its dead or unanalyzed rows exceed this number plus a share of its live rows. */
const STALE_MAX_ROWS = 500;
const STALE_MAX_SHARE = 0.2;
/**
 * The age in transactions that requires a vacuum. PostgreSQL's default is 200 million; beyond 2,000 million it would
 * refuse writes.
 */
const AGE_MAX = 200_000_000;
/** If a short statement takes no longer than this, the moment is quiet. */
const QUIET_MS = 20;
const QUIET_SHARE = 0.5;

const WAL_SIZE = `
  select pg_current_wal_lsn()::text as "end",
    pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn)::float8 as "bytes"
  from pg_control_checkpoint()`;

/**
 * The table that needs a vacuum most. For catalog and TOAST tables, only dead rows count: every analyze changes the
 * catalog, and none resets the count of these changes.
 */
const STALEST_TABLE = `
  select format('%I.%I', s.schemaname, s.relname) as "name"
  from pg_stat_all_tables s join pg_class c on c.oid = s.relid
  cross join lateral (
    select c.relkind = 'r' and c.relnamespace <> 'pg_catalog'::regnamespace as "isOwn") t
  cross join lateral (
    select greatest(s.n_dead_tup, s.n_mod_since_analyze * "isOwn"::int) as "rows") stale
  where stale."rows" > $1 * (${STALE_MAX_ROWS} + ${STALE_MAX_SHARE} * s.n_live_tup)
    or (c.relfrozenxid <> '0' and age(c.relfrozenxid) > $1 * ${AGE_MAX})
  order by stale."rows" desc limit 1`;

interface UpkeepResult {
  checkpoint: boolean;
  /** The table that was vacuumed. */
  vacuum: string | null;
  /** The end of the write-ahead log before the step. */
  end: string | undefined;
}

/** Runs a checkpoint if the write-ahead log is long, and vacuums at most one table. */
export async function runUpkeepStep(query: RunQuery): Promise<UpkeepResult> {
  const startMs = performance.now();
  const [wal] = await query<{ end: string; bytes: number }>(WAL_SIZE, []);
  const isQuiet = performance.now() - startMs < QUIET_MS;
  const share = isQuiet ? QUIET_SHARE : 1;
  const checkpoint = (wal?.bytes ?? 0) > share * WAL_MAX_BYTES;
  if (checkpoint) await query('checkpoint', []);
  const [table] = await query<{ name: string }>(STALEST_TABLE, [share]);
  if (table) await query(`vacuum (analyze) ${table.name}`, []);
  return { checkpoint, vacuum: table?.name ?? null, end: wal?.end };
}

/** Runs steps until it is disposed of. Disposing waits for the current step. */
export function startUpkeep(query: RunQuery, log: Log): AsyncDisposable {
  const stopping = new AbortController();
  const { signal } = stopping;
  const outage = new Outage(log, 'database.upkeep_failed');
  const run = async () => {
    let end: string | undefined;
    let pauseMs = STEP_MS;
    while (!signal.aborted) {
      await wait(pauseMs, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      const result = await outage.watch(() => runUpkeepStep(query));
      pauseMs = result?.end === end ? IDLE_STEP_MS : STEP_MS;
      end = result?.end;
    }
  };
  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running;
    },
  };
}
